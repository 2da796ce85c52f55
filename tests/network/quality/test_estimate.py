"""Where accuracy is estimated from figures alone, and where not."""

import math
from dataclasses import replace

import pytest
from calibrated import informative, usual

from classay.network.quality import estimate as module
from classay.network.quality.estimate import calibrations, judge_accuracy


@pytest.fixture
def knowing(monkeypatch):
    """The calibrations as they would be if figures were informative."""
    made = {kind: informative(each) for kind, each in calibrations().items()}
    monkeypatch.setattr(module, "calibrations", lambda: made)
    return made


def test_the_calibration_is_whole():
    for calibration in calibrations().values():
        assert calibration.networks >= 200
        assert len(calibration.data_sets) >= 8
        assert {"MLP", "CNN"} <= set(calibration.families)
        assert len(calibration.inverse) == len(calibration.figures) == len(calibration.centres["MLP"])
        assert calibration.distance(usual(calibration), "MLP") == 0


def test_what_was_not_shown_is_not_reported():
    """The headline: no level, no order and no prior unless data sets left out support them."""
    for calibration in calibrations().values():
        verdict = judge_accuracy(usual(calibration), calibration.classes[0], "MLP", 1.0)
        assert verdict.estimate.known == calibration.knows_level
        assert math.isfinite(verdict.score) == (calibration.order is not None)
        assert math.isfinite(verdict.prior[0]) == (calibration.worth > 0)
        if not calibration.knows_level:
            assert verdict.reason.startswith("without data, it cannot be known")
            assert (verdict.estimate.low, verdict.estimate.high) == (0, 1)


def test_an_informative_calibration_gives_numbers(knowing):
    calibration = next(iter(knowing.values()))
    known = usual(calibration)
    verdict = judge_accuracy(known, 10, "MLP", 1.0)
    assert verdict.reason == ""
    assert verdict.estimate.value == pytest.approx(1 / (1 + math.exp(-calibration.by_level.logit(known))))
    assert verdict.score == pytest.approx(calibration.by_order.logit(known))
    assert verdict.prior == (verdict.estimate.value, calibration.strength)
    term = calibration.by_order.terms[0]
    moved = calibration.by_order.logit({**known, term.figure: known[term.figure] + term.scale})
    assert moved - verdict.score == pytest.approx(term.coefficient)


@pytest.mark.parametrize(
    ("changes", "classes", "family", "converged", "words"),
    [
        ({}, 10, "MLP", 0.5, "only 50% of its walks arrived"),
        ({}, 10, "recurrent", 1.0, "architecture (recurrent) is not in the calibration"),
        ({}, 10, "", 1.0, "architecture (unknown)"),
        ({}, 1000, "MLP", 1.0, "1000 classes"),
        ({"within": -40.0}, 10, "MLP", 1.0, "unlike those of the calibration"),
        ({"within": math.nan}, 10, "MLP", 1.0, "unknown"),
    ],
)
def test_outside_of_the_calibration_there_is_no_number(knowing, changes, classes, family, converged, words):
    known = usual(next(iter(knowing.values())))
    verdict = judge_accuracy({**known, **changes}, classes, family, converged)
    assert words in verdict.reason
    assert not verdict.estimate.known
    assert math.isnan(verdict.score)


def test_an_untrained_network_has_no_number_whatever_its_figures(knowing):
    verdict = judge_accuracy(usual(next(iter(knowing.values()))), 10, "MLP", 1.0, untrained=True)
    assert "look untrained" in verdict.reason
    assert not verdict.estimate.known


def test_an_order_that_fails_for_one_factor_is_none():
    calibration = informative(next(iter(calibrations().values())))
    assert calibration.order is calibration.orders[0]
    assert replace(calibration, factors={"share": 0.3, "steps": 0.9}).order is None
    assert replace(calibration, orders=()).order is None
