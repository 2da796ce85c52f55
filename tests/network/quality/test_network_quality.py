import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_networks import Collapsed, Selects, Shares, convolutional, mlp
from torch import nn

import classay
from classay import InputError
from classay.network.prototypes.prototypes import fresh_network, layer_structure, normalisation_moved
from classay.network.quality.features import definition_1
from classay.network.quality.figures import FIGURES, head_figures


@pytest.fixture(scope="module")
def quality():
    return classay.network_quality(mlp(), (6,), starts=3, name="little")


def test_one_hot_features_are_ideal():
    q = classay.network_quality(Selects(), (4,), starts=3, compare_fresh=False)
    assert q.classifier_quality == 1
    assert q.within.value == pytest.approx(1)
    assert q.between.value == pytest.approx(1)
    assert q.accuracy_bounds == pytest.approx((1, 1), abs=1e-6)
    assert q.converged.value == 1
    assert q.nonnegative
    np.testing.assert_allclose(q.cosines, np.eye(4), atol=1e-9)
    assert q.per_class[["condition_2", "condition_3"]].all(axis=None)
    np.testing.assert_allclose(q.per_class["row_cosine"], 1, atol=1e-5)


def test_collapsed_features_are_not_apart():
    q = classay.network_quality(Collapsed(), (4,), starts=2, compare_fresh=False)
    assert q.converged.value > 0.9
    assert q.within.value == pytest.approx(1)
    assert q.between.value == pytest.approx(0, abs=1e-6)
    assert q.accuracy_bounds[0] == pytest.approx(0, abs=1e-3)
    assert "bound nothing" not in str(q)


def test_a_random_network_as_it_is(quality):
    assert 0.5 < quality.within.value < 1
    assert 0 < quality.between.value < 1
    assert quality.within.low < quality.within.value < quality.within.high
    assert quality.fresh.keys() <= FIGURES.keys()
    frame = quality.to_frame().set_index("figure")
    assert frame.loc["within", "value"] == quality.within.value
    assert frame.loc["within", "fresh"] == quality.fresh["within"]
    assert frame.index.is_unique
    counts = quality.distributions.groupby("kind")["count"].sum()  # seeds and cores count
    assert (counts["within"], counts["between"]) == (3 * 4 * 6, 3 * 16 * 3)
    # The network is fresh but for a factor of three.
    assert quality.figures["row_norm"] == pytest.approx(np.log(3), abs=0.15)
    assert quality.fresh["row_norm"] == pytest.approx(0, abs=0.15)
    assert "not the accuracy of the network" in str(quality)
    crossed = quality.accuracy_bounds[0] > quality.accuracy_bounds[1]
    assert crossed == ("bound nothing" in str(quality))


def test_the_papers_figures_by_brute_force(quality):
    record = classay.prototypes(mlp(), (6,), starts=3)
    lower, upper = [], []
    for start in range(3):
        units = record.features[record.start == start].astype(float)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        target = record.target[record.start == start]
        inside = [[a @ b for a, b in itertools.combinations(units[target == one], 2)] for one in range(4)]
        between = [
            u @ units[target == other].mean(axis=0)
            for one in range(4) for other in range(4) if one != other for u in units[target == one]
        ]  # fmt: skip
        row = quality.per_start.iloc[start]
        assert row["within"] == pytest.approx(np.mean([np.mean(pairs) for pairs in inside]))
        assert row["within_std"] == pytest.approx(np.std(np.concatenate(inside)))
        assert row["between"] == pytest.approx(1 - np.mean(between))
        assert row["between_std"] == pytest.approx(np.std(between))
        upper.append(row["within"] - 2 * row["within_std"])
        lower.append(row["between"] - 2 * row["between_std"])
    assert quality.accuracy_bounds == pytest.approx((np.mean(lower), np.mean(upper)))
    assert quality.within.value == pytest.approx(quality.per_start["within"].mean())


def test_a_record_can_be_asked_without_the_network(quality, tmp_path):
    path = classay.prototypes(mlp(), (6,), starts=3, name="little").save(tmp_path / "p.classay")
    again = classay.network_quality(classay.results.Prototypes.load(path))
    assert again.within == quality.within
    assert again.fresh == {}


def test_closest_pairs_are_named():
    q = classay.network_quality(Shares(), (4,), starts=3, compare_fresh=False, class_names=Shares.names)
    assert set(q.per_pair.iloc[0][["first", "second"]]) == {"cat", "dog"}
    assert q.per_pair["rows"].to_numpy() == pytest.approx([0.5, 0, 0])
    assert "closest for cat and dog" in str(q)
    assert list(q.per_class["class"]) == ["cat", "car", "dog"]
    assert (np.diff(q.per_pair["cosine"]) <= 0).all()


def test_the_closest_rows_are_those_of_the_whole_head():
    """Also where the two classes are not among those walked to."""
    network = mlp(classes=12)
    with torch.no_grad():
        network[-1].weight[7] = 2 * network[-1].weight[4]
    for seed in range(9):
        q = classay.network_quality(
            network, (6,), starts=1, classes=3, step=0.5, max_steps=20, compare_fresh=False, random_state=seed,
            sensitivity=False,
        )  # fmt: skip
        assert q.closest_rows == ("4", "7", pytest.approx(1))
        if not {4, 7} <= set(q.walked):
            break
    assert not {4, 7} <= set(q.walked)
    assert "closest for 4 and 7 (cosine 1.00)" in str(q)


