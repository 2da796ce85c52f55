"""`classay network` as a user runs it."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import save_file
from torch import nn

from classay.engine.store import DamagedRecordWarning
from classay.network.prototypes.runner import PrototypeRows

torch.set_num_threads(1)  # small networks are no faster with more, and tests run beside each other
SOURCE = """
from torch import nn

def sound():
    return nn.Sequential(nn.Conv1d(1, 12, 3), nn.Flatten(), nn.Linear(12, 3))

def make_net(width=12, classes=3):
    return nn.Sequential(nn.Flatten(), nn.Linear(36, width), nn.ReLU(), nn.Linear(width, classes))

def bent():
    return nn.Sequential(nn.Flatten(), nn.Linear(36, 12), nn.Tanh(), nn.Linear(12, 3))
"""
OWN = ("--builder", "mynets_of_the_command:make_net", "--allow-import", "--input", "1x6x6", "--starts", "2", "--quiet")
SHAPE = ("--input", "1x6x6")
NO_INPUT = tuple(word for word in OWN if word not in SHAPE)
LOUD = OWN[:-1]


def trained(steps, seed=0):
    """A small network that tells which third of a picture is brightest, trained for some steps."""
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Flatten(), nn.Linear(36, 12), nn.ReLU(), nn.Linear(12, 3))
    x, y = pictures(300, seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(network(torch.from_numpy(x)), torch.from_numpy(y))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network


def pictures(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    x = rng.normal(size=(n, 1, 6, 6)).astype(np.float32)
    for row, third in enumerate(y):
        x[row, :, 2 * third : 2 * third + 2] += 1.0
    return x, y


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a module of one's own, a checkpoint and a test set."""
    (tmp_path / "mynets_of_the_command.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    torch.save(trained(30).state_dict(), "net.pt")
    x, y = pictures(200, 9)
    np.savez("test.npz", x=x, y=y)
    yield tmp_path
    sys.modules.pop("mynets_of_the_command", None)


@pytest.mark.slow
def test_words_first_then_tables(shown, folder):
    out = shown("network", "net.pt", *OWN, "--class-names", "top,middle,<b>foot</b>")
    assert out.startswith("net: 3 classes. Its accuracy cannot be known")
    for word in ("M_in", "The paper's bounds", "finds similar", "<b>foot</b>", "untrained", "The figures that decide"):
        assert word in out
    assert "simplex" not in out
    assert "--all-figures" in out
    out = shown("network", "net.pt", *OWN, "--all-figures")
    for word in ("simplex", "Layers", "random", "three ways to count", "Definition 1"):
        assert word in out


def test_names_of_classes_beside_the_weights(classay, folder):
    (folder / "config.json").write_text(json.dumps({"id2label": {"0": "top", "1": "middle", "2": "foot"}}))
    code, out, err = classay("network", "net.pt", *LOUD, "--no-fresh")
    assert code == 0, err
    assert "names of classes are those of its config.json" in err
    assert "middle" in out


def test_the_load_changes_nothing(shown, measured, folder, monkeypatch):
    """The default plan is by number of walks: a clock that runs a thousand times faster changes no figure."""
    arguments = ["network", "net.pt", *OWN, "--no-fresh"]
    plain, clock = measured(*arguments), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 1000 * clock())
    assert measured(*arguments)["networks"]["net"]["quality"] == plain["networks"]["net"]["quality"]
    assert "At most 8 walks were asked for" in shown(*arguments, "--walks", "8")


@pytest.mark.slow
def test_json_and_charts(measured, folder):
    content = measured("network", "net.pt", *OWN, "--charts", "charts", "--test-set", "test.npz", "--no-fresh")
    described = content["networks"]["net"]
    assert described["head"] == "3"
    assert described["quality"]["fresh"] == {}
    assert content["ranking"] is None
    x, y = pictures(200, 9)
    right = (trained(30)(torch.from_numpy(x)).argmax(1).numpy() == y).mean()
    assert described["accuracy"]["value"] == pytest.approx(right)
    assert described["quality"]["labelled"]["value"] == pytest.approx((200 * right + 0.5) / 201)
    names = {"class_cosines", "within_between", "head_cosines", "head_pairs", "accuracy_bounds", "prototypes"}
    assert {path.stem for path in (folder / "charts").glob("*.png")} == names
    assert {path.stem for path in (folder / "charts").glob("*.svg")} == names


