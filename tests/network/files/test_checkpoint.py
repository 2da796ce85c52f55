"""Networks out of checkpoints."""

from __future__ import annotations

import sys
import types

import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import save_file
from torch import nn

from classay.expect import InputError
from classay.network.files.checkpoint import load_network, parse_architecture

SOURCE = """
from torch import nn

TEN = 10

class Net(nn.Module):
    def __init__(self, width=6, classes=4):
        super().__init__()
        self.body, self.norm, self.head = nn.Linear(5, width), nn.BatchNorm1d(width), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.norm(self.body(x)).relu())

def make_net(width=6):
    return Net(width)

def needs(width):
    return Net(width)

def fails():
    raise RuntimeError("no luck")

def no_network():
    return 3
"""


namespace = {}
exec(SOURCE, namespace)
Net = namespace["Net"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a module of one's own, which is forgotten afterwards."""
    (tmp_path / "mynets_for_test.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("mynets_for_test", None)


def same(first, second):
    return all(torch.equal(value, second.state_dict()[name]) for name, value in first.state_dict().items())


def test_a_function_of_ones_own(folder):
    network = Net()
    torch.save(network.state_dict(), "w.pt")
    save_file(network.state_dict(), "w.safetensors")
    for name in ("w.pt", "w.safetensors"):
        for arch in ("mynets_for_test:make_net", "mynets_for_test:Net", "mynets_for_test:needs(6)"):
            found = load_network(name, arch, allow_import=True)
            assert same(network, found.network)
            assert not found.network.training
            assert found.notes == ()
    assert str(folder) not in sys.path


def test_nothing_is_imported_unasked(folder):
    torch.save(Net().state_dict(), "w.pt")
    with pytest.raises(InputError, match=r"would import code from 'mynets_for_test'. Add --allow-import"):
        load_network("w.pt", "mynets_for_test:make_net")
    assert "mynets_for_test" not in sys.modules


def test_the_working_folder_hides_nothing_installed(folder):
    (folder / "safetensors.py").write_text("raise RuntimeError")
    (folder / "json.py").write_text("raise RuntimeError")
    torch.save(Net().state_dict(), "w.pt")
    load_network("w.pt", "mynets_for_test:make_net", allow_import=True)


def test_names_in_front_are_taken_off(folder):
    network = Net()
    own = {f"model.net.{name}": value for name, value in network.state_dict().items()}
    torch.save({"state_dict": {**own, "loss.weight": torch.ones(3)}}, "w.ckpt")
    found = load_network("w.ckpt", "mynets_for_test:Net", allow_import=True)
    assert same(network, found.network)
    assert "Weights under 'model.net.' were used; 1 others were left out." in found.notes


def test_old_files_lack_a_counter(folder):
    network = Net()
    state = {name: value for name, value in network.state_dict().items() if "num_batches" not in name}
    torch.save(state, "w.pt")
    assert same(network, load_network("w.pt", "mynets_for_test:Net", allow_import=True).network)


def test_what_does_not_fit_is_listed(folder):
    state = Net(classes=7).state_dict()
    del state["body.bias"]
    state["extra.weight"] = torch.ones(2, 2)
    torch.save(state, "w.pt")
    with pytest.raises(InputError) as told:
        load_network("w.pt", "mynets_for_test:Net", allow_import=True)
    for part in (
        "do not fit mynets_for_test:Net",
        "missing: body.bias",
        "not known to it: extra.weight",
        "head.weight (7×6 in the file, 4×6 in the network)",
        "head.bias (7 in the file, 4 in the network)",
        "Is it the right architecture?",
    ):
        assert part in str(told.value)


def test_a_whole_network_that_is_trusted(folder):
    network = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 4))
    torch.save(network, "whole.pt")
    with pytest.raises(InputError, match="--trust-pickle"):
        load_network("whole.pt")
    found = load_network("whole.pt", trust_pickle=True)
    assert same(network, found.network)
    torch.save(network.half(), "whole.pt")
    assert next(load_network("whole.pt", trust_pickle=True).network.parameters()).dtype == torch.float32


