"""The charts of preference and of drift."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from drawings import HOSTILE, drawn, rows_with

from classay import InputError
from classay.charts import preference_chart
from classay.intervals import Estimate
from classay.results import Drift, Preference, Preferences, Update


def asked(name="tree", f1="x0 > 0.5", f2="x1 > 0.5", crossing=0.4, verdict="crosses"):
    p = np.array([0.0, 0.3, 0.35, 0.5, 1.0])
    difference = np.array([-0.4, -0.1, -0.15, 0.1, 0.45])
    table = pd.DataFrame({"p": p, "difference": difference, "low": difference - 0.05, "high": difference + 0.05})
    return Preference(
        learner=name,
        f1=f1,
        f2=f2,
        verdict=verdict,
        favoured=f1,
        difference=Estimate(0.1, 0.05, 0.15),
        crossing=Estimate(crossing if verdict == "crosses" else math.nan, crossing - 0.03, crossing + 0.04),
        disagreement=0.5,
        n_samples=200,
        probes="uniform",
        strength=Estimate(0.6, 0.56, 0.63),
        n_fits=100,
        n_failed=0,
        interrupted=False,
        evaluations=table.assign(fits=20, fitted=np.sort(difference)),
        per_fit=pd.DataFrame({"p": p, "difference": difference}),
        notes=(),
    )


def seen(number, verdict="nothing shown", name=None, agreement=0.9):
    return Update(
        learner="tree",
        n_reference=500,
        name=f"batch {number}" if name is None else name,
        number=number,
        n_rows=50,
        verdict=verdict,
        alarm=verdict in ("concept moved", "rows moved"),
        p_value=0.4,
        false_alarm_rate=0.05,
        level=0.05,
        agreement_reference=agreement,
        agreement_last=math.nan if number == 1 else agreement - 0.02,
        low_below_reference=0.8,
        metric="accuracy",
        metric_reference=0.88,
        metric_limit=0.75,
        chance=0.5,
        fingerprint="",
    )


def watched(*updates, learner="tree"):
    return Drift(learner, "uniform", 0.05, 500, updates)


def test_preference_has_the_right_numbers():
    one = asked()
    chart = preference_chart(one)
    points = rows_with(chart, "fitted")
    assert [row["value"] for row in points] == one.evaluations["difference"].tolist()
    assert [row["fitted"] for row in points] == one.evaluations["fitted"].tolist()
    (crossing,) = rows_with(chart, "crossing")
    assert (crossing["p"], crossing["low"], crossing["high"]) == (0.4, 0.37, 0.44)
    text = drawn(chart)
    assert "p* = 0.40" in text
    assert "prefers x0 &gt; 0.5" in text


def test_no_crossing_is_drawn_too():
    chart = preference_chart(asked(verdict="exclusive"))
    assert not rows_with(chart, "crossing")
    assert "It does not cross" in drawn(chart)


def test_several_learners_share_a_chart():
    chart = Preferences("x0 > 0.5", "x1 > 0.5", {"a": asked("a"), "b": asked("b", crossing=0.6)}).plot()
    assert {row["label"] for row in rows_with(chart, "crossing")} == {"a", "b"}
    assert "What learners favour" in drawn(chart)


def test_drift_has_the_right_numbers():
    chart = watched(seen(1), seen(2), seen(3, "concept moved", agreement=0.6), seen(4, "learner unsteady")).plot()
    rows = list({(row["batch"], row["series"]): row for row in rows_with(chart, "series", "below")}.values())
    assert len(rows) == 7  # the first batch has no last one
    assert [row["value"] for row in rows if row["series"] == "with the reference"] == [0.9, 0.9, 0.6, 0.9]
    text = drawn(chart)
    assert "concept moved in 1 of 4 batches" in text
    assert "with the previous batch" in text


def test_many_batches_and_a_single_one():
    many = watched(*(seen(number) for number in range(1, 80)))
    assert "nothing shown" in drawn(many.plot())
    assert "learner unsteady" in drawn(seen(1, "learner unsteady").plot())


@pytest.mark.parametrize("name", HOSTILE)
def test_users_words_are_data(name):
    drawn(preference_chart(asked(name, f1=name, f2=name + "!")))
    drawn(preference_chart(asked(name), dataclasses.replace(asked(name))))
    chart = watched(seen(1, name=name), seen(2, "change", name=name, agreement=0.5), learner=name).plot()
    drawn(chart)


def test_what_cannot_be_drawn():
    with pytest.raises(InputError, match="nothing to draw"):
        preference_chart()
    with pytest.raises(InputError, match="Got int; expected what"):
        preference_chart(3)
    with pytest.raises(InputError, match="other concepts"):
        preference_chart(asked(), asked(f1="x2 > 0"))
    with pytest.raises(InputError, match="no batch"):
        watched().plot()
    with pytest.raises(InputError, match="Update takes no options; odd was given"):
        seen(1).plot(odd=1)
