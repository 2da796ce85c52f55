import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_networks import Reader, Watched, convolutional, mlp
from torch import nn

from classay import InputError
from classay.network.prototypes.prototypes import Prototypes, prototypes
from classay.network.prototypes.runner import fingerprint
from classay.network.prototypes.schedule import SEED, plan
from classay.network.prototypes.split import split
from classay.network.prototypes.walks import Walker

ARRAYS = ("features", "target", "origin", "start", "steps", "length", "distance", "loss", "converged")


def same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.fixture(scope="module")
def record():
    return prototypes(mlp(), (6,), starts=3)


def test_k_squared_prototypes_from_each_start(record):
    assert record.features.shape == (3 * 16, 32)
    assert record.features.dtype == np.float32
    for start in range(3):
        rows = record.start == start
        pairs = set(zip(record.origin[rows].tolist(), record.target[rows].tolist()))
        wanted = {(i, j) for i in range(4) for j in range(4) if i != j} | {(SEED, j) for j in range(4)}
        assert pairs == wanted
    assert record.converged.mean() > 0.9
    np.testing.assert_array_equal(record.loss <= 0.01, record.converged)


def test_a_core_begins_where_a_seed_ended(record):
    """Walking the core once more from the kept seed gives the same features."""
    row = int(np.flatnonzero(record.origin == 2)[-1])
    seed = int(np.flatnonzero((record.target == 2) & (record.origin == SEED) & (record.start == record.start[row]))[0])
    begun = torch.from_numpy(record.inputs[[seed]])
    again = Walker(split(mlp(), (6,)), record.settings["step"]).walk(begun, record.target[[row]])
    assert again.steps[0] == record.steps[row]
    np.testing.assert_allclose(again.features[0], record.features[row], atol=1e-5)


def test_prototypes_are_members_of_their_class(record):
    answers = mlp()(torch.from_numpy(record.inputs)).argmax(1).numpy()
    np.testing.assert_array_equal(answers[record.converged], record.target[record.converged])


@pytest.mark.slow
def test_same_seed_same_bits_other_seed_others(record):
    same(record, prototypes(mlp(), (6,), starts=3))
    assert (prototypes(mlp(), (6,), starts=3, random_state=1).features != record.features).any()


def test_more_starts_keep_the_first(record):
    fewer = prototypes(mlp(), (6,), starts=2)
    for start in range(2):
        rows, few = record.start == start, fewer.start == start
        np.testing.assert_allclose(np.sort(record.distance[rows]), np.sort(fewer.distance[few]), atol=1e-5)


def test_it_is_saved_and_read(record, tmp_path):
    path = record.save(tmp_path / "net.classay")
    again = Prototypes.load(path)
    same(record, again)
    np.testing.assert_array_equal(again.weight, record.weight)
    np.testing.assert_array_equal(again.bias, record.bias)
    np.testing.assert_array_equal(again.inputs, record.inputs)
    for name in ("settings", "sensitivity", "layers", "about"):
        assert getattr(again, name) == getattr(record, name), name
    assert str(again) == str(record)
    assert path.read_bytes() == record.save(tmp_path / "twice.classay").read_bytes()


@pytest.fixture
def counted():
    """A network that counts rows in `counted.rows`, and is interrupted after `counted.stop` of them."""
    network = Watched(mlp(classes=5))

    def count(x):
        network.rows += len(x)
        if network.rows > network.stop:
            raise KeyboardInterrupt

    network.found = split(network, (6,))
    network.rows, network.stop, network.look = 0, np.inf, count
    return network


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_a_store_goes_on(tmp_path, counted):
    options = {"starts": 2, "batch": 2, "step": 0.6, "sensitivity": False}
    whole = prototypes(counted.found, **options)
    all_rows = counted.rows
    counted.rows, counted.stop = 0, int(0.7 * all_rows)
    part = prototypes(counted.found, store=tmp_path, **options)
    assert part.interrupted
    assert 0 < len(part) < len(whole)
    assert "interrupted" in str(part)
    counted.rows, counted.stop = 0, np.inf
    again = prototypes(counted.found, store=tmp_path, **options)
    assert counted.rows < 0.75 * all_rows
    same(again, whole)
    counted.rows = 0
    same(prototypes(counted.found, store=tmp_path, **options), whole)
    assert counted.rows < 10  # only what names the network


