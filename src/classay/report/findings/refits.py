"""Rules on refits, which vary with the training sample and the seed: L102, L103, L104, L108, L109."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from scipy import stats

from ...intervals import Estimate, difference, exact, of_mean
from ...learner.orientation.kinship import Kinship
from ..document import Finding
from ..document.figures import accuracy_of, changed_by_randomness, changed_by_sample, gap
from ..document.phrases import bits, joined, percent, points, quoted, share
from ..results import LearnerResults, Results
from ..score_ranks import nearly_constant
from .differences import accuracy_difference, not_less_accurate, stability_difference
from .rules import EVERYONE, Judge, Outcome, finding, fine, note, refits, rule, two_learners, warning

LEVEL = 0.95
"""Confidence level of the difference in accuracy; that of the difference in stability is the page's."""


class _Rival(NamedTuple):
    """A learner that is more stable than another: by how much, and by how much it is more accurate."""

    learner: LearnerResults
    steadier: float
    lead: Estimate


@rule("L102", "Equally accurate, less stable", two_learners, basis="refits")
def less_stable(results: Results, judge: Judge) -> Outcome:
    """Is there another learner that is equally accurate and more stable?

    - *A warning when:* Another learner's accuracy is indistinguishable from its own (95 %), and that learner is more
      stable: the whole interval of the difference in stability is above half the width of the interval of the
      difference in accuracy, so more predictions change than the accuracies can resolve. Both differences are paired
      over subsets and points.
    - *A note when:* Every learner that is this much more stable is also more accurate.
    - *Fine when:* No learner is beaten in either way.
    - *Not checked when:* There is only one learner.
    """
    findings: list[Finding] = []
    beaten: dict[str, _Rival] = {}
    for name, learner in results.learners.items():
        rivals = _rivals(learner, results, judge)
        equal = [rival for rival in rivals if rival.lead.low <= 0]
        if equal:
            findings.append(_beaten_on_stability(learner, max(equal, key=lambda rival: rival.steadier)))
        elif rivals:
            beaten[name] = max(rivals, key=lambda rival: rival.steadier)
    if beaten:
        findings.append(_beaten_on_both(results, beaten))
    least = min(results.learners.values(), key=lambda one: one.stability.stability.value)
    return findings or fine(
        EVERYONE,
        "Where accuracies are indistinguishable, stabilities differ little; the lowest is that of "
        f"{quoted(least.name)}, {percent(least.stability.stability)}.",
        least.stability.stability,
        f"{len(results.learners)} learners compared",
        "No learner is beaten on stability at equal accuracy",
    )


def _rivals(learner: LearnerResults, results: Results, judge: Judge) -> list[_Rival]:
    rivals = []
    for other in not_less_accurate(learner, results):
        lead = accuracy_difference(other, learner, LEVEL)
        steadier = stability_difference(other, learner, judge.level)
        if steadier.low > (lead.high - lead.low) / 2:
            rivals.append(_Rival(other, steadier.value, lead))
    return rivals


def _beaten_on_stability(learner: LearnerResults, rival: _Rival) -> Finding:
    mine, its, other = learner.stability.stability, rival.learner.stability.stability, quoted(rival.learner.name)
    return warning(
        learner.name,
        f"{other} is equally accurate within the precision of these rows (a difference of {points(rival.lead)}) and "
        f"more stable: two of its refits agree on {percent(its)} of the points, two refits of {quoted(learner.name)} "
        f"on {percent(mine)}.",
        mine,
        f"{rival.learner.name}: {percent(its)}",
        f"Prefer {other}, or make this one more stable: average fits, prune, or add rows.",
    )


def _beaten_on_both(results: Results, beaten: dict[str, _Rival]) -> Finding:
    """One note for all learners that are less accurate and less stable: accuracy already shows that they are worse."""
    first = min(beaten, key=lambda name: results.learners[name].stability.stability.value)
    other, lead = beaten[first].learner, beaten[first].lead
    mine, its = results.learners[first].stability.stability, other.stability.stability
    rest = [f"{quoted(name)} (by {quoted(beaten[name].learner.name)})" for name in beaten if name != first]
    too = f" So {'are' if len(rest) > 1 else 'is'} {joined(rest)}." if rest else ""
    return note(
        first,
        f"{quoted(first)} is beaten on both by {quoted(other.name)}, which is more accurate by {points(lead)} and "
        f"whose refits agree on {percent(its)} of the points, compared with {percent(mine)}.{too}",
        mine,
        f"{other.name}: {percent(its)}",
        "Keep it only if it is faster or easier to explain.",
        "Less accurate and less stable",
    )