def test_weights_alone_need_an_architecture(folder):
    torch.save(Net().state_dict(), "w.pt")
    with pytest.raises(InputError, match=r"--arch timm:resnet18, or --builder"):
        load_network("w.pt")


@pytest.fixture
def timm(monkeypatch):
    """In place of the library, which is not installed here: it builds `Net`."""
    asked = []

    def create_model(name, pretrained, num_classes=1000, in_chans=3, **options):
        asked.append({"name": name, "pretrained": pretrained, "in_chans": in_chans, **options})
        if name != "resnet18":
            raise RuntimeError(f"Unknown model ({name})")
        return Net(classes=num_classes)

    stub = types.ModuleType("timm")
    stub.create_model, stub.list_models = create_model, lambda: ["resnet18", "resnet34"]
    monkeypatch.setitem(sys.modules, "timm", stub)
    return asked


def test_timm(folder, timm):
    network = Net(classes=7)
    save_file(network.state_dict(), "w.safetensors")
    found = load_network("w.safetensors", "timm:resnet18", input_shape=(1, 28, 28))
    assert same(network, found.network)
    assert timm == [{"name": "resnet18", "pretrained": False, "in_chans": 1}]
    load_network("w.safetensors", "timm:resnet18(drop_rate=0.5)")
    assert timm[-1]["drop_rate"] == 0.5
    with pytest.raises(InputError, match=r"Unknown model \(resnet19\).*Did you mean resnet18"):
        load_network("w.safetensors", "timm:resnet19")
    with pytest.raises(InputError, match="arguments without a name"):
        load_network("w.safetensors", "timm:resnet18(3)")


def test_a_library_that_is_not_installed(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    torch.save(Net().state_dict(), "w.pt")
    with pytest.raises(InputError, match="pip install timm"):
        load_network("w.pt", "timm:resnet18")


def test_torchvision(folder, monkeypatch):
    models = types.ModuleType("torchvision.models")
    models.get_model = lambda name, weights, num_classes: Net(classes=num_classes)
    monkeypatch.setitem(sys.modules, "torchvision", types.ModuleType("torchvision"))
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    network = Net(classes=9)
    torch.save(network.state_dict(), "w.pt")
    assert same(network, load_network("w.pt", "torchvision:resnet18", input_shape=(3, 8, 8)).network)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("resnet18", "expected module:name"),
        ("timm:hf-hub:someone/net", "expected module:name"),
        ("timm:a(b)", "Expressions are not run"),
        ("timm:a(__import__('os').system('x'))", "Expressions are not run"),
        ("timm:a(**{})", "Expressions are not run"),
        ("timm:a(", "expected module:name"),
        ("timm:resnet18(checkpoint_path='evil.pth')", "no files or addresses"),
        ("torchvision:resnet18(weights_backbone=True)", "no files or addresses"),
        ("timm:resnet18(act_layer='gelu')", "expected numbers"),
        ("os:system", "--allow-import"),
        ("mynets_for_test:nothing", "has no 'nothing'"),
        ("mynets_for_test:TEN", "is a int"),
        ("mynets_for_test:needs", "missing a required argument: 'width'"),
        ("mynets_for_test:fails", "RuntimeError: no luck"),
        ("mynets_for_test:no_network", "gives a int"),
        ("no_such_module_here:net", "cannot be imported"),
    ],
)
def test_bad_architectures(folder, text, message):
    with pytest.raises(InputError, match=message):
        parse_architecture(text, allow_import=text.startswith(("mynets", "no_such"))).build()


def test_building_leaves_the_users_draws_alone(folder):
    before = torch.random.get_rng_state()
    first, second = (parse_architecture("mynets_for_test:Net", allow_import=True).build() for _ in range(2))
    assert same(first, second)
    assert torch.equal(before, torch.random.get_rng_state())
