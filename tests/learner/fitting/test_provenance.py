"""What a record says of itself: everything that decides what it holds, and nothing else."""

import json
import math
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest
from rough_learners import Centroids, Duck, Tallied
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from classay import HalfSplits, InputError, Subsets
from classay.engine.store import Store
from classay.learner.fitting import provenance
from classay.learner.fitting.checks import Setup
from classay.learner.fitting.provenance import fingerprint

X = np.arange(12.0).reshape(6, 2)
FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.5, np.nan, -0.5]})
CSR = sparse.csr_matrix(X)


def told(learner, name=None, rows=X, labels=(0, 1, 0, 1, 0, 1), probes=None, scheme=None, repeats=5, test=0.2, seed=0):
    labels = np.asarray(labels)
    setup = Setup(
        learner, rows, labels, None, labels, probes, (), seed, None,
        codes=labels, train=labels, scheme=scheme or Subsets(), repeats=repeats, test_size=test,
    )  # fmt: skip
    return provenance.about(setup, learner, name)


def key(learner, time_limit=None, **options):
    return Store.key(provenance.address(told(learner, **options), time_limit))


# Fingerprints


def changed(array, place, value):
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (X, changed(X, (2, 1), np.nextafter(5, 6))),
        (X, X[::-1]),
        (X, X[:, ::-1]),
        (X, X.T.reshape(2, 6)),
        (X, X.reshape(3, 4)),
        (X, X.astype(np.float32)),
        (X, X.astype(int)),
        (X, X.astype(object)),
        (np.array(["ab", "c"]), np.array(["a", "bc"])),
        (np.array(["ab", "c"], object), np.array(["a", "bc"], object)),
        (np.array(["a", "b"], object), np.array(["b", "a"], object)),
        (FRAME, FRAME[::-1]),
        (FRAME, FRAME[["b", "a", "c"]]),
        (FRAME, FRAME.rename(columns={"a": "z"})),
        (FRAME, FRAME.astype({"a": float})),
        (FRAME, FRAME.astype({"b": "category"})),
        (FRAME, FRAME.assign(b=["x", "y", "z"])),
        (FRAME, FRAME.assign(c=[0.5, 0.0, -0.5])),
        (FRAME, FRAME.iloc[:2]),
        (CSR, changed(CSR.toarray(), (0, 1), 7)),
        (CSR, sparse.csr_matrix(changed(X, (0, 1), 7))),
        (CSR, sparse.csr_matrix(X[:, ::-1])),
        (CSR, CSR.astype(np.float32)),
        (CSR, sparse.csr_matrix((CSR.data, CSR.indices, CSR.indptr), shape=(6, 3))),
    ],
)
def test_a_fingerprint_changes_with_everything(one, other):
    assert fingerprint(one) != fingerprint(other)


def test_a_fingerprint_does_not_change_with_what_makes_no_difference():
    assert fingerprint(X) == fingerprint(np.asfortranarray(X)) == fingerprint(np.repeat(X, 2, axis=0)[::2])
    assert fingerprint(FRAME) == fingerprint(FRAME.set_index(pd.Index([7, 8, 9]))) == fingerprint(FRAME.copy())
    assert fingerprint(np.array(["a", "b"], object)) == fingerprint(np.array(["a", "b"], object))


@pytest.mark.slow
def test_a_fingerprint_is_the_same_in_every_process():
    program = (
        "import numpy as np, pandas as pd; from classay.learner.fitting.provenance import fingerprint;"
        "print(fingerprint(np.arange(12.0).reshape(6, 2), np.array(['a', 'b'], object), pd.DataFrame("
        "{'a': [1, 2, 3], 'b': ['x', 'y', None], 'c': [0.5, np.nan, -0.5]})))"
    )
    command = [sys.executable, "-c", program]
    prints = {
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout.strip()
        for seed in ("1", "2")
    }
    assert prints == {fingerprint(X, np.array(["a", "b"], object), FRAME)}


# Learners


def test_a_learner_with_its_parameters():
    about = told(KNeighborsClassifier(np.int64(3), p=np.float64(1)))["learner"]
    assert about["class"] == "sklearn.neighbors._classification.KNeighborsClassifier"
    assert about["parameters"]["n_neighbors"] == 3
    assert type(about["parameters"]["n_neighbors"]) is int
    assert about["parameters"]["metric_params"] is None
    assert about["version"].count(".") >= 1


@pytest.mark.parametrize(
    "value",
    [
        *[None, True, 3, 2.5, "text", math.inf, math.nan, np.float32(0.1), np.int8(3), np.bool_(True), np.str_("text")],
        *[(1, 2), [1, "a"], {"a": 1, 2: "b"}, {1, 2}, b"bytes", range(5), slice(3), 10**30, 1j],
        *[np.arange(3), pd.Series([1]), FRAME, CSR, pd.Index([1, 2])],
        *[
            len,
            np.log1p,
            math.sqrt,
            GaussianNB,
            GaussianNB(),
            RBF(2.0),
            StratifiedKFold(3),
            Duck(),
            lambda: 0,
            object(),
        ],
    ],
)
def test_every_parameter_becomes_json(value):
    about = told(Tallied("path", power=value))
    json.dumps(about, allow_nan=False)


class Opaque:
    def method(self, rows):
        return rows


