import json
import math

import numpy as np
import pytest

from classay import InputError, accuracy_curve, information
from classay.classes.information.channel import fit_channel
from classay.classes.information.information import _correlation, _difference, in_bits
from classay.intervals import difference


def curve(n_classes=40, rows=5, lead=2.0, seed=0, own_noise=0.0):
    """Decoders with the same seed share rows and most of their noise."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), rows)
    noise = rng.normal(size=(y.size, n_classes))
    own = np.random.default_rng(seed + 1000).normal(size=noise.shape)
    return accuracy_curve(noise + own_noise * own + lead * np.eye(n_classes)[y], y)


def names(found):
    return [each.name for each in found.decoders]


def test_in_order_of_implied_information():
    curves = {"weak": curve(lead=0.7), "strong": curve(lead=4.0), "middle": curve(lead=2.0)}
    found = information(curves)
    assert names(found) == ["strong", "middle", "weak"]
    assert names(information(dict(reversed(curves.items())))) == names(found)
    assert found.groups() == [["strong"], ["middle"], ["weak"]]
    for each in found.decoders:
        assert each.information.implied == information(curves[each.name]).implied
        assert each.accuracy == each.accuracy_in_common == curves[each.name].at(40)
        assert each.information.bound.low <= each.information.implied.high
    assert found.decoders[-1].ahead is None
    assert "Each is significantly ahead" in str(found)


def test_the_same_decoder_twice_cannot_be_told_apart():
    found = information({"a": curve(), "b": curve(), "far": curve(lead=0.5)})
    ahead = found.decoders[0].ahead
    assert ahead.value == 0
    assert ahead.low < 0 < ahead.high
    assert found.groups() == [["a", "b"], ["far"]]
    assert "a and b are indistinguishable" in str(found)


def test_on_the_same_rows_less_is_left_to_chance():
    one, other = fit_channel(curve()), fit_channel(curve(own_noise=0.3))
    together = _correlation(one, other)
    assert 0.3 < together < 1
    paired = _difference(one, other, 0.95)
    alone = difference(in_bits(one.nats(0.95)), in_bits(other.nats(0.95)))
    assert paired.value == pytest.approx(alone.value)
    assert paired.high - paired.low < 0.8 * (alone.high - alone.low)
    assert "same rows" in paired.kind
    elsewhere = fit_channel(curve(seed=5, rows=4))
    assert _correlation(one, elsewhere) is None
    assert "independent" in _difference(one, elsewhere, 0.95).kind


def test_all_at_99_percent():
    found = information({"a": curve(lead=5.0), "b": curve(lead=5.5, seed=1), "c": curve(lead=4.7, seed=2)})
    assert all(each.accuracy.value > 0.95 for each in found.decoders)
    assert math.isfinite(found.decoders[-1].information.implied.value)
    values = [each.information.implied.value for each in found.decoders if each.information.implied.known]
    assert values == sorted(values, reverse=True)


def test_all_at_chance():
    found = information({name: curve(lead=0.0, seed=seed) for seed, name in enumerate("abc")})
    assert len(found.groups()) == 1
    assert all(each.information.implied.low == 0 for each in found.decoders)
    assert all(each.information.bound.low == 0 for each in found.decoders)


def test_all_right_stands_first():
    perfect, y = np.eye(40), np.arange(40)
    more = accuracy_curve(np.eye(80), np.arange(80))
    found = information({"good": curve(lead=1.0), "perfect": accuracy_curve(perfect, y), "larger": more})
    assert names(found) == ["larger", "perfect", "good"]
    assert math.isnan(found.decoders[0].ahead.value)
    assert not found.decoders[0].told_apart
    # Not identified, and yet surely ahead: its least is above the other's most.
    assert found.decoders[1].told_apart
    json.dumps(found.to_dict(), allow_nan=False)


def test_different_numbers_of_classes():
    found = information({"few": curve(10), "many": curve(60, lead=2.1)})
    assert found.k == 10
    many = next(each for each in found.decoders if each.name == "many")
    assert many.n_classes == 60
    assert many.accuracy_in_common.value > many.accuracy.value
    assert "same classes" in str(found)
    frame = found.to_frame().query("decoder == 'many' and figure == 'accuracy'")
    assert frame["n_classes"].tolist() == [10, 60]


def test_the_level_is_shared():
    curves = {name: curve(lead=2 + 0.1 * place, seed=place) for place, name in enumerate("abcd")}
    two = {name: curves[name] for name in "ad"}
    four = information(curves)
    bound = {each.name: each.information.bound.low for each in four.decoders}
    for each in information(two).decoders:
        assert bound[each.name] < each.information.bound.low
    assert [each.ahead.level for each in four.decoders[:-1]] == pytest.approx([1 - 0.05 / 3] * 3)
    assert all(each.information.implied.level == 0.95 for each in four.decoders)


def test_frame():
    found = information({"a": curve(lead=3.0), "b": curve(lead=1.0)})
    frame = found.to_frame()
    assert frame.query("decoder == 'b'")["figure"].tolist() == ["accuracy", *found.decoders[0].information.summary()]
    implied = frame.query("figure == 'implied information, bits'")
    assert implied["value"].tolist() == [each.information.implied.value for each in found.decoders]


def test_bad_input():
    with pytest.raises(InputError, match="at least two curves"):
        information({"a": curve()})
    with pytest.raises(InputError, match="curves\\['b'\\]"):
        information({"a": curve(), "b": np.eye(3)})
    with pytest.raises(InputError, match="`alpha`"):
        information({"a": curve(), "b": curve()}, alpha=2)