def test_a_store_is_not_asked_for_what_answers_otherwise(tmp_path):
    """The same weights, but another activation, another way to call, another table of embeddings."""
    torch.manual_seed(0)
    one, other = (nn.Sequential(nn.Linear(6, 16), kind, nn.Linear(16, 3)) for kind in (nn.ReLU(), nn.Tanh()))
    other.load_state_dict(one.state_dict())
    options = {"starts": 1, "step": 0.3, "max_steps": 20, "sensitivity": False, "store": tmp_path}
    first, second = (prototypes(network, (6,), **options) for network in (one, other))
    assert (first.features >= 0).all()
    assert (second.features < 0).any()
    called = prototypes(one, (6,), call=lambda net, x: net(2 * x), **options)
    assert (called.features != first.features).any()

    reader = Reader()
    tables = reader.embedding.weight.detach(), 2 * reader.embedding.weight.detach()
    ways = [prototypes(reader, (7, 6), embeddings=table, **options).features for table in tables]
    assert (ways[0] != ways[1]).any()


def test_fingerprints_see_the_last_digit():
    one, other = mlp(dtype=torch.float64), mlp(dtype=torch.float64)
    with torch.no_grad():
        other[0].weight[0, 0] += 1e-12
    assert fingerprint(one) == fingerprint(mlp(dtype=torch.float64)) != fingerprint(other)


def test_ctrl_c_while_a_step_is_sought_ends_it(counted):
    counted.stop = 10
    with pytest.raises(KeyboardInterrupt):
        prototypes(counted.found, starts=1)
    assert counted.rows < 20  # it did not try on


@pytest.mark.parametrize("options", [{"classes": 9}, {"origins": 5}])
def test_bad_samples_are_refused_before_any_walk(counted, options):
    with pytest.raises(InputError):
        prototypes(counted.found, **options)
    assert counted.rows == 0


def test_images_in_a_box_with_normalisation():
    record = prototypes(convolutional(), (1, 8, 8), normalize=(0.4, 0.2), starts=1, box=True, max_steps=40)
    assert record.inputs.min() >= -2 - 1e-6
    assert record.inputs.max() <= 3 + 1e-6
    assert record.settings["box"]


def test_tokens_are_walked_in_the_space_of_embeddings():
    network = Reader()
    with torch.no_grad():
        network.head.weight.mul_(8)
    record = prototypes(network, (7, 6), starts=2, embeddings="embedding")
    assert record.converged.mean() > 0.9
    answers = network(inputs_embeds=torch.from_numpy(record.inputs))["logits"].argmax(1).numpy()
    assert (answers == record.target)[record.converged].all()

    by_hand = prototypes(
        network, (7, 6), starts=2, embeddings=network.embedding.weight,
        call=lambda net, x: net(inputs_embeds=x)["logits"],
    )  # fmt: skip
    same(record, by_hand)


def test_embeddings_begin_at_tokens():
    table = Reader().embedding.weight.detach()
    begun = Walker(split(Reader(), (7, 6)), 0.1, embeddings=table).draw_starts(np.arange(3), 0)
    assert begun.shape == (3, 7, 6)
    assert (begun[:, :, None] == table).all(dim=3).any(dim=2).all()


def test_a_sample_of_classes_and_origins_says_so(tmp_path):
    record = prototypes(mlp(classes=8), (6,), starts=1, classes=5, origins=2)
    assert len(np.unique(record.target)) == 5
    assert set(record.origin) - {SEED} <= set(record.target)
    assert (np.bincount(np.unique(record.target, return_inverse=True)[1]) == 3).all()
    assert "5 of the 8 classes" in str(record)
    assert "from 2 others of 4" in str(record)
    again = Prototypes.load(record.save(tmp_path / "net.classay"))
    assert [(note.code, note.numbers) for note in again.notes] == [(note.code, note.numbers) for note in record.notes]


