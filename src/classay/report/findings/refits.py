"""Rules on refits, which vary with training sample and seed: L102, L103, L104, L108, L109, L116; and runs: L115."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from scipy import stats

from ...intervals import Estimate, difference, exact, of_mean
from ...learner.scores.comparison import nearly_constant
from ..document.figures import accuracy_of, changed_by_randomness, changed_by_sample, gap
from ..document.phrases import joined, of_100_rows, percent, points, quoted, share
from ..results import LearnerResults, Results
from .differences import accuracy_difference, not_less_accurate, stability_difference
from .rules import EVERYONE, Judge, Outcome, Said, refits, refitted, rule, say, two_learners

LEVEL = 0.95
"""Confidence level of the difference in accuracy; that of the difference in stability is the page's."""


class _Rival(NamedTuple):
    """A learner that is more stable than another: by how much, and by how much it is more accurate."""

    learner: LearnerResults
    steadier: float
    lead: Estimate


@rule("L102", two_learners, basis="refits")
def less_stable(results: Results, judge: Judge) -> Outcome:
    """Is there another learner that is equally accurate and more stable?"""
    findings: list[Said] = []
    for learner in results.learners.values():
        rivals = _rivals(learner, results, judge)
        if rivals:
            rival = max(rivals, key=lambda rival: rival.steadier)
            parts = {"other": rival.learner.name, "its": rival.learner.stability.stability, "lead": rival.lead}
            stable = learner.stability.stability
            findings.append(say("less_stable", learner.name, stable, fits=refitted(results), **parts))
    least = min(results.learners.values(), key=lambda one: one.stability.stability.value)
    gaps = [
        stability_difference(other, learner, judge.level)
        for learner in results.learners.values()
        for other in not_less_accurate(learner, results)
    ]
    most = max((gap.high for gap in gaps if gap.known), default=0.0)
    possible = f" (up to {100 * most:.0f} points more remain possible)" if most > 0 else ""
    parts = {"name": least.name, "learners": len(results.learners), "possible": possible}
    return findings or say("fine", EVERYONE, least.stability.stability, **parts)


def _rivals(learner: LearnerResults, results: Results, judge: Judge) -> list[_Rival]:
    """More stable learners; where they are also more accurate, accuracy already shows that the learner is worse."""
    rivals = []
    for other in not_less_accurate(learner, results):
        lead = accuracy_difference(other, learner, LEVEL)
        steadier = stability_difference(other, learner, judge.level)
        if lead.low <= 0 and steadier.low > (lead.high - lead.low) / 2:
            rivals.append(_Rival(other, steadier.value, lead))
    return rivals


@rule("L103", refits, basis="refits", alone=True)
def training_randomness(results: Results, judge: Judge) -> Outcome:
    """Do the predictions of a learner depend on its seed more than on its training sample?"""
    random = [one for one in results.learners.values() if not one.orientation.deterministic]
    if not random:
        return "no learner has training randomness"
    known = [one for one in random if one.orientation.capacity.known and one.orientation.stochasticity.known]
    if not known:
        return "one refit per half cannot separate training randomness from data"
    findings = []
    for learner in known:
        oriented, accuracy, changed = learner.orientation, learner.stability.accuracy, changed_by_randomness(learner)
        # The two add up to the expressivity: an error in one is an error in the other.
        lead = difference(oriented.stochasticity, oriented.capacity, correlation=-1.0)
        material = judge.widened(changed).low > (accuracy.high - accuracy.low) / 2
        if material and judge.widened(lead).low > 0:
            parts = {"stochasticity": oriented.stochasticity, "capacity": oriented.capacity}
            findings.append(say("much", learner.name, changed, sample=changed_by_sample(learner), **parts))
    most = max(known, key=lambda learner: changed_by_randomness(learner).value)
    sample = changed_by_sample(most)
    return findings or say("fine", EVERYONE, changed_by_randomness(most), name=most.name, sample=sample)