@pytest.mark.slow
def test_many_are_ranked_and_resumed(classay, folder, monkeypatch):
    for steps in (0, 5, 60):
        torch.save(trained(steps).state_dict(), f"steps{steps}.pt")
    (folder / "broken.pt").write_text("nothing")
    files = ("steps0.pt", "steps5.pt", "steps60.pt", "broken.pt")
    arguments = ("--test-set", "test.npz", "--store", "runs", "--charts", "charts")
    code, out, err = classay("network", *files, *OWN, *arguments)
    assert code == 3
    assert "broken: no results. " in err
    for word in ("Networks in groups, best first", "steps60", "on the"):
        assert word in out
    assert [path.name for path in (folder / "charts").glob("*.png")] == ["accuracy_bounds.png"]

    def walked(*arguments, **options):
        raise AssertionError("walked again")

    monkeypatch.setattr(PrototypeRows, "__init__", walked)
    code, again, err = classay("network", *files, *OWN, *arguments, "--json")
    assert code == 3
    content = json.loads(again)
    assert list(content["networks"]) == ["steps0", "steps5", "steps60"]
    assert content["failed"].keys() == {"broken"}
    assert content["ranking"]["names"][0] in out


def test_ctrl_c_keeps_what_was_done(classay, folder, monkeypatch):
    torch.save(trained(5).state_dict(), "other.pt")
    from classay.cli.commands import network as command

    plain, names = command._record, []

    def record(parts, name, **options):
        names.append(name)
        if len(names) == 2:
            raise KeyboardInterrupt
        return plain(parts, name=name, **options)

    monkeypatch.setattr(command, "_record", record)
    code, out, err = classay("network", "net.pt", "other.pt", *OWN)
    assert code == 3
    assert "net: 3 classes" in out
    assert "Interrupted: the results above" in err
    names[:] = ["net"]
    code, out, err = classay("network", "other.pt", "net.pt", *OWN)
    assert (code, out) == (130, "")
    assert "Interrupted before there was any result" in err


@pytest.mark.slow
def test_a_store_with_a_damaged_record_or_another_network(measured, folder):
    def within(*more):
        words = ["network", "net.pt", *OWN, "--store", "kept", "--starts", "1", "--no-fresh", *more]
        return measured(*words)["networks"]["net"]["quality"]["within"]

    first = within()
    for path in (folder / "kept").iterdir():
        path.write_bytes(path.read_bytes()[:-40])
    with pytest.warns(DamagedRecordWarning):
        assert within() == first
    # The same weights in a network with another activation are another network.
    assert within("--builder", "mynets_of_the_command:bent") != first


def test_the_shape_of_inputs_can_be_left_out(classay, folder):
    code, out, err = classay("network", "net.pt", *(word for word in LOUD if word not in SHAPE), "--no-fresh")
    assert code == 0, err
    assert "36 was used, since its first layer takes this many numbers" in err
    assert out.startswith("net: 3 classes")


def test_the_head_alone(classay, shown, measured, folder):
    save_file(trained(30).state_dict(), "net.safetensors")
    np.savez("flax.npz", **{"head/kernel": np.random.default_rng(0).normal(size=(6, 4)), "head/bias": np.zeros(4)})
    out = shown("network", "net.safetensors", "--weights-only", "--charts", "charts")
    assert out.startswith("net, layer '3.weight'.")
    assert "not the accuracy" in out
    assert (folder / "charts" / "head_cosines.svg").exists()
    heads = measured("network", "net.safetensors", "flax.npz", "net.pt", "--weights-only")["heads"]
    assert heads["flax"]["classes"] == 4
    # Two files are called net, so they are named by their paths.
    assert heads["net.pt"]["mean_cosine"] == heads["net.safetensors"]["mean_cosine"]
    assert "2 heads" in shown("network", "net.safetensors", "flax.npz", "--weights-only")
    (folder / "bad.npz").write_bytes(b"")
    code, _, err = classay("network", "net.safetensors", "bad.npz", "--weights-only")
    assert code == 3
    assert "bad: no results. " in err


