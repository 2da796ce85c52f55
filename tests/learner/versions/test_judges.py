"""`judges`: kappa by hand and against scikit-learn, asking again, systems, simulated judges with known flip rates."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

import classay
from classay import InputError, Labelings
from classay.learner.versions.repeats import repeats_needed


def test_kappa_is_cohens():
    rng = np.random.default_rng(0)
    one, other = rng.integers(3, size=(2, 120))
    other = np.where(rng.random(120) < 0.6, one, other)
    table = pd.DataFrame({"model": one, "human": other})
    result = classay.judges(table, rating=["model", "human"])
    assert result.kappa.value == pytest.approx(cohen_kappa_score(one, other))
    assert result.agreement.value == pytest.approx(float((one == other).mean()))
    assert result.pairs[0].kappa.low < result.kappa.value < result.pairs[0].kappa.high
    assert not result.raters[0].self_agreement.known
    assert "rated once" in str(result)


def test_asking_again_by_hand():
    # Three runs on three items: always the same, once different, once different.
    table = pd.DataFrame({"id": [1, 2, 3] * 3, "said": [1, 1, 0, 1, 1, 1, 1, 0, 1], "run": [1] * 3 + [2] * 3 + [3] * 3})
    result = classay.judges(table, item="id", rating="said", run="run")
    assert result.raters[0].self_agreement.value == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    assert result.raters[0].changed.value == pytest.approx(2 / 3)
    assert result.items["value"].tolist() == [pytest.approx(2 / 3), pytest.approx(2 / 3), 0.0]
    assert result.items["item"].tolist()[-1] == 1


def test_a_judge_with_known_flip_rates_is_recovered():
    """Fifty items x three prompts x five runs: the flip rate of each prompt."""
    rng = np.random.default_rng(1)
    rates = {"plain": 0.02, "steps": 0.10, "terse": 0.30}
    rows = []
    quality = rng.integers(2, size=50)
    for prompt, rate in rates.items():
        for run in range(5):
            said = np.where(rng.random(50) < rate, 1 - quality, quality)
            rows.append(pd.DataFrame({"id": range(50), "prompt": prompt, "run": run, "said": said, "label": quality}))
    table = pd.concat(rows)
    result = classay.judges(table, item="id", rating="said", run="run", rater="prompt")
    for rater in result.raters:
        rate = rates[rater.name]
        truth = 1 - 2 * rate * (1 - rate)  # two runs agree if both flip or neither does
        assert rater.self_agreement.low <= truth <= rater.self_agreement.high
    record = Labelings.from_frame(table, truth="label", prediction="said", item="id", run="run", variant="prompt")
    again = classay.judges(record)
    assert again.kappa.value == pytest.approx(result.kappa.value)
    assert repeats_needed(record).repeats.value >= 1


def test_missing_ratings_are_not_a_category():
    table = pd.DataFrame({"a": ["x", "y", "x", None], "b": ["x", "y", "y", "y"]})
    result = classay.judges(table, rating=["a", "b"])
    assert result.pairs[0].n_items == 3
    assert result.agreement.value == pytest.approx(2 / 3)


def systems(rng, n=200, flip=0.2):
    """Two systems answered the same questions; the judge flips its rating at a known rate."""
    rows = []
    hard = rng.random(n)
    for system, shift in (("A", 0.0), ("B", 0.1)):
        good = (hard + shift > 0.5).astype(int)
        for run in range(4):
            said = np.where(rng.random(n) < flip, 1 - good, good)
            rows.append(pd.DataFrame({"q": range(n), "system": system, "run": run, "said": said}))
    return pd.concat(rows, ignore_index=True)


def test_systems_are_paired_and_asking_again_is_measured():
    rng = np.random.default_rng(2)
    table = systems(rng)
    result = classay.judges(table, item="q", rating="said", run="run", system="system")
    assert [each.system for each in result.systems] == ["A", "B"]
    pair = result.system_pairs[0]
    wide = table.groupby(["q", "system"])["said"].mean().unstack()
    gap = wide["A"] - wide["B"]
    assert pair.difference.value == pytest.approx(gap.mean())
    # One rating of each: 200 items x two systems, each with variance 0.2·0.8.
    assert pair.again == pytest.approx(math.sqrt(2 * 0.16 / 200), rel=0.1)
    assert pair.reversal == pytest.approx(float(stats.norm.cdf(-abs(gap.mean()) / pair.again)))
    named = table.assign(said=table.said.map({0: "bad", 1: "good"}))
    words = classay.judges(named, item="q", rating="said", run="run", system="system", values={"good": 1, "bad": 0})
    assert words.system_pairs[0].difference.value == pytest.approx(pair.difference.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"item": "q", "rating": "word", "system": "system"}, "are not numbers"),
        ({"item": "q", "rating": "word", "system": "system", "values": {"good": 1}}, "`values` lacks bad"),
        ({"rating": "said", "system": "system"}, "without `item`"),
        ({"item": "q", "rating": "said", "system": "sytem"}, "Did you mean system"),
        ({"item": "q", "rating": "sad"}, "Did you mean said"),
        ({"ratings": [1, 2]}, "one row per rating"),
        ({"ratings": Labelings.from_arrays([[0, 1]], [0, 1]), "system": "s"}, "not a record"),
    ],
)
def test_mistakes(options, message):
    table = systems(np.random.default_rng(4), 10).assign(word=lambda frame: frame.said.map({0: "bad", 1: "good"}))
    with pytest.raises(InputError, match=message):
        classay.judges(**{"ratings": table, "run": "run", **options})


def test_without_truth_accuracy_is_unknown_and_results_can_be_compared():
    ratings = pd.DataFrame({"item": [0, 0, 1, 1], "rater": ["a", "b"] * 2, "rating": ["x", "x", "y", "x"]})
    first, second = (classay.judges(ratings, rating="rating", item="item", rater="rater") for _ in range(2))
    assert not first.record.accuracy().known
    with pytest.raises(InputError, match=r"true labels of .* are not known"):
        classay.metrics(first.record)
    assert first.raters == second.raters