def test_many_classes_are_sampled_by_default():
    chosen = plan(1000, 600_000, 1, None, None, 0)
    assert len(chosen.classes) == 1000
    assert chosen.origins == 10
    assert len(chosen.pool) * 600_000 <= 1 << 28  # memory does not grow with k
    _, origin, target = chosen.cores(range(1))
    assert len(target) == 10_000
    assert (origin != target).all()
    assert set(origin) <= set(chosen.pool.tolist())
    # Whenever it is cut, classes have as many walks, or one fewer.
    assert np.ptp(np.bincount(target[:4500], minlength=1000)) <= 1
    assert len(set(zip(origin.tolist(), target.tolist()))) == len(target)


def test_the_step_is_found_by_scale():
    small = prototypes(mlp(), (6,), starts=1, sensitivity=False).settings["step"]
    network = mlp()
    with torch.no_grad():
        network[0].weight.mul_(0.1)  # the same network for inputs ten times as large
        for layer in (network[0], network[2], network[4]):
            layer.bias.zero_()
    large = prototypes(network, (6,), starts=1, sensitivity=False).settings["step"]
    assert 4 < large / small < 25


def test_sensitivity_has_the_figure_at_three_steps(record):
    assert list(record.sensitivity) == ["0.333", "1", "3"]
    assert np.ptp(list(record.sensitivity.values())) < 0.2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"starts": 0}, "`starts` is 0"),
        ({"delta": -1}, "`delta` is -1"),
        ({"step": 0}, "`step` is 0"),
        ({"walks": 2}, "`walks` is 2; expected"),
        ({"threads": 0}, "`threads` is 0"),
        ({"classes": 9}, "the network has 4"),
        ({"origins": 4}, "at most 3"),
        ({"normalize": (0.5,)}, "a pair"),
        ({"normalize": ([0.1] * 5, 1)}, "5 values for 6"),
        ({"normalize": (0.5, 0)}, "above 0"),
        ({"embeddings": "nowhere"}, "no layer 'nowhere'"),
        ({"embeddings": np.zeros((5, 2))}, r"\(tokens, 6\)"),
        ({"embeddings": np.zeros((5, 6)), "box": True}, "one of them"),
        ({"input_shape": None}, "`input_shape` is missing"),
    ],
)
def test_bad_settings_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        prototypes(mlp(), **{"input_shape": (6,), **options})


# Which walks are made: all of them, or as many as were asked for; and with how many threads.


@pytest.mark.parametrize(
    ("limit", "starts", "classes", "origins"),
    [
        (None, 5, 50, 49),
        (5000, 5, 50, 19),
        (500, 2, 50, 4),
        (100, 2, 12, 3),
        (60, 1, 15, 3),
        (20, 1, 5, 3),
        (1, 1, 2, 1),
    ],
)
def test_a_limit_takes_origins_first_then_starts_then_classes(limit, starts, classes, origins):
    chosen = plan(50, 100, 5, None, None, 0, limit)
    assert (chosen.starts, len(chosen.classes), chosen.origins) == (starts, classes, origins)
    assert chosen.walks <= max(limit or 12_500, 4)


def test_what_was_asked_for_is_not_taken_less_of():
    chosen = plan(50, 100, 3, 20, 5, 0, 1)
    assert (chosen.starts, len(chosen.classes), chosen.origins) == (1, 20, 5)
    few = plan(50, 100, 1, None, 5, 0, 6)  # 5 others there are not among 2 classes
    _, origin, target = few.cores(range(1))
    assert len(origin) == len(target) == few.walks - len(few.classes)


def test_a_number_of_walks_is_kept_and_said():
    whole = prototypes(mlp(classes=10), (6,), starts=5, sensitivity=False)
    some = prototypes(mlp(classes=10), (6,), starts=5, walks=120, sensitivity=False)
    assert len(whole) == 500
    assert len(some) <= 120
    assert len(np.unique(some.target)) == 10
    assert "At most 120 walks were asked for, so 120 of 500 were planned." in some.notes
    assert "2 of the 5 starts were walked." not in whole.notes


def test_threads_are_fixed_meanwhile_and_restored():
    seen, before = [], torch.get_num_threads()
    network = Watched(mlp())
    found = split(network, (6,))
    network.look = lambda x: seen.append(torch.get_num_threads())
    torch.set_num_threads(2)
    try:
        prototypes(found, starts=1, sensitivity=False)
        assert torch.get_num_threads() == 2
        assert sum(threads > 1 for threads in seen) <= 2  # the outputs that name the network for a store
    finally:
        torch.set_num_threads(before)
