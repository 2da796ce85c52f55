"""One kernel for all values of SVC and NuSVC: bit for bit the labels of separate fits, also on the border."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import sparse
from separate_fits import TABLES, alone, compare, drawn, fits_of, same
from sklearn.svm import SVC, NuSVC

from classay.learner.fitting.paths import kernels, path_for

pytestmark = pytest.mark.filterwarnings("ignore")  # learners that are stopped early say so

COSTS = [0.01, 0.5, 3, 1000.0]
SWEEPS = [
    (SVC(), "C", COSTS),
    (SVC(gamma="auto"), "C", COSTS),
    (SVC(gamma=0.2, class_weight="balanced"), "C", COSTS),
    (SVC(), "tol", [1e-5, 0.1, 0.9]),
    (SVC(C=100.0), "max_iter", [1, 2, 7, 30, 5000]),
    (NuSVC(nu=0.1), "nu", [0.02, 0.1, 0.2]),
    (NuSVC(nu=0.1, decision_function_shape="ovo"), "max_iter", [3, 40, 4000]),
]


@pytest.fixture
def asked_again(monkeypatch):
    """How many points each call of `predict` was asked, by the path alone."""
    seen = []
    before = SVC.predict

    def predict(self, X):
        seen.append(X.shape[0])
        return before(self, X)

    monkeypatch.setattr(SVC, "predict", predict)
    return seen


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("learner", "param_name", "values"), SWEEPS, ids=lambda part: str(part)[:40])
def test_labels_are_those_of_separate_fits(learner, param_name, values, table):
    X, y = TABLES[table]
    assert path_for(learner, param_name, values) is kernels.OneKernel
    compare(learner, param_name, values, *drawn(X, y), X)


def test_the_kernel_is_asked_in_blocks(monkeypatch):
    monkeypatch.setattr(kernels, "BLOCK", 1000)
    X, y = TABLES["digits"]
    compare(SVC(), "C", COSTS, *drawn(X, y), X)


def test_no_point_is_asked_of_the_classifiers_where_all_are_clear(asked_again):
    X, y = TABLES["two classes"]
    path = path_for(SVC(), "C", COSTS)
    list(path.answers(SVC(), "C", COSTS, X, y, X))
    assert asked_again == []


@pytest.mark.parametrize(("classes", "on_the_border"), [(2, 5), (3, 8)])
def test_a_point_on_the_border_is_asked_of_the_classifier(asked_again, classes, on_the_border):
    # Rows mirrored at 0, or with three classes turned: by symmetry decisions at 0 are 0, but for rounding. Of three
    # rows, each is as far from both others.
    angles = np.arange(classes) * 2 * np.pi / classes
    X = 3.7 * np.column_stack([np.cos(angles), np.sin(angles)])
    asked = np.vstack([np.zeros((5, 2)), X])
    learner = SVC(gamma=0.3)
    found = list(path_for(learner, "C", COSTS).answers(learner, "C", COSTS, X, np.arange(classes), asked))
    assert asked_again == [on_the_border] * len(COSTS)
    assert all(
        same(labels, alone(learner, "C", cost, X, np.arange(classes), asked)) for labels, cost in zip(found, COSTS)
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(
    seed=some.integers(0, 2**32 - 1),
    classes=some.integers(2, 4),
    steps=some.sampled_from([2, 5, 1000]),
    scale=some.sampled_from([1e-6, 1.0, 1e7]),
    origin=some.sampled_from([0.0, 1e3, 1e9]),
)
def test_labels_are_the_same_wherever_rows_lie(seed, classes, steps, scale, origin):
    draw = np.random.default_rng(seed)
    # On a coarse grid many rows are the same, and many decisions tied.
    X = origin + scale * draw.integers(0, steps, (40, 2))
    y = np.arange(40) % classes
    for learner, name, values in ((SVC(), "C", [0.1, 1, 50]), (SVC(gamma=1.0), "max_iter", [1, 4, 9])):
        compare(learner, name, values, X[:25], y[:25], X)


def test_the_bound_on_rounding_holds_in_higher_precision():
    draw = np.random.default_rng(3)
    X, asked = 1e3 + draw.normal(size=(30, 5)), 1e3 + 4 * draw.normal(size=(50, 5))
    middle = X.mean(axis=0)
    found, error = kernels._kernel(asked - middle, X - middle, 0.17)
    long = np.longdouble
    apart = ((asked[:, None, :].astype(long) - X.astype(long)) ** 2).sum(axis=2)
    off = np.abs(found - np.exp(-long(0.17) * apart)).max(axis=1)
    assert (off < error).all()
    # It is no wider than it has to be to be of use.
    assert error.max() < 1e-12


def test_rows_of_a_frame_and_of_a_sparse_table():
    X, y = TABLES["two classes"]
    frame = pd.DataFrame(X, columns=[f"f{number}" for number in range(X.shape[1])])
    compare(SVC(), "C", COSTS, frame.iloc[::2], y[::2], frame)
    compare(SVC(), "C", COSTS, sparse.csr_matrix(X[::2]), y[::2], sparse.csr_matrix(X))
    compare(SVC(), "max_iter", [5, 4000, 6000], sparse.csr_matrix(X[::2]), y[::2], sparse.csr_matrix(X))


def test_a_point_so_far_away_that_its_distance_overflows(recwarn):
    X, y = TABLES["two classes"]
    far = np.vstack([X, np.full((1, X.shape[1]), 1e200)])
    compare(SVC(), "C", COSTS, X, y, far)
    assert not [each for each in recwarn if issubclass(each.category, RuntimeWarning)]


def test_weights_so_small_that_their_products_are_rounded_to_nothing():
    # The weight is the smallest number above 0 and the kernel half, but for rounding: a product is that number, or 0.
    draw = np.random.default_rng(0)
    middle = draw.normal(size=3)
    away = draw.normal(size=(2000, 3))
    asked = middle + away * np.sqrt(1.7 / (away**2).sum(axis=1))[:, None]
    learner = SVC(gamma=float(np.log(2) / 1.7))
    compare(learner, "C", [5e-324, 1.0], np.array([middle, middle + 10]), np.array([0, 1]), asked)


def test_a_value_that_cannot_be_fitted_does_not_end_the_sharing_of_others(monkeypatch):
    X, y = (part[:120] for part in TABLES["iris"])  # of unequal classes, so that 0.99 is infeasible
    fits = fits_of(monkeypatch, NuSVC(), "nu")
    found = compare(NuSVC(), "nu", [0.1, 0.3, 0.99], X, y, X)
    assert isinstance(found[2], ValueError)
    # The last three are those to compare with.
    assert fits == [0.99, 0.3, 0.1, 0.99, 0.1, 0.3, 0.99]


def test_other_columns_are_refused_as_by_a_separate_fit():
    X, y = TABLES["two classes"]
    compare(SVC(), "C", COSTS, X[:, :3], y, X[:, :1])
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    found = compare(SVC(), "C", COSTS, frame, y, frame.rename(columns={"b": "c"}))
    assert all(isinstance(each, ValueError) for each in found)


@pytest.mark.parametrize(
    ("learner", "param_name", "values"),
    [
        (SVC(kernel="linear"), "C", COSTS),
        (SVC(break_ties=True), "C", COSTS),
        (SVC(probability=True), "C", COSTS),
        (SVC(), "gamma", [0.1, 1.0]),
        (SVC(), "C", [True, 2.0]),
        (SVC(), "C", ["1", "2"]),
        (type("Own", (SVC,), {})(), "C", COSTS),
    ],
    ids=lambda part: str(part)[:40],
)
def test_what_the_kernel_depends_on_is_fitted_by_value(learner, param_name, values):
    assert path_for(learner, param_name, values) is None
