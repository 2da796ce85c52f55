import json
import math
from dataclasses import replace

import numpy as np
import pytest
from class_worlds import led_scores
from hypothesis import given
from hypothesis import strategies as st

from classay import InputError, accuracy_curve, information
from classay.classes.information import least_information
from classay.classes.information.channel import c_of_mean, fano, fit_channel, fit_mean_top, log_spaced_sizes, mean_top
from classay.classes.information.information import _correlation, _difference, in_bits, shares_of_alpha
from classay.intervals import difference


def curve(n_classes=30, rows=6, lead=2.0, **options):
    return accuracy_curve(*led_scores(n_classes, rows, lead), **options)


@pytest.mark.parametrize("c", [-1.0, 0.0, 0.3, 2.0, 5.0])
@pytest.mark.parametrize("n_classes", [2, 7, 500])
def test_the_fit_finds_its_own_curve(c, n_classes):
    sizes = log_spaced_sizes(n_classes)
    assert fit_mean_top(mean_top(c, sizes), sizes) == pytest.approx(c, abs=1e-9)
    weights = np.ones(sizes.size) / sizes.size
    assert c_of_mean(float(weights @ mean_top(c, sizes)), sizes, weights) == pytest.approx(c, abs=1e-8)


def test_the_fit_is_the_least_of_squares():
    found = curve(40, 3)
    fitted = fit_channel(found)
    accuracy = found.accuracy[fitted.sizes - 1]

    def squares(c):
        return ((accuracy - mean_top(c, fitted.sizes)) ** 2).sum()

    assert all(squares(fitted.c) <= squares(fitted.c + step) for step in (-0.1, -1e-3, 1e-3, 0.1))
    # The one number that its interval is made from is where the fitted curve has it.
    assert fitted.mean == pytest.approx(fitted.weights @ mean_top(fitted.c, fitted.sizes), abs=1e-10)


def test_implied_information_of_the_model_itself():
    for lead in (0.5, 2.0, 4.0):
        found = information(curve(100, 10, lead))
        nats = found.nats["implied"]
        assert nats.low < lead**2 / 2 < nats.high
        assert nats.value == pytest.approx(lead**2 / 2, rel=0.1)
        assert found.implied.value == pytest.approx(nats.value / math.log(2))
        assert "not a guaranteed lower bound" in str(found)


def test_all_right_is_not_identified():
    found = information(accuracy_curve(np.eye(20)[np.arange(100) % 20], np.arange(100) % 20))
    nats = found.nats["implied"]
    assert math.isnan(nats.value)
    assert 1 < nats.low < found.implied.low < math.inf == nats.high
    assert "every prediction was right" in nats.kind
    assert "unknown" in str(found)
    assert information(accuracy_curve(np.eye(200), np.arange(200))).nats["implied"].low > nats.low
    assert math.isnan(found.bound.value)
    assert 1 < found.bound.low < math.inf


def test_at_chance_and_below():
    chance = information(accuracy_curve(np.zeros((60, 20)), np.arange(60) % 20))
    assert chance.nats["implied"].value == pytest.approx(0, abs=1e-12)
    assert chance.bound.low == 0
    guessing = information(curve(lead=0.0)).nats["implied"]
    assert guessing.low == 0
    assert guessing.high < 0.2
    wrong = information(accuracy_curve(-np.eye(20), np.arange(20))).nats["implied"]
    assert (wrong.value, wrong.low) == (0, 0)


def all_or_nothing(n_classes=100, rows=3, lost=0.7, seed=0):
    """A symbol of a thousand arrives as it was sent, or as any other."""
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(n_classes), rows)
    sent = rng.choice(1000, n_classes, replace=False)
    arrived = np.where(rng.random(y.size) < lost, sent[y] + rng.integers(1, 1000, y.size), sent[y]) % 1000
    return accuracy_curve((arrived[:, None] == sent) * 1.0, y, marginal=True)


def test_a_curve_of_another_shape_has_no_implied_information():
    found = information(all_or_nothing())
    k, measured, fitted = found.gap
    assert measured < fitted - 0.15
    assert not found.implied.known
    assert found.implied.low == found.bound.low > 0
    assert f"not supported: the accuracy with {k} classes is {measured:.2f} where" in str(found)
    other = information(curve(100, 3))
    assert other.implied.known
    assert abs(other.gap[1] - other.gap[2]) < 0.05
    assert "misses accuracies by at most" in str(other)


def test_a_decoder_without_implied_information_is_placed_by_its_bound():
    found = information({"weak": curve(100, 3, 0.2), "odd": all_or_nothing(lost=0.3), "strong": curve(100, 3, 4.0)})
    assert names(found) == ["strong", "odd", "weak"]
    assert not found.decoders[1].told_apart
    assert "Placed by the bound" in str(found)
    assert f"odd at least {found.decoders[1].information.implied.low:.3g}," in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    found.plot().to_dict()


