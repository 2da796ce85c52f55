import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

import classay
from classay import InputError
from classay.network import separation_loss


@pytest.fixture
def batch():
    torch.manual_seed(0)
    labels = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2])
    return torch.randn(9, 5) + 2 * nn.functional.one_hot(labels, 5), labels


@pytest.mark.parametrize("deviations", [0.0, 2.0])
def test_it_is_made_of_the_papers_figures(batch, deviations):
    features, labels = batch
    q = classay.feature_quality(features.numpy(), labels.numpy())
    wanted = (1 - q.within) + (1 - q.between) + deviations * (q.within_std + q.between_std)
    found = separation_loss(features.double(), labels=labels, deviations=deviations)
    assert float(found) == pytest.approx(wanted, abs=1e-5)


def test_its_gradient_moves_classes_apart(batch):
    features, labels = batch
    features = features.clone().requires_grad_()
    before = separation_loss(features, labels=labels)
    (slope,) = torch.autograd.grad(before, features)
    assert bool(torch.isfinite(slope).all())
    assert separation_loss(features - 0.1 * slope, labels=labels).item() < before.item()
    numeric = torch.autograd.gradcheck(
        lambda x: separation_loss(x, labels=labels, deviations=2.0), features.detach().double().requires_grad_()
    )
    assert numeric


def test_without_labels_the_head_predicts_them(batch):
    features, _ = batch
    head = nn.Linear(5, 3)
    own = separation_loss(features, head)
    assert own.item() == pytest.approx(separation_loss(features, labels=head(features).argmax(1)).item())
    assert separation_loss(features, head.weight).item() >= 0


def test_small_batches_have_no_pairs():
    row = torch.ones(1, 3, requires_grad=True)
    loss = separation_loss(row, labels=torch.tensor([0]))
    assert loss.item() == 0
    assert bool((torch.autograd.grad(loss, row)[0] == 0).all())
    same = torch.ones(2, 3, requires_grad=True)
    (slope,) = torch.autograd.grad(separation_loss(same, labels=torch.tensor([0, 0]), deviations=2.0), same)
    assert bool(torch.isfinite(slope).all())


@pytest.mark.parametrize(
    ("features", "options", "words"),
    [
        (np.ones((2, 2)), {}, "expected a tensor"),
        (torch.ones(2, 2, 2), {"labels": torch.zeros(2)}, r"\(2, 2, 2\)"),
        (torch.ones(2, 2), {}, "expected one of the two"),
        (torch.ones(2, 2), {"head": nn.Linear(3, 2)}, "no layer of 2 features"),
        (torch.ones(2, 2), {"labels": torch.zeros(3)}, r"expected \(2,\)"),
    ],
)
def test_bad_input_is_refused(features, options, words):
    with pytest.raises(InputError, match=words):
        separation_loss(features, **options)
