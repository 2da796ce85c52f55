"""A store gives a record only for its own request: swapped, edited or impossible files are reported and made again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError, Subsets, record, sweep
from classay.engine import archive
from classay.engine.store import DamagedRecordWarning, StoreFull

X, Y = load_iris(return_X_y=True)
FEW = Subsets(6, 0.3)
KEPT = {"scheme": FEW, "repeats": 2, "executor": 1}


def rewritten(path, address=None, **changes):
    """Write a file again, with a right checksum, after a change of some arrays or of parts of the header."""
    header, arrays = archive.read(path)
    content = {name: value for name, value in header.items() if name not in (*archive.RESERVED, archive.ADDRESS)}
    for name, change in changes.items():
        place = arrays if name in arrays else content
        place[name] = change(place[name])
    archive.write(path, header["kind"], content, arrays, address)


def files(store):
    return sorted(store.glob("*.classay"))


def same(one, other):
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.train_accuracy, other.train_accuracy)


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("labels", lambda labels: labels + 9),
        ("labels", lambda labels: labels - 4),
        ("labels", lambda labels: labels[:, :, :-1]),
        ("labels", lambda labels: labels[:3]),
        ("labels", lambda labels: labels.astype(float)),
        ("labels", lambda labels: labels[0]),
        ("truth", lambda truth: truth - 1),
        ("truth", lambda truth: truth[::-1].copy()),
        ("truth", lambda truth: truth + 5),
        ("classes", lambda classes: classes[:1].repeat(3)),
        ("classes", lambda classes: classes + 1),
        ("test_rows", lambda rows: rows[::-1].copy()),
        ("train_rows", lambda rows: rows - 999),
        ("train_sizes", lambda sizes: sizes + 1),
        ("train_accuracy", lambda accuracy: accuracy + 1),
        ("train_accuracy", lambda accuracy: accuracy[:, :0]),
        ("seconds", lambda seconds: -seconds - 1),
        ("probe_labels", lambda labels: labels + 9),
        ("probe_labels", lambda labels: labels[:, :, :1]),
        ("failures", lambda failures: [[99, 0, "no"]]),
        ("failures", lambda failures: [["a"]]),
        ("about", lambda about: {**about, "seed": 7}),
        ("about", lambda about: []),
        ("deterministic", lambda deterministic: "yes"),
        ("notes", lambda notes: 3),
    ],
)
def test_what_cannot_be_is_made_again(tmp_path, array, change):
    asked = {**KEPT, "store": tmp_path, "probes": X[:4]}
    right = record(RandomForestClassifier(2), X, Y, **asked)
    (path,) = files(tmp_path)
    rewritten(path, path.stem, **{array: change})
    with pytest.warns(DamagedRecordWarning, match="is not what belongs there"):
        same(record(RandomForestClassifier(2), X, Y, **asked), right)


def test_loading_such_a_file_says_so(tmp_path):
    path = record(DecisionTreeClassifier(), X, Y, **KEPT).save(tmp_path / "one.classay")
    rewritten(path, labels=lambda labels: labels + 9)
    with pytest.raises(InputError, match="predictions are out of range"):
        classay.load(path)


def test_of_a_regressor_too(tmp_path):
    asked = {**KEPT, "store": tmp_path}
    right = record(LinearRegression(), X, Y.astype(float), **asked)
    (path,) = files(tmp_path)
    rewritten(path, path.stem, values=lambda values: values + np.inf)
    with pytest.warns(DamagedRecordWarning, match="out of range"):
        again = record(LinearRegression(), X, Y.astype(float), **asked)
    np.testing.assert_array_equal(again.values, right.values)


def halted(store, monkeypatch, writes=5):
    """The parts of a sweep that was stopped."""
    left, real = [writes], archive.write

    def write(*given):
        if not left[0]:
            raise OSError(28, "the disk is full")
        left[0] -= 1
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr("classay.engine.store.write", write)
        with pytest.raises(StoreFull):
            sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], **KEPT, store=store)
    return sorted(store.glob("unfinished/*/[!.]*.classay"))


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("test", lambda labels: labels + 9),
        ("test", lambda labels: labels[:1]),
        ("quality", lambda quality: quality - 2),
        ("seconds", lambda seconds: seconds[:, :0]),
        ("errors", lambda errors: [[[77, "no"]] for _ in errors]),
        ("warnings", lambda warned: []),
    ],
)
def test_parts_that_cannot_be_are_made_again(tmp_path, monkeypatch, array, change):
    path = halted(tmp_path, monkeypatch)[1]
    rewritten(path, f"{path.parent.name}/{path.stem}", **{array: change})
    with pytest.warns(DamagedRecordWarning, match=r"is not what belongs there .* counts as missing"):
        found = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], **KEPT, store=tmp_path)
    assert found.values == (1, 2)


@pytest.mark.parametrize("change", [{"records": lambda keys: keys[::-1]}, {"failed": lambda _: [[9, "no"]]}])
def test_the_listing_of_another_sweep_is_made_again(tmp_path, change):
    asked = {"param_name": "max_depth", "param_range": [1, 2], **KEPT, "store": tmp_path}
    first = sweep(DecisionTreeClassifier(), X, Y, **asked)
    (listing,) = [path for path in files(tmp_path) if archive.read_header(path)["kind"] == "sweep"]
    rewritten(listing, listing.stem, **change)
    with pytest.warns(DamagedRecordWarning, match="is not what belongs there"):
        again = sweep(DecisionTreeClassifier(), X, Y, **asked)
    assert again.to_frame().equals(first.to_frame())
