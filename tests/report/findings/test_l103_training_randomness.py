from types import SimpleNamespace

from classay.intervals import Estimate
from classay.report.findings import l103_training_randomness as rule


def test_the_one_that_varies_most_is_named_as_such():
    """The largest expressivity was once named as that of the steadiest learner."""
    learners = {
        name: SimpleNamespace(
            name=name,
            orientation=SimpleNamespace(expressivity=Estimate(bits, bits - 0.1, bits + 0.1), log2_labelings=5.0),
        )
        for name, bits in (("calm", 0.4), ("restless", 2.1), ("middling", 1.0))
    }
    finding = rule._fine(SimpleNamespace(learners=learners))
    assert "restless varies most, by 2.10 bits" in finding.sentence
    assert "stead" not in finding.sentence
    assert finding.value.value == 2.1