class Unwritten:
    def __repr__(self):
        return "<something>"


class Short:
    def __repr__(self):
        return "[1, 2, ..., 9]"


@pytest.mark.parametrize(
    "value",
    [
        *[lambda rows: rows, object(), Opaque(), Opaque().method, Unwritten(), Short(), np.random.RandomState(0)],
        *[np.random.default_rng(0), (1, [2, {"a": object()}]), GaussianNB(priors=object())],
        FunctionTransformer(lambda rows: rows),
    ],
)
def test_what_has_no_stable_description_has_no_address(value):
    about = told(Tallied("path", power=value))
    with pytest.raises(
        InputError, match=r"no stable description: .*Use a named function or a plain value, or store=None"
    ):
        provenance.address(about, None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, True),
        (1, 1.0),
        (1, "1"),
        (None, "None"),
        (0.1, np.float32(0.1)),
        (math.nan, "nan"),
        (math.inf, "inf"),
        ({0: 1.0}, {"0": 1.0}),
        ({0: 1.0, 1: 2.0}, {0: 2.0, 1: 1.0}),
        (np.arange(2000), changed(np.arange(2000), 1000, 7)),
        (list(range(2000)), [*range(1999), 7]),
        (pd.Series(np.arange(2000)), pd.Series(changed(np.arange(2000), 1000, 7))),
        (pd.Series([1.00000001]), pd.Series([1.00000002])),
        (pd.Index(np.arange(2000)), pd.Index(changed(np.arange(2000), 1000, 7))),
        (FRAME, FRAME[::-1]),
        (CSR, sparse.csr_matrix(changed(X, (0, 1), 7))),
        (len, np.log1p),
        (StratifiedKFold(3), StratifiedKFold(4)),
        (GaussianNB, GaussianNB()),
        (GaussianProcessClassifier(RBF(2.0)), GaussianProcessClassifier(RBF(3.0))),
    ],
)
def test_other_parameters_are_another_address(one, other):
    assert key(Tallied("path", power=one)) != key(Tallied("path", power=other))


def written(tmp_path, source, name):
    """A module from a file, as a user writes and changes it."""
    (tmp_path / f"{name}.py").write_text(source)
    module = types.ModuleType(name)
    module.__file__ = str(tmp_path / f"{name}.py")
    exec(compile(source, module.__file__, "exec"), vars(module))
    return module


@pytest.mark.parametrize("what", ["class", "base class", "function", "inner function", "constant"])
def test_another_source_is_another_address(what, tmp_path, monkeypatch):
    keys = []
    for version in (1, 2):
        folder = tmp_path / str(version)
        folder.mkdir()
        source = (
            "from sklearn.naive_bayes import GaussianNB\n"
            f"class Mine(GaussianNB):\n    level = {version if what in ('class', 'base class') else 0}\n"
            f"LEVEL = {version if what == 'constant' else 0}\n"
            f"def inner(rows):\n    return rows + {version if what == 'inner function' else 0} + LEVEL\n"
            f"def clean(rows):\n    return inner(rows) + {version if what == 'function' else 0}\n"
            "class Child(Mine):\n    def fit(self, X, y):\n        return super().fit(clean(X), y)\n"
        )
        module = written(folder, source, "a_module_of_mine")
        monkeypatch.setitem(sys.modules, "a_module_of_mine", module)
        learner = {
            "class": module.Mine,
            "function": lambda: make_pipeline(FunctionTransformer(module.clean), GaussianNB()),  # noqa: B023
        }.get(what, module.Child)()
        keys.append(key(learner))
        assert key(learner) == keys[-1]
    assert keys[0] != keys[1]


def test_what_transformers_give_is_in_the_address():
    learner = make_pipeline(FunctionTransformer(), GaussianNB())
    assert key(learner) != key(clone(learner).set_output(transform="pandas"))


def test_a_class_whose_module_is_gone_can_be_recorded_but_not_stored():
    Lost = type("Lost", (Centroids,), {"__module__": "nowhere.at_all"})
    about = told(Lost())
    assert about["learner"]["class"] == "nowhere.at_all.Lost"
    with pytest.raises(InputError, match="source of Lost"):
        provenance.address(about, None)


def test_the_address_ignores_the_name_and_nothing_else():
    base = key(GaussianNB())
    assert key(GaussianNB(), name="mine") == base
    others = [
        key(LogisticRegression()),
        key(GaussianNB(var_smoothing=1e-8)),
        key(GaussianNB(), rows=X + 1),
        key(GaussianNB(), labels=(0, 1, 0, 1, 1, 1)),
        key(GaussianNB(), labels=("0", "1", "0", "1", "0", "1")),
        key(GaussianNB(), probes=X[:2]),
        key(GaussianNB(), probes=X[:3]),
        key(GaussianNB(), scheme=Subsets(99)),
        key(GaussianNB(), scheme=Subsets(100, 0.16)),
        key(GaussianNB(), scheme=Subsets(100, 0.15, False)),
        key(GaussianNB(), scheme=HalfSplits(50)),
        key(GaussianNB(), repeats=6),
        key(GaussianNB(), test=0.3),
        key(GaussianNB(), seed=1),
        key(GaussianNB(), time_limit=3.0),
    ]
    assert len({base, *others}) == 1 + len(others)


# Names