def test_two_classes_or_one_with_rows_have_no_spread():
    assert "cannot be checked" in str(information(curve(2, 20)))
    one_with_rows = accuracy_curve(np.random.default_rng(0).normal(size=(30, 10)), np.zeros(30, int))
    for found in (information(made).nats["implied"] for made in (curve(2, 20), one_with_rows)):
        assert (found.low, found.high) == (0, math.inf)
        assert "too few classes" in found.kind


def test_ties_as_they_were_counted():
    coarse = np.round(np.random.default_rng(0).normal(size=(90, 30)) + 2 * np.eye(30)[np.arange(90) % 30])
    curves = (accuracy_curve(coarse, np.arange(90) % 30, ties=ties) for ties in ("wrong", "random", "right"))
    values = [information(each).nats["implied"].value for each in curves]
    assert values == sorted(values)
    assert values[0] < values[2]


def test_the_order_of_classes_and_rows_does_not_matter():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(12), 4)
    scores = rng.normal(size=(48, 12)) + 2 * np.eye(12)[y]
    rows, columns = rng.permutation(48), rng.permutation(12)
    moved = accuracy_curve(scores[rows][:, columns], np.argsort(columns)[y[rows]])
    one, other = information(accuracy_curve(scores, y)).nats["implied"], information(moved).nats["implied"]
    assert other.value == pytest.approx(one.value, rel=1e-9)


def test_the_bound_is_the_inverse_at_the_accuracy():
    made = curve(50, 10)
    found = information(made, k=50)
    nats, accuracy = found.nats["bound"], made.bayes_bound()
    assert nats.value == pytest.approx(float(least_information(accuracy.value, 50)))
    assert nats.low == pytest.approx(float(least_information(accuracy.low, 50)))
    assert found.bound.low == pytest.approx(nats.low / math.log(2))
    assert nats.high == math.inf
    assert found.bound_classes == 50


def test_the_best_of_several_sizes():
    made = curve(400, 2, 2.0)
    best, all_of_them = information(made), information(made, k=400)
    assert best.bound_classes in shares_of_alpha(400)
    assert best.bound_classes < 400 == all_of_them.bound_classes
    assert all_of_them.nats["bound"].low < best.nats["bound"].low < 2.0
    # Half of the level is for all 400; 3, 10, 30 and 100 share the rest.
    assert best.bound.low == information(made, 0.05 / 8, k=best.bound_classes).bound.low
    assert sum(shares_of_alpha(400).values()) == pytest.approx(1)
    assert shares_of_alpha(5) == {5: 1.0}


def test_more_tried_is_less_sure():
    alone, jackknife, of_ten = (
        information(curve(), **options).bound.low for options in ({}, {"method": "jackknife"}, {"tried": 10})
    )
    assert of_ten < alone < jackknife


def test_fano_by_hand():
    assert fano(0.05, 8) == 0
    # 4 classes, a quarter wrong: 2 − .8113 − .25·log2 3 bits.
    assert fano(0.75, 4) / math.log(2) == pytest.approx(2 - 0.8112781 - 0.25 * 1.5849625, abs=1e-7)


@given(st.floats(0, 1), st.integers(2, 1000))
def test_fano_is_never_above_the_least_information(accuracy, k):
    assert fano(accuracy, k) <= least_information(accuracy, k) + 1e-9


def test_fano_of_a_curve():
    nats = information(curve()).nats["fano"]
    assert 0 < nats.low < nats.value < math.log(30)
    assert nats.value == pytest.approx(fano(curve().accuracy[-1], 30))
    assert information(curve(), 0.01).nats["fano"].low < nats.low


@pytest.mark.parametrize("options", [{"ties": "right"}, {"prior": "rows"}])
def test_no_bound_where_none_holds(options):
    found = information(curve(**options))
    assert found.implied.known
    assert not found.bound.known
    assert not found.fano.known
    assert "at least" not in str(found)


def test_the_result_reads_and_travels():
    found = information(curve())
    frame = found.to_frame()
    assert frame["value"].tolist() == [found.implied.value, found.bound.value, found.fano.value]
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["nats"]["bound"]["low"] == found.nats["bound"].low
    assert stored["bound"]["high"] is None
    for words in ("Implied information", "Information at least", "Fano: information at least"):
        assert words in str(found)


def test_bad_input():
    with pytest.raises(InputError, match="of type ndarray"):
        information(np.eye(3))
    with pytest.raises(InputError, match="`alpha`"):
        information(curve(), 5)
    with pytest.raises(InputError, match="`k`"):
        information(curve(), k="all")
    one = replace(curve(), accuracy=np.ones(1), low=np.ones(1), high=np.ones(1))
    with pytest.raises(InputError, match="1 class"):
        information(one)
    with pytest.raises(InputError, match="at least two curves"):
        information({"a": curve()})
    with pytest.raises(InputError, match="curves\\['b'\\]"):
        information({"a": curve(), "b": np.eye(3)})