@rule("L103", "Training randomness or data", refits, basis="refits")
def training_randomness(results: Results, judge: Judge) -> Outcome:
    """Do the predictions of a learner depend on its seed more than on its training sample?

    - *A warning when:* Stochasticity exceeds capacity (the whole interval of the difference is above 0), and another
      seed alone changes more predictions than half the width of the interval of accuracy.
    - *A note when:* Stochasticity exceeds capacity but changes fewer predictions than that.
    - *Fine when:* It does not, for any learner with training randomness.
    - *Not checked when:* No learner is random, or there is one refit per half, which cannot separate the two.
    """
    random = [one for one in results.learners.values() if not one.orientation.deterministic]
    if not random:
        return "no learner has training randomness"
    known = [one for one in random if one.orientation.capacity.known and one.orientation.stochasticity.known]
    if not known:
        return "one refit per half cannot separate training randomness from data"
    findings = []
    for learner in known:
        # The two add up to the expressivity: an error in one is an error in the other.
        lead = difference(learner.orientation.stochasticity, learner.orientation.capacity, correlation=-1.0)
        if judge.widened(lead).low > 0:
            findings.append(_by_randomness(learner, judge))
    most = max(known, key=lambda learner: changed_by_randomness(learner).value)
    changed = changed_by_randomness(most)
    return findings or fine(
        EVERYONE,
        f"{quoted(most.name)} depends on it most: another random_state changes {percent(changed)} of its predictions, "
        f"another training sample {percent(changed_by_sample(most))}.",
        changed,
        "0: the training rows alone decide",
        "No learner depends mostly on its seed",
    )


def _by_randomness(learner: LearnerResults, judge: Judge) -> Finding:
    oriented, accuracy = learner.orientation, learner.stability.accuracy
    changed = changed_by_randomness(learner)
    material = judge.widened(changed).low > (accuracy.high - accuracy.low) / 2
    return finding(
        "warning" if material else "note",
        learner.name,
        f"Another random_state changes {percent(changed)} of its predictions; another training sample, with another "
        f"random_state, {percent(changed_by_sample(learner))}.",
        changed,
        f"varies by {bits(oriented.stochasticity)} with the seed (stochasticity), by {bits(oriented.capacity)} with "
        "the sample (capacity)",
        "Average several refits, or more members (n_estimators); or fix random_state and document it.",
        "Its predictions depend mostly on its seed",
    )


EXACTLY = 0.995
"""From this training accuracy on, a learner fits its rows exactly."""


@rule("L104", "Memorising", refits, basis="refits")
def memorisation(results: Results, judge: Judge) -> Outcome:
    """Does a learner fit its own rows more closely than it needs to?

    - *A warning when:* Another learner is at least as accurate, and both its train–test gap and its expressivity are
      smaller (the whole intervals of the differences).
    - *A note when:* There is no other learner, its gap is above 0, and so is its stochasticity.
    - *Fine when:* Neither holds for any learner.
    - *Not checked when:* Every learner predicts a training row by a vote in which the row takes part itself, such as
      forests and nearest neighbours: their accuracy on training rows says nothing.
    """
    asked = [one for one in results.learners.values() if gap(one).known and not one.votes_for_itself]
    if not asked:
        return "training rows vote for themselves in every learner, as in forests and neighbours"
    accuracy = {name: accuracy_of(results, name).value for name in results.learners}
    findings = []
    for learner in asked:
        better = [
            other
            for other in not_less_accurate(learner, results)
            if _varies_less(learner, other, judge) and accuracy[other.name] >= accuracy[learner.name]
        ]
        if better:
            findings.append(_needlessly(learner, max(better, key=lambda each: accuracy[each.name]), accuracy))
        elif len(results.learners) == 1 and _clearly(learner, judge):
            action = "Compare it with a simpler learner: if that is as accurate, this one memorises rows."
            findings.append(note(learner.name, _gap_in_words(learner), gap(learner), "no gap: 0", action))
    widest, several = max(asked, key=lambda one: gap(one).value), len(asked) > 1
    return findings or fine(
        EVERYONE,
        "No learner fits its own rows more closely than another that is as accurate; the widest train–test gap is that "
        f"of {quoted(widest.name)}, {points(gap(widest))}."
        if several
        else f"The train–test gap of {quoted(widest.name)} is {points(gap(widest))}.",
        gap(widest),
        f"{len(asked)} learners compared" if several else "no gap: 0",
        "No unnecessary memorising",
    )