def test_a_whole_network_that_is_trusted(classay, folder):
    torch.save(trained(5), "whole.pt")
    code, out, err = classay("network", "whole.pt", *SHAPE, "--starts", "1", "--trust-pickle", "--no-fresh")
    assert code == 0, err
    assert "was trusted" in err
    assert "whole: 3 classes" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.pt", "--weights-only"], "File not found: 'none.pt'"),
        (["net.pt"], "Name its architecture"),
        (["sound.pt", *NO_INPUT, "--builder", "mynets_of_the_command:sound"], "--input is missing"),
        (["net.pt", "--input", "3x"], "such as 3x32x32"),
        (["net.pt", "--input", "3x0x2"], "at least 1"),
        (["net.pt", "--input", "1x6x6", "--builder", "mynets_of_the_command:make_net"], "Add --allow-import"),
        (["net.pt", "--input", "1x6x6", "--arch", "mynets_of_the_command:make_net"], "Add --allow-import"),
        (["net.pt", *OWN, "--arch", "timm:resnet18"], "both given"),
        (["net.pt", *OWN, "--input", "1x7x7"], "cannot take inputs of shape (1, 7, 7)"),
        (["net.pt", *OWN, "--builder", "mynets_of_the_command:make_net(classes=4)"], "3×12 in the file, 4×12"),
        (["net.pt", *OWN, "--mean", ".5"], "expected both or neither"),
        (["net.pt", *OWN, "--mean", ".5", "--std", "a"], "expected comma-separated numbers"),
        (["net.pt", *OWN, "--mean", ".5,.4", "--std", "1,1"], "2 values for 1 channels"),
        (["net.pt", *OWN, "--starts", "0"], "`starts` is 0"),
        (["net.pt", *OWN, "--head", "7"], "which is not a layer"),
        (["net.pt", *OWN, "--class-names", "a,b"], "2 names"),
        (["net.pt", *OWN, "--test-set", "net.pt"], "expected x (inputs) and y (labels)"),
        (["net.pt", *OWN, "--test-set", "none.npz"], "There is no file 'none.npz'"),
        (["net.pt", *OWN, "--charts", "net.pt"], "--charts"),
        (["net.pt", *OWN, "--store", "net.pt"], "store"),
        (["whole.pt", *OWN], "--trust-pickle"),
    ],
)
def test_mistakes_get_a_sentence(refused, folder, arguments, message):
    torch.save(trained(0), "whole.pt")
    torch.save(nn.Sequential(nn.Conv1d(1, 12, 3), nn.Flatten(), nn.Linear(12, 3)).state_dict(), "sound.pt")
    refused(message, "network", *arguments)


@pytest.mark.slow
def test_a_walk_that_never_arrives_is_reported(classay, folder):
    flat = trained(0)
    with torch.no_grad():
        flat[3].weight.mul_(1e-6)
    torch.save(flat.state_dict(), "flat.pt")
    code, out, err = classay("network", "flat.pt", *OWN, "--starts", "1", "--no-fresh")
    assert code == 0, err
    assert "Only 0% of the walks" in out


def test_memory_that_does_not_suffice(classay, folder, monkeypatch):
    from classay.cli.commands import network as command

    failures = ("DefaultCPUAllocator: can't allocate memory", "a fault of ours")
    errors = [MemoryError(), *map(RuntimeError, failures)]

    def record(*arguments, **options):
        raise errors.pop(0)

    monkeypatch.setattr(command, "_record", record)
    for _ in range(2):
        code, _, err = classay("network", "net.pt", *OWN)
        assert code == 2
        assert "Not enough memory" in err
    with pytest.raises(RuntimeError, match="a fault of ours"):
        classay("network", "net.pt", *OWN, "--debug")
