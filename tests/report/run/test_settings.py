"""How times are read and written, and what is done by when."""

import time

import pytest

from classay import InputError
from classay.engine import work
from classay.report.run.settings import ROWS, SPLITS, WITHOUT_DEADLINE, Clock, Effort, seconds_of, time_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("2m", 120), ("2 min", 120), ("1h", 3600), (45, 45), ("0.5", 0.5), ("None", None)],
)
def test_times_are_read(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 weeks", "-3s", 0, "nan", "inf"])
def test_other_times_are_refused(text):
    with pytest.raises(InputError, match="90s, 2m or 1h"):
        seconds_of(text)


def test_times_in_words():
    assert time_text(2.345) == "2.3 s"
    assert time_text(150) == "2 min 30 s"


def test_a_deadline_ends_fits_and_stages_are_timed(capsys):
    clock = Clock(0.05, progress=True)
    assert not Clock(None).over
    with clock.stage("Fits", "slow ones"), clock.limit():
        outcome = work.run(lambda _, seconds: time.sleep(seconds), [0.02] * 50, executor=1)
    assert clock.over
    assert outcome.interrupted
    assert len(outcome.results) < 50
    assert clock.stages["Fits"] == pytest.approx(clock.passed, abs=0.05)
    assert capsys.readouterr().err == "Fits: slow ones\n"


def test_rounds_end_with_the_splits_that_were_asked_for():
    assert Effort(seed=0).ladder(each_round=False) == list(SPLITS)
    assert Effort(seed=0, splits=12).ladder(each_round=False) == [5, 10, 12]
    assert Effort(seed=0, splits=4).ladder(each_round=True) == [4]
    assert Effort(seed=0, seconds=None).ladder(each_round=False) == [WITHOUT_DEADLINE]
    assert Effort(seed=0, seconds=None).ladder(each_round=True) == [5, 10, 20]


def test_the_limit_of_rows_is_that_of_a_fit():
    effort = Effort(seed=0)
    assert effort.limited(1_000_000) == ROWS
    assert effort.limited(1_000_000, share=0.5) == 2 * ROWS
    assert effort.limited(300) == 300
    assert Effort(seed=0, rows=None).limited(1_000_000) == 1_000_000
    assert Effort(seed=0, rows=100).tested == 100