def _varies_less(learner: LearnerResults, other: LearnerResults, judge: Judge) -> bool:
    """Whether the other varies less and fits its own rows less closely, over the whole intervals."""
    wider = difference(learner.orientation.expressivity, other.orientation.expressivity)
    closer = difference(gap(learner), gap(other))
    return judge.widened(wider).low > 0 and judge.widened(closer).low > 0


def _clearly(learner: LearnerResults, judge: Judge) -> bool:
    """Whether a learner without a rival fits its own rows more closely than new ones, and is random."""
    stochasticity = learner.orientation.stochasticity
    return (
        judge.widened(gap(learner)).low > 0
        and stochasticity.known
        and not learner.orientation.deterministic
        and judge.widened(stochasticity).low > 0
    )


def _needlessly(learner: LearnerResults, other: LearnerResults, accuracy: dict[str, float]) -> Finding:
    return warning(
        learner.name,
        f"{_gap_in_words(learner)} {quoted(other.name)} fits its own rows less closely (a gap of "
        f"{points(gap(other))}), changes fewer predictions ({percent(changed_by_sample(other))} with another sample), "
        f"and is at least as accurate ({share(accuracy[other.name])} compared with "
        f"{share(accuracy[learner.name])}, cross-validated).",
        gap(learner),
        f"{other.name}: {points(gap(other))}",
        f"Use {quoted(other.name)}, or regularise this one: less depth, fewer steps, a stronger penalty, whichever it "
        "has.",
    )


def _gap_in_words(learner: LearnerResults) -> str:
    trained, seed = learner.orientation.train_accuracy.value, changed_by_randomness(learner)
    exactly = trained >= EXACTLY
    closely = "fits its training rows exactly and" if exactly else f"predicts {share(trained)} of its training rows and"
    sample = f"nother training sample changes {percent(changed_by_sample(learner))}"
    if learner.labelings.deterministic or not seed.value:
        varied = f"A{sample} of its predictions."
    else:
        varied = f"Another seed changes {percent(seed)} of its predictions; a{sample}."
    return (
        f"It {closely} {'predicts ' if exactly else ''}{percent(learner.stability.accuracy)} of new rows, a gap of "
        f"{points(gap(learner))}. {varied}"
    )


def _kinship(results: Results) -> str:
    return "" if results.kinship is not None else results.why.get("kinship", "it needs at least 2 learners")


@rule("L108", "Indistinguishable learners", _kinship, basis="refits")
def indistinguishable(results: Results, judge: Judge) -> Outcome:
    """Do two learners predict the same?

    - *A note when:* The distance between the predictions of two learners is no more than chance gives.
    - *Not reported when:* All learners predict differently, or predictions are nearly constant, so that equal ones show
      little.
    - *Not checked when:* There are fewer than two learners with comparable refits.
    """
    kin = results.kinship
    assert kin is not None
    distance, chance = kin.jensen_shannon, kin.floor["jensen_shannon"]
    varied = [
        name in results.learners and not nearly_constant(results.learners[name].labelings.labels) for name in kin.names
    ]
    return [
        _alike(results, kin, a, b)
        for a in range(len(kin.names))
        for b in range(a)
        if distance[a, b] <= chance[a, b] and varied[a] and varied[b]
    ]