# Several decoders, ranked


def decoder(n_classes=40, rows=5, lead=2.0, seed=0, own_noise=0.0):
    """Decoders with the same seed share rows and most of their noise."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), rows)
    noise = rng.normal(size=(y.size, n_classes))
    own = np.random.default_rng(seed + 1000).normal(size=noise.shape)
    return accuracy_curve(noise + own_noise * own + lead * np.eye(n_classes)[y], y)


def names(found):
    return [each.name for each in found.decoders]


def test_in_order_of_implied_information():
    curves = {"weak": decoder(lead=0.7), "strong": decoder(lead=4.0), "middle": decoder(lead=2.0)}
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
    found = information({"a": decoder(), "b": decoder(), "far": decoder(lead=0.5)})
    ahead = found.decoders[0].ahead
    assert ahead.value == 0
    assert ahead.low < 0 < ahead.high
    assert found.groups() == [["a", "b"], ["far"]]
    assert "a and b are indistinguishable" in str(found)


def test_on_the_same_rows_less_is_left_to_chance():
    one, other = fit_channel(decoder()), fit_channel(decoder(own_noise=0.3))
    together = _correlation(one, other)
    assert 0.3 < together < 1
    paired = _difference(one, other, 0.95)
    alone = difference(in_bits(one.nats(0.95)), in_bits(other.nats(0.95)))
    assert paired.value == pytest.approx(alone.value)
    assert paired.high - paired.low < 0.8 * (alone.high - alone.low)
    assert "same rows" in paired.kind
    elsewhere = fit_channel(decoder(seed=5, rows=4))
    assert _correlation(one, elsewhere) is None
    assert "independent" in _difference(one, elsewhere, 0.95).kind


def test_all_at_99_percent():
    found = information({"a": decoder(lead=5.0), "b": decoder(lead=5.5, seed=1), "c": decoder(lead=4.7, seed=2)})
    assert all(each.accuracy.value > 0.95 for each in found.decoders)
    assert math.isfinite(found.decoders[-1].information.implied.value)
    values = [each.information.implied.value for each in found.decoders if each.information.implied.known]
    assert values == sorted(values, reverse=True)


def test_all_at_chance():
    found = information({name: decoder(lead=0.0, seed=seed) for seed, name in enumerate("abc")})
    assert len(found.groups()) == 1
    assert all(each.information.implied.low == 0 for each in found.decoders)
    assert all(each.information.bound.low == 0 for each in found.decoders)


def test_all_right_stands_first():
    perfect, y = np.eye(40), np.arange(40)
    more = accuracy_curve(np.eye(80), np.arange(80))
    found = information({"good": decoder(lead=1.0), "perfect": accuracy_curve(perfect, y), "larger": more})
    assert names(found) == ["larger", "perfect", "good"]
    assert math.isnan(found.decoders[0].ahead.value)
    assert not found.decoders[0].told_apart
    # Not identified, and yet surely ahead: its least is above the other's most.
    assert found.decoders[1].told_apart
    json.dumps(found.to_dict(), allow_nan=False)


def test_different_numbers_of_classes():
    found = information({"few": decoder(10), "many": decoder(60, lead=2.1)})
    assert found.k == 10
    many = next(each for each in found.decoders if each.name == "many")
    assert many.n_classes == 60
    assert many.accuracy_in_common.value > many.accuracy.value
    assert "same classes" in str(found)
    frame = found.to_frame().query("decoder == 'many' and figure == 'accuracy'")
    assert frame["n_classes"].tolist() == [10, 60]


def test_the_level_is_shared():
    curves = {name: decoder(lead=2 + 0.1 * place, seed=place) for place, name in enumerate("abcd")}
    two = {name: curves[name] for name in "ad"}
    four = information(curves)
    bound = {each.name: each.information.bound.low for each in four.decoders}
    for each in information(two).decoders:
        assert bound[each.name] < each.information.bound.low
    assert [each.ahead.level for each in four.decoders[:-1]] == pytest.approx([1 - 0.05 / 3] * 3)
    assert all(each.information.implied.level == 0.95 for each in four.decoders)


def test_frame():
    found = information({"a": decoder(lead=3.0), "b": decoder(lead=1.0)})
    frame = found.to_frame()
    assert frame.query("decoder == 'b'")["figure"].tolist() == ["accuracy", *found.decoders[0].information.summary()]
    implied = frame.query("figure == 'implied information, bits'")
    assert implied["value"].tolist() == [each.information.implied.value for each in found.decoders]