EXACTLY = 0.995
"""From this training accuracy on, a learner fits its rows exactly."""


@rule("L104", two_learners, basis="refits")
def memorisation(results: Results, judge: Judge) -> Outcome:
    """Does a learner fit its own rows more closely than it needs to?"""
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
            other = max(better, key=lambda each: accuracy[each.name])
            parts = {"its": gap(other), "sample": changed_by_sample(other), "accuracy": accuracy[other.name]}
            words = _gap_in_words(learner, results)
            parts |= {"other": other.name, "own": accuracy[learner.name], "gap": words}
            findings.append(say("needless", learner.name, gap(learner), **parts))
    widest = max(asked, key=lambda one: gap(one).value)
    return findings or say("fine", EVERYONE, gap(widest), name=widest.name, learners=len(asked))


def _varies_less(learner: LearnerResults, other: LearnerResults, judge: Judge) -> bool:
    """Whether the other varies less and fits its own rows less closely, over the whole intervals."""
    wider = difference(learner.orientation.expressivity, other.orientation.expressivity)
    closer = difference(gap(learner), gap(other))
    return judge.widened(wider).low > 0 and judge.widened(closer).low > 0


def _gap_in_words(learner: LearnerResults, results: Results) -> str:
    trained, seed = learner.orientation.train_accuracy.value, changed_by_randomness(learner)
    exactly = trained >= EXACTLY
    closely = "fits its training rows exactly and" if exactly else f"predicts {share(trained)} of its training rows and"
    sample = f"nother training sample changes {percent(changed_by_sample(learner))}"
    if learner.labelings.deterministic or not seed.value:
        varied = f"A{sample} of its predictions."
    else:
        varied = f"Another seed changes {percent(seed)} of its predictions; a{sample}."
    rows = f"{percent(learner.stability.accuracy)} of new rows{refitted(results)}"
    predicts = "predicts " if exactly else ""
    return f"It {closely} {predicts}{rows}, a gap of {points(gap(learner))}. {varied}"


def _kinship(results: Results) -> str:
    return "" if results.kinship is not None else results.why.get("kinship", "it needs at least 2 learners")


@rule("L108", _kinship, basis="refits")
def indistinguishable(results: Results, judge: Judge) -> Outcome:
    """Do two learners predict the same?"""
    kin = results.kinship
    assert kin is not None
    distance, chance = kin.jensen_shannon, kin.floor["jensen_shannon"]
    known = {name: one for name, one in results.learners.items() if not nearly_constant(one.labelings.labels)}
    varied = [place for place, name in enumerate(kin.names) if name in known]
    pairs = [(a, b) for a in varied for b in varied if b < a and distance[a, b] <= chance[a, b]]
    if not pairs:
        return []
    a, b = min(pairs, key=lambda pair: distance[pair])
    seconds = [float(results.learners[kin.names[place]].labelings.seconds.mean()) for place in (a, b)]
    slower, faster = (kin.names[place] for place in ((a, b) if seconds[0] >= seconds[1] else (b, a)))
    too = f" {len(pairs) - 1} more pairs are as alike: see kinship." if len(pairs) > 1 else ""
    parts = {"distance": float(distance[a, b]), "chance": float(chance[a, b]), "too": too}
    return say("alike", slower, exact(distance[a, b], "of these refits"), faster=faster, **parts)


HALFWAY = 0.5
"""The kappa halfway between chance and full agreement."""