def _alike(results: Results, kin: Kinship, a: int, b: int) -> Finding:
    distance, chance = kin.jensen_shannon[a, b], kin.floor["jensen_shannon"][a, b]
    faster = min(kin.names[a], kin.names[b], key=lambda name: results.learners[name].labelings.seconds.mean())
    return note(
        kin.names[a],
        f"Its predictions are indistinguishable from those of {quoted(kin.names[b])}: a Jensen–Shannon distance of "
        f"{distance:.2f}, where chance alone gives up to {chance:.2f}.",
        exact(float(distance), "of these refits"),
        f"chance alone: {chance:.2f}",
        f"On the evidence of these refits, one of them is enough; {quoted(faster)} is faster.",
    )


HALFWAY = 0.5
"""The kappa halfway between chance and full agreement."""


@rule("L109", "Agreement beyond chance", refits, basis="refits")
def chance_agreement(results: Results, judge: Judge) -> Outcome:
    """Do refits of a learner agree more often than by chance?

    - *A warning when:* The 95 % interval of kappa reaches 0 and ends below .5: refits agree hardly more often than
      random predictions with the same class shares.
    - *A note when:* The interval reaches from 0 to .5 or more: there are too few refits to decide.
    - *Fine when:* The interval is above 0, for every learner that can be judged.
    - *Judged by:* Predictions; where they are nearly constant, as of a rare class, the scores: how closely those of
      refits on disjoint halves rank the same points (Spearman's correlation, in place of kappa).
    - *Not checked when:* Predictions are nearly constant and there are no scores.
    """
    kappas = {name: kappa for name, one in results.learners.items() if (kappa := _agreement(one)) is not None}
    if not kappas:
        return "predictions are nearly constant, and there are no scores"
    unclear = {name: kappa for name, kappa in kappas.items() if kappa.known and kappa.low <= 0}
    undecided = {name: kappa for name, kappa in unclear.items() if kappa.high >= HALFWAY}
    findings = [_by_chance(results.learners[name], kappa) for name, kappa in unclear.items() if name not in undecided]
    if undecided:
        widest = max(undecided, key=lambda name: undecided[name].high - undecided[name].low)
        named = joined([f"{quoted(name)} {kappa:.2f}" for name, kappa in undecided.items()])
        findings.append(
            note(
                widest if len(undecided) == 1 else EVERYONE,
                f"The interval of kappa reaches from chance to more than halfway to full agreement: {named}.",
                undecided[widest],
                "kappa 0: chance, 1: full agreement",
                "Use more splits, or a larger budget.",
                "Too few refits to separate agreement from chance",
            )
        )
    name, kappa = min(kappas.items(), key=lambda item: item[1].value if item[1].known else 1.0)
    steady = results.learners[name].stability
    return findings or fine(
        EVERYONE,
        f"Refits agree beyond chance; those of {quoted(name)} agree least, on {percent(steady.stability)} of the "
        f"points ({'kappa' if kappa is steady.kappa else 'rank correlation of scores'} {kappa:.2f}).",
        kappa,
        "0: chance",
    )


def _agreement(learner: LearnerResults) -> Estimate | None:
    """Kappa; where predictions are nearly constant, how closely the scores of disjoint halves rank points."""
    if not nearly_constant(learner.labelings.labels):
        return learner.stability.kappa
    scores = learner.labelings.scores
    if scores is None or scores.compact or scores.values.shape[3] != 2 or not scores.present.all():
        return None
    first = scores.positive[:, 0].astype(float)
    pairs = [(first[2 * split], first[2 * split + 1]) for split in range(len(first) // 2)]
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close = [float(stats.spearmanr(one, other).statistic) for one, other in pairs]
    known = [each for each in close if not math.isnan(each)]
    return of_mean(known, kind="rank correlation of scores, over splits") if len(known) > 1 else None


def _by_chance(learner: LearnerResults, kappa: Estimate) -> Finding:
    return warning(
        learner.name,
        f"Two refits agree on {percent(learner.stability.stability)} of the points; random predictions with the same "
        f"class shares would agree about as often (kappa {kappa:.2f}, where 0 is chance)."
        if kappa is learner.stability.kappa
        else f"Its scores on two disjoint halves rank the same points with a correlation of {kappa:.2f}, where 0 is "
        "chance.",
        kappa,
        "0: chance",
        "Its prediction for a row depends mostly on the training sample. Add rows, columns or a stronger bias.",
        "Agreement is not shown to be more than chance",
    )