def test_a_head_with_a_parametrized_weight():
    torch.manual_seed(0)
    head = nn.utils.parametrizations.weight_norm(nn.Linear(8, 3))
    q = classay.network_quality(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), head), (4,), starts=1, max_steps=20, step=0.5)
    assert q.classes == 3
    assert any("parametrizations.weight cannot be reset" in note for note in q.notes)


class Zeroed(nn.Linear):
    """A head that begins with zeros, as many do."""

    def reset_parameters(self):
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)


def test_a_fresh_head_of_zeros_is_no_obstacle():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), Zeroed(16, 4))
    with torch.no_grad():
        network[2].weight.normal_()
    q = classay.network_quality(network, (6,), starts=1, max_steps=20, step=0.5, sensitivity=False)
    assert "row_norm" in q.figures
    assert "row_norm" not in q.fresh


def test_a_head_without_direction_is_refused_before_any_walk(monkeypatch):
    from classay.network.quality import quality as module

    monkeypatch.setattr(module, "prototypes", lambda *given, **options: pytest.fail("it walked"))
    network = mlp()
    with torch.no_grad():
        network[-1].weight[2] = 0
    with pytest.raises(InputError, match=r"rows of zeros \(classes 2\)"):
        classay.network_quality(network, (6,))


def test_what_was_not_shown_to_hold_is_said():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3), nn.Sigmoid())
    q = classay.network_quality(network, (6,), starts=1, compare_fresh=False, max_steps=5, step=0.01)
    assert not q.nonnegative
    assert q.output == "sigmoid"
    for words in ("below 0", "sigmoid", "Only 0% of the walks"):
        assert any(words in note for note in q.notes), words
    assert q.converged.value == 0
    # One start has no spread.
    assert (q.within.low, q.within.high, q.between.low, q.between.high) == (-1, 1, 0, 2)
    assert "inf" not in str(q)
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with torch.no_grad():
        network[0].bias.fill_(-1e3)
    q = classay.network_quality(network, (3,), starts=1, compare_fresh=False)
    assert any("100% of the prototypes are all zero" in note for note in q.notes)


def test_a_step_that_matters_is_said():
    record = classay.prototypes(mlp(), (6,), starts=1, sensitivity=False)
    from dataclasses import replace

    q = classay.network_quality(replace(record, sensitivity={"0.333": 0.5, "1": 0.55, "3": 0.7}))
    assert any("0.50 to 0.70" in note for note in q.notes)


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (mlp(), {}, "`input_shape` is missing"),
        (mlp(), {"input_shape": (6,), "class_names": ["a"]}, "1 names"),
        (mlp(), {"input_shape": (6,), "class_names": list("abca")}, "the same name twice"),
        ({"weight": 1}, {"input_shape": (6,)}, "nn.Module"),
    ],
)
def test_bad_input_is_refused(given, options, words):
    with pytest.raises(InputError, match=words):
        classay.network_quality(given, **options)


def test_fresh_networks_are_reset_where_they_can_be():
    network = convolutional()
    network.register_parameter("scale", nn.Parameter(torch.ones(1)))
    before = network[0].weight.clone()
    state = torch.random.get_rng_state()
    fresh, kept = fresh_network(network, 0)
    assert kept == ["Sequential"]
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(network[0].weight, before)
    assert not torch.equal(fresh[0].weight, before)
    assert float(fresh[1].running_mean.abs().max()) == 0
    again, _ = fresh_network(network, 0)
    assert torch.equal(fresh[0].weight, again[0].weight)


def test_figures_of_heads_with_known_rows():
    k, d = 5, 400
    simplex = np.eye(k, d) - np.full((k, d), 1 / k) * (np.arange(d) < k)
    found = head_figures(simplex)
    assert found["row_simplex"] == pytest.approx(1)
    assert found["row_rank"] == pytest.approx((k - 1) / k)
    random = head_figures(np.random.default_rng(0).uniform(-1, 1, (60, d)) / np.sqrt(d))
    assert random["row_spread"] == pytest.approx(0, abs=0.05)
    assert random["row_norm"] == pytest.approx(0, abs=0.02)
    assert head_figures(7 * simplex)["row_norm"] - found["row_norm"] == pytest.approx(np.log(7))


def test_every_figure_is_there_in_order(quality):
    assert list(quality.figures) == list(FIGURES)
    assert quality.figures["structure"] == pytest.approx(quality.layers["structure"].mean())
    assert quality.figures["least_structure"] == quality.layers["structure"].min()


def test_the_shape_is_described_and_accuracy_not_claimed(quality):
    assert quality.labelled is None
    assert "Its accuracy cannot be known without labelled rows." in str(quality)
    assert list(quality.separations["counted"]) == ["members", "means of others", "means"]
    assert quality.separations["between"][1] == pytest.approx(quality.between.value)
    assert quality.separations["lower_bound"][1] == pytest.approx(quality.accuracy_bounds[0])
    np.testing.assert_allclose(np.diag(quality.row_cosines), 1)
    assert quality.unreached == ()