@rule("L109", refits, basis="refits", alone=True)
def chance_agreement(results: Results, judge: Judge) -> Outcome:
    """Do refits of a learner agree more often than by chance?"""
    kappas = {name: kappa for name, one in results.learners.items() if (kappa := _agreement(one)) is not None}
    if not kappas:
        return "predictions are nearly constant, and there are no scores"
    unclear = {name: kappa for name, kappa in kappas.items() if kappa.known and kappa.low <= 0}
    findings = []
    for name, kappa in unclear.items():
        if kappa.high < HALFWAY:
            steady = results.learners[name].stability
            outcome = "by_chance" if kappa is steady.kappa else "by_chance_of_scores"
            findings.append(say(outcome, name, kappa, stability=steady.stability))
    if unclear and not findings:
        named = joined([f"{quoted(name)} {kappa:.2f}" for name, kappa in unclear.items()])
        return f"too few refits to separate agreement from chance: kappa of {named}; use more splits"
    name, kappa = min(kappas.items(), key=lambda item: item[1].value if item[1].known else 1.0)
    steady = results.learners[name].stability
    what = "kappa" if kappa is steady.kappa else "rank correlation of scores"
    return findings or say("fine", EVERYONE, kappa, name=name, stability=steady.stability, what=what)


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


MUCH, SOME = 0.1, 0.05
"""Shares of predictions that a retraining changes: a warning and a note above these."""


@rule("L116", refits, basis="refits", alone=True)
def changed_predictions(results: Results, judge: Judge) -> Outcome:
    """How many predictions change when a learner is retrained?"""
    change = {name: change_of(one) for name, one in results.learners.items()}
    known = {name: each for name, each in change.items() if each[0].known}
    if not known:
        return "one refit per learner shows no change"
    findings, undecided = [], []
    for name, (changed, by, how) in known.items():
        # Few retrainings show little: halves, which differ more, must show it at the level of the page.
        much = min(changed.low, judge.widened(changed_by_sample(results.learners[name])).low) > MUCH
        if much or changed.low > SOME:
            mostly, alone = by.known and by.value >= changed.value / 2, f"{100 * by.value:.0f}" if by.known else "0"
            seed = f", {alone} of them by the seed alone" if alone != "0" else ""
            causes = ("much_by_sample", "much_by_seed") if much else ("some_by_sample", "some_by_seed")
            findings.append(say(causes[mostly], name, changed, how=how, rows=of_100_rows(changed), seed=seed))
        elif changed.high > MUCH:
            undecided.append(name)
    most = max(undecided or known, key=lambda name: known[name][0].high)
    changed, _, how = known[most]
    if undecided:
        findings.append(say("unknown", most, changed, how=how, rows=of_100_rows(changed)))
    return findings or say("fine", EVERYONE, changed, name=most, how=how, rows=of_100_rows(changed))


def change_of(learner: LearnerResults) -> tuple[Estimate, Estimate, str]:
    """The share of predictions that a retraining changes, that by its seed alone, and how it was retrained."""
    made, halves = learner.retraining, changed_by_sample(learner)
    # Halves differ more, so that they can show that little changes, where few retrainings cannot.
    if made is None or (made.change.low <= SOME and halves.high <= MUCH < made.change.high):
        return halves, changed_by_randomness(learner), "Fitting it on another half of the rows"
    return made.change, made.by_seed, f"Retraining it with {made.replaced:.0%} of its rows replaced"


OFTEN = 0.9
"""Below this agreement with itself, a model changes its predictions often."""


@rule("L115")
def asked_again(results: Results, judge: Judge) -> Outcome:
    """Does a model predict the same when it is asked again?"""
    runs = results.runs
    again = [] if runs is None else [rater for rater in runs.raters.raters if rater.self_agreement.known]
    if runs is None or not again:
        return "every row was predicted once (--run)"
    enough = "" if runs.repeats is None else f" {runs.repeats.repeats.value:.0f} runs per item suffice for accuracy."
    findings = []
    for rater in again:
        wide = judge.widened(rater.self_agreement)
        if wide.low < OFTEN:
            outcome = "often" if wide.high < OFTEN else "sometimes"
            parts = {"runs": rater.n_runs, "changed": rater.changed, "enough": enough}
            findings.append(say(outcome, rater.name, rater.self_agreement, **parts))
    least = min(again, key=lambda rater: rater.self_agreement.value)
    return findings or say("fine", EVERYONE, least.self_agreement, name=least.name)
