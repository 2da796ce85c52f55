"""The region with the largest excess of disagreement is reported, also if two are equally clear."""

from types import SimpleNamespace

from classay.intervals import Estimate
from classay.report.findings import RULES


def region(condition, rate, share=0.2):
    return SimpleNamespace(condition=condition, rate=Estimate(rate, rate - 0.1, rate + 0.1), rest_rate=0.1, share=share)


def worded(**regions):
    found = {name: SimpleNamespace(regions=each, on="test points") for name, each in regions.items()}
    made = SimpleNamespace(change=Estimate(0.2, 0.15, 0.25), by_seed=Estimate(0, 0, 0), replaced=0.1)
    rest = {"why": {}, "retraining": made, "stability": SimpleNamespace(stability=Estimate(0.8, 0.7, 0.9))}
    learners = {name: SimpleNamespace(regions=each, **rest) for name, each in found.items()}
    return RULES["L110"].worded(RULES["L110"].check(SimpleNamespace(learners=learners), None))


def test_the_clearest_region_is_reported_and_of_two_the_first():
    finding = worded(tree=[region("a < 1", 0.3), region("b < 2", 0.4)], forest=[region("c < 3", 0.2)])
    assert (finding.of, finding.level) == ("tree", "note")
    assert finding.sentence.startswith("Where b < 2 (20.0\u00a0% of the test points), two refits differ on 40.0")
    assert "a < 1" in worded(tree=[region("a < 1", 0.3), region("b < 2", 0.3)]).sentence


def test_a_region_of_most_points_is_stated_by_the_rest():
    finding = worded(tree=[region("a < 1", 0.3, share=0.67)])
    outside = "Outside of a < 1 (33.0\u00a0% of the test points), two refits differ on only 10.0"
    assert finding.sentence.startswith(outside)
    assert "more rows" not in finding.action