QUICK = {"starts": 1, "max_steps": 10, "compare_fresh": False, "sensitivity": False}


def test_a_fresh_network_is_like_fresh_ones_which_is_not_called_untrained():
    """A fresh transformer, among others, once got .95."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    q = classay.network_quality(network, (20,), **QUICK)
    assert q.like_fresh
    assert q.layers["like_fresh"].all()
    (note,) = (note for note in q.notes if "fresh" in note)
    assert note.startswith("The weights of all 3 layers are, by largest singular value and sum of rows, within")
    assert note.endswith("This does not show that the network is untrained.")
    assert "(M_bt), from one start, so without intervals" in str(q)
    assert "[-1.000" not in str(q)
    with torch.no_grad():
        network[0].weight += 0.2 * torch.outer(torch.randn(64).sign(), torch.randn(20).sign())
    again = classay.network_quality(network, (20,), **QUICK)
    assert again.layers["like_fresh"].tolist() == [False, True, True]
    assert "The weights of 2, 4 are" in str(again)
    assert "that they are untrained" in str(again)
    attention = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    fresh = nn.Sequential(attention, nn.Flatten(), nn.Linear(64, 10))
    assert classay.network_quality(fresh, (4, 16), **QUICK).like_fresh


@pytest.mark.parametrize("classes", [3, 10])
def test_a_trained_head_on_random_features_is_outside_of_the_range_of_fresh_ones(classes):
    """Such a network was correct on 87.6 % of the rows, and was told that it looked untrained."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, classes))
    with torch.no_grad():  # as softmax training leaves a head: its rows sum to nearly nothing
        network[2].weight -= 0.9 * network[2].weight.mean(dim=0)
    structure, within = layer_structure(network, 0)
    assert abs(structure["2"]) < 0.2
    assert within == ["0"]


def test_one_in_twenty_fresh_networks_has_a_layer_outside_of_the_range():
    """The test is exact: one of 20 orders is the farthest. 40 fresh networks with 9 or more would have p < .0002."""
    outside = 0
    for seed in range(40):
        torch.manual_seed(seed)
        structure, within = layer_structure(nn.Sequential(nn.Linear(9, 12), nn.ReLU(), nn.Linear(12, 4)), seed)
        outside += len(within) < len(structure)
    assert outside <= 8


def test_unreached_classes_are_named():
    network = mlp()
    with torch.no_grad():
        network[-1].bias[2] = -1e4
    q = classay.network_quality(network, (6,), starts=1, max_steps=20, compare_fresh=False, sensitivity=False)
    assert q.unreached == ("2",)


def test_structure_does_not_depend_on_scale_or_distribution():
    torch.manual_seed(0)
    for draw in (torch.randn, torch.rand):
        layer = nn.Linear(80, 60)
        with torch.no_grad():
            layer.weight.copy_(draw(60, 80) - (0.5 if draw is torch.rand else 0))
        fresh, _ = layer_structure(layer, 0)
        assert fresh["Linear"] == pytest.approx(0, abs=0.05)
        with torch.no_grad():
            layer.weight.mul_(1e-3)
        assert layer_structure(layer, 0)[0]["Linear"] == pytest.approx(fresh["Linear"], abs=1e-5)
        with torch.no_grad():
            layer.weight += 0.5 * layer.weight.std() * torch.outer(torch.randn(60).sign(), torch.randn(80).sign())
        assert layer_structure(layer, 0)[0]["Linear"] > 0.3
    assert layer_structure(nn.Linear(5, 1), 0) == ({}, [])


def test_trained_normalisation_is_evidence_of_training():
    network = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))
    assert not normalisation_moved(network)
    nn.init.zeros_(network[1].weight)  # as some begin
    assert not normalisation_moved(network)
    for name in ("weight", "bias"):
        with torch.no_grad():
            getattr(network[3], name)[2] += 0.1
        assert normalisation_moved(network)
        network[3].reset_parameters()
    network(torch.randn(5, 4))  # in training mode, statistics change
    assert normalisation_moved(network)


# Definition 1 of the paper.


def test_conditions_by_brute_force():
    record = classay.prototypes(mlp(), (6,), starts=2, sensitivity=False)
    found = definition_1(record, np.arange(4))
    scores = record.features.astype(float) @ record.weight.T.astype(float)
    for one in range(4):
        rows = scores[record.target == one]
        others = np.delete(rows, one, axis=1).max(axis=1)
        margins = rows[:, one] - others
        assert found["margin"][one] == pytest.approx(margins.max())
        second = margins >= np.log(100)
        assert found["condition_2"][one] == second.any()
        assert found["condition_3"][one] == (second & (others <= 0)).any()
        mean = record.features[record.target == one].mean(axis=0)
        cosine = mean @ record.weight[one] / np.linalg.norm(mean) / np.linalg.norm(record.weight[one])
        assert found["row_cosine"][one] == pytest.approx(cosine, rel=1e-5)
