"""Whether two checkouts of classay give the same figures, bit for bit, and whether the new reads what the old kept.

The same calls run in two processes, one for each checkout, with the same Python and the same seeds. Only public names
are used (`classay.__all__`, the command `python -m classay`), so that it does not matter where a checkout keeps its
files.

Compared as figures: numbers (floats by their bits), booleans, None, arrays (type, shape and a hash of the bytes), and
names, which are strings without a blank: classes, codes of findings, keys, verdicts, fingerprints. Not compared: texts
(strings with a blank, what stands under keys such as notes, title or sentence, and words in the tables of the page, of
which the numbers are compared), times, versions, and charts, which hold texts and are drawn from figures that are
compared. A figure of the old checkout that the new one lacks is a difference; one that only the new one has is counted
and is no difference.

Then the new checkout opens what the old one wrote: stores with finished and unfinished work, and saved files. Each is
either *read* (the same figures, with no more fits and no more files written than the old checkout needs to read its
own) or refused in a sentence, which is printed. A traceback, other figures, or fitting again without a word is a
failure. The exit code is 1 if anything differs or fails. Each side takes a minute of processor time.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import classay

TEXTS = {"notes", "note", "title", "sentence", "reference", "action", "why", "text", "lead", "absent", "error"}
TEXTS |= {"failed", "remarks", "command", "bought", "fitted"}
CHANGING = {"stages", "foreseen", "machine", "versions", "classay", "spec", "version", "evidence"}  # and seconds
NAMED = {"verdict", "favoured", "learner", "f1", "f2"}  # names that may have a blank
TORCH = importlib.util.find_spec("torch") is not None

# Threads that wait for one another on a busy machine would cost more than the figures.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

Figures = dict[str, list[Any]]  # path -> [leaf, how many values]
Call = Callable[[], Any]
CALLS: dict[str, Call] = {}


def call(name: str) -> Callable[[Call], Call]:
    def keep(function: Call) -> Call:
        CALLS[name] = function
        return function

    return keep


# --- what is compared ---


def figures(value: Any) -> Figures:
    """Every figure of a result by its path."""
    return {path: [leaf, count] for path, leaf, count in _leaves(value, "", "")}


def _leaves(value: Any, path: str, key: str) -> Iterator[tuple[str, str, int]]:
    if value is None or isinstance(value, (bool, np.bool_)):
        yield path, str(value), 1
    elif isinstance(value, (int, np.integer)):
        yield path, f"int {int(value)}", 1
    elif isinstance(value, (float, np.floating)):
        yield path, f"float {float(value).hex()}", 1
    elif isinstance(value, str):
        if value and (key in NAMED or not re.search(r"\s", value)):
            yield path, f"name {value}", 1
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16]
        yield path, f"array {value.dtype} {value.shape} {digest}", value.size
    else:
        for name, part in _parts(value):
            if name not in TEXTS and name not in CHANGING and "seconds" not in name:
                yield from _leaves(part, f"{path}.{name}" if path else name, key if name.isdigit() else name)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, pd.DataFrame):
        for place, name in enumerate(value.columns):
            again = list(value.columns[:place]).count(name)  # the table of regions has two columns `low`
            yield f"{name}{'~' * again}", value.iloc[:, place]
    elif isinstance(value, pd.Series):
        plain = pd.api.types.is_numeric_dtype(value.dtype) and not isinstance(value.dtype, pd.CategoricalDtype)
        yield ("values", value.to_numpy()) if plain else ("items", value.astype(object).tolist())
    elif isinstance(value, Mapping) and {"columns", "rows", "details"} <= value.keys():
        yield from _cells(value)
    elif isinstance(value, Mapping) and "seconds" in str(value.get("name")):
        pass  # a figure of the report that is a time
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name), part
    elif isinstance(value, (list, tuple, np.ndarray)):
        yield from _items(value)
    elif hasattr(value, "report") and hasattr(value, "parts"):  # the document of an assay, whatever is around it
        yield "report", value.report
    elif hasattr(value, "to_dict"):
        yield from value.to_dict().items()
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield field.name, getattr(value, field.name)
    else:
        raise TypeError(f"no figures are known of {type(value)}")


def _items(values: Any) -> Iterator[tuple[str, Any]]:
    """The items of a list by their place; findings, figures and sections of a report by what they are."""
    names: list[str] = []
    for place, part in enumerate(values):
        marks = ("code", "key", "of", "name") if isinstance(part, Mapping) else ()
        name = ":".join(str(part[mark]) for mark in marks if isinstance(part.get(mark), str)) or str(place)
        names.append(name)
        yield name + "~" * (names.count(name) - 1), part


def _cells(sheet: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The numbers in a table of the page. Settings are compared elsewhere."""
    yield "key", sheet["key"]
    yield "details", sheet["details"]
    if sheet["key"] != "settings":
        for number, row in enumerate(sheet["rows"]):
            for place, (column, cell) in enumerate(zip(sheet["columns"], row)):
                if not isinstance(cell, str) and "seconds" not in column:
                    yield f"{number}/{place}", cell


# --- data and learners ---


@cache
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)  # type: ignore[no-any-return]


@cache
def cancer() -> tuple[Any, Any]:
    return load_breast_cancer(return_X_y=True, as_frame=True)  # type: ignore[no-any-return]


@cache
def digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@cache
def mixed() -> tuple[pd.DataFrame, Any]:
    """A table with categories and gaps, and labels as words."""
    rng = np.random.default_rng(1)
    heat = rng.normal(size=240)
    alloy = rng.choice(["iron", "tin", "zinc"], 240)
    y = np.where(heat + (alloy == "tin") + 0.5 * rng.normal(size=240) > 0.3, "bad", "good")
    return pd.DataFrame({"heat": np.where(rng.random(240) < 0.05, np.nan, heat), "alloy": alloy}), y


@cache
def scores() -> tuple[Any, Any]:
    """Scores of 40 made-up classes."""
    rng = np.random.default_rng(2)
    y = np.arange(400) % 40
    return rng.normal(size=(400, 40)) + 2.2 * np.eye(40)[y], y


def small_forest(**more: Any) -> RandomForestClassifier:
    return RandomForestClassifier(**{"n_estimators": 8, **more})


class Picky(DecisionTreeClassifier):  # type: ignore[misc]  # scikit-learn has no types
    """A tree that refuses about one training set in six."""

    def fit(self, X: Any, y: Any) -> Picky:
        if int(np.asarray(X).sum() * 10) % 6 == 0:
            raise ValueError("these rows are refused")
        return super().fit(X, y)  # type: ignore[no-any-return]


class Fits:
    """How often scikit-learn's `fit` was called in this process. Call number `stop_at` is interrupted, as by Ctrl-C."""

    done = 0
    stop_at = 0

    @classmethod
    def count(cls, *learners: type) -> None:
        """Watch these classes, for good. They stay the same classes, which shared fits and stores ask for."""
        for learner in learners:
            cls._watch(learner, learner.fit)  # type: ignore[attr-defined]

    @classmethod
    def _watch(cls, learner: type, fit: Callable[..., Any]) -> None:
        @wraps(fit)
        def counted(*arguments: Any, **options: Any) -> Any:
            cls.done += 1
            if cls.done == cls.stop_at:
                raise KeyboardInterrupt
            return fit(*arguments, **options)

        learner.fit = counted  # type: ignore[attr-defined]


# --- the calls: learners ---


@cache
def tree_record() -> Any:
    return classay.record(DecisionTreeClassifier(), *iris(), classay.Subsets(20, size=0.3), repeats=3, executor=1)


@cache
def forest_record() -> Any:
    return classay.record(small_forest(), *iris(), classay.Subsets(20, size=0.3), repeats=3, executor=2)


@cache
def halves_record() -> Any:
    halves = classay.HalfSplits(8)
    return classay.record(DecisionTreeClassifier(), *cancer(), halves, 2, probes="uniform", n_probes=400, executor=1)


@cache
def regressor_record() -> Any:
    X, y = load_diabetes(return_X_y=True)
    halves = classay.HalfSplits(5)
    return classay.record(
        DecisionTreeRegressor(max_depth=4), X, y, halves, 2, probes="marginal", n_probes=100, executor=1
    )


call("record: tree, 20 subsets x 3")(tree_record)
call("record: forest, two workers")(forest_record)
call("record: half splits, uniform probes")(halves_record)
call("record: regressor, marginal probes")(regressor_record)


@call("record: given probes; deterministic")
def _() -> Any:
    X, y = iris()
    return classay.record(
        KNeighborsClassifier(3), X, y, classay.Subsets(12, 40, replace=False), 3, probes=X[:50], executor=1
    )


@call("record: refits that fail")
def _() -> Any:
    found = classay.record(Picky(), *iris(), classay.Subsets(30, size=0.3), repeats=2, executor=1)
    return {"record": found, "failures": [(each.subset, each.refit) for each in found.failures]}


@call("record: categories, encoded")
def _() -> Any:
    X, y = mixed()
    learner = classay.encoded(LogisticRegression(), X)
    found = classay.record(learner, X, y, classay.Subsets(10, size=0.5), 2, executor=1)
    # Where the encoder's functions are kept is told in `about`, and is no figure.
    return {"record": dataclasses.replace(found, about={}), "data": found.about["data"]}


@call("record: labelings from arrays")
def _() -> Any:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 60)
    labels = np.where(rng.random((10, 4, 60)) < 0.7, truth, rng.integers(0, 3, (10, 4, 60)))
    found = classay.Labelings.from_arrays(labels, truth)
    return {"record": found, "orientation": classay.orientation(found), "stability": classay.stability(found)}


@call("orientation: tree")
def _() -> Any:
    return classay.orientation(tree_record())


@call("orientation: forest, holdouts of 3, 90 %")
def _() -> Any:
    return classay.orientation(forest_record(), holdout_size=3, holdouts=60, random_state=5, level=0.9)


@call("orientation: on two classes")
def _() -> Any:
    return classay.orientation(halves_record(), holdout_size=10)


@call("stability: test points, probes, regions")
def _() -> Any:
    on_probes = classay.stability(halves_record())
    return {
        "test": classay.stability(tree_record()),
        "probes": on_probes,
        "regions": on_probes.regions(),
        "on test": classay.stability(halves_record(), on="test"),
    }


@call("stability: regressor")
def _() -> Any:
    return [classay.stability(regressor_record()), classay.stability(regressor_record(), on="test", tolerance=20)]


@call("stability: table of learners")
def _() -> Any:
    several = getattr(classay, "stabilities", classay.stability)
    return several({"tree": tree_record(), "forest": forest_record()})


@call("stability by size")
def _() -> Any:
    sizes, data = [15, 30, 60], (DecisionTreeClassifier(), *iris())
    if hasattr(classay, "stability_by_size"):
        found = classay.stability_by_size(*data, sizes=sizes, splits=8, n_probes=300, executor=1)
        return [list(part) for part in zip(found.stability, found.kappa, found.accuracy)]
    halves = {"scheme": classay.HalfSplits(8), "repeats": 1, "probes": "uniform", "n_probes": 300}
    found = classay.sweep(*data, "size", sizes, **halves, executor=1)
    each = [classay.stability(record) for record in found.records.values()]
    return [[one.stability, one.kappa, one.accuracy] for one in each]


@call("disagreement regions")
def _() -> Any:
    found = classay.stability(halves_record()).regions()
    return {"regions": found, "frame": found.to_frame(), "rows": [found.rows(i) for i in range(len(found.regions))]}


@call("kinship")
def _() -> Any:
    X, y = iris()
    bayes = classay.record(GaussianNB(), X, y, classay.Subsets(20, size=0.3), 3, executor=1)
    return classay.kinship({"tree": tree_record(), "forest": forest_record(), "bayes": bayes})


def swept(learner: Any, name: Any, values: Any, **more: Any) -> dict[str, Any]:
    options = {"scheme": classay.Subsets(8, size=0.4), "repeats": 2, "holdouts": 40, "executor": 1, **more}
    found = classay.sweep(learner, *iris(), name, values, **options)
    return {"sweep": found, "records": list(found.records.values()), "stability": found.ask(classay.stability)}


@call("sweep: tree, max_depth")
def _() -> Any:
    return swept(DecisionTreeClassifier(), "max_depth", [1, 2, 3, 6, None])


@call("sweep: forest, n_estimators")
def _() -> Any:
    return swept(RandomForestClassifier(), "n_estimators", [1, 3, 8], executor=2)


@call("sweep: forest, max_depth")
def _() -> Any:
    return swept(small_forest(), "max_depth", [1, 3])


@call("sweep: two parameters")
def _() -> Any:
    return swept(DecisionTreeClassifier(), ("max_depth", "min_samples_leaf"), ([1, 3], [1, 5]))


@call("sweep: neighbours in a pipeline")
def _() -> Any:
    return swept(
        make_pipeline(StandardScaler(), KNeighborsClassifier()), "kneighborsclassifier__n_neighbors", [1, 5, 9]
    )


@call("sweep: boosting, bagging")
def _() -> Any:
    return [
        swept(GradientBoostingClassifier(subsample=0.8), "n_estimators", [1, 4]),
        swept(AdaBoostClassifier(), "n_estimators", [1, 5]),
        swept(BaggingClassifier(), "n_estimators", [2, 5]),
    ]


@call("sweep: solver, kernel")
def _() -> Any:
    return [swept(LogisticRegression(), "max_iter", [3, 40, 200]), swept(SVC(), "C", [0.1, 1.0, 10.0])]


@call("sweep: values fitted one by one, one refused")
def _() -> Any:
    return swept(KNeighborsClassifier(), "n_neighbors", [1, 5, 1000], share_paths=False)


@call("sweep: with a store, and from it")
def _() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        first = swept(DecisionTreeClassifier(), "max_depth", [1, 2, 4], store=folder)
        again = swept(DecisionTreeClassifier(), "max_depth", [1, 2, 4], store=folder)
    return {"first": first, "again": again}


@call("preference")
def _() -> Any:
    return classay.preference(
        DecisionTreeClassifier(max_depth=2), "x0 > 0.5", "x0 > 0.3 and x1 > 0.3", n_samples=60, budget=120, executor=1
    )


@call("preferences, correlated columns")
def _() -> Any:
    learners = {"stump": DecisionTreeClassifier(max_depth=1), "bayes": GaussianNB()}
    several = getattr(classay, "preferences", classay.preference)
    return several(learners, "x0 > 0.5", "x1 > 0.5", correlation=0.6, n_samples=60, budget=60, executor=1)


def batch(rng: np.random.Generator, n: int, column: int) -> tuple[Any, Any]:
    X = rng.uniform(size=(n, 3))
    return X, X[:, column] + 0.2 * rng.normal(size=n) > 0.5


@call("drift monitor")
def _() -> Any:
    rng = np.random.default_rng(4)
    monitor = classay.DriftMonitor(DecisionTreeClassifier(max_depth=3), n_probes=300, executor=1)
    monitor.fit(*batch(rng, 450, 0), batch_size=75)
    updates = [monitor.update(*batch(rng, 75, column)) for column in (0, 0, 1)]
    return {"updates": updates, "history": monitor.history}


@call("memorizing classifier")
def _() -> Any:
    X, y = cancer()
    memory = classay.MemorizingClassifier(DecisionTreeClassifier(max_depth=3, random_state=0))
    for start in range(0, 400, 100):
        memory.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
    return {"history": memory.history_, "labels": memory.predict(X), "proba": memory.predict_proba(X)}


# --- the calls: data ---


@call("complexity: auto, and what is asked of it")
def _() -> Any:
    found = classay.complexity(*digits())
    asked = [found.hardest(30), found.suspects(), found.explain([0, 5], top=3), found.neighbours(), found.to_frame()]
    return {"complexity": found, "distances": found.distances, "asked": asked, "score": found.score(*digits())}


@call("complexity: every distance")
def _() -> Any:
    names = ("euclidean", "cosine", "mahalanobis", "correlation", "gaussian", "whitened_cosine")
    return {name: classay.complexity(*digits(), distance=name) for name in names}


@call("complexity: covariances, folds, the paper's")
def _() -> Any:
    X, y = iris()
    return {
        "covariances": [
            classay.complexity(X, y, "gaussian", covariance=each) for each in ("full", "shared", "diagonal")
        ],
        "paper": classay.complexity(X, y, "mahalanobis", cross_fit=False, temperature=1),
        "others": classay.complexity(X[::2], y[::2], X_eval=X[1::2], y_eval=y[1::2]),
        "words": classay.complexity(*cancer(), random_state=3),
    }


@call("baseline, geometry")
def _() -> Any:
    X, y = iris()
    baseline = classay.BaselineClassifier().fit(X[::2], y[::2])
    parts = classay.Geometry().partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    merged = classay.Geometry.fit(X[:60], y[:60]).merge(classay.Geometry.fit(X[60:], y[60:]))
    return {
        "threshold": classay.complexity(X, y).baseline_accuracy,
        "proba": baseline.predict_proba(X),
        "distances": baseline.distances(X),
        "geometries": [[each.counts, each.means, each.squares, each.pooled] for each in (parts, merged)],
    }


@cache
def errors() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 3000),
            "job": rng.choice(["clerk", "nurse", "pilot"], 3000),
            "pay": rng.normal(size=3000),
        }
    )
    return table, rng.random(3000) < np.where((table["age"] < 30) & (table["job"] == "pilot"), 0.5, 0.08)


@call("slices")
def _() -> Any:
    found = classay.slices(*errors())
    return {"slices": found, "frame": found.to_frame(), "rows": [found.rows(i) for i in range(len(found.slices))]}


# --- the calls: classes ---


@cache
def curve() -> Any:
    return classay.accuracy_curve(classay.Ranks.from_scores(*scores(), marginal=True))


def old(name: str) -> Any:
    """A verb of the older checkout that is a method or an option in the newer; None there."""
    return getattr(classay, name, None)


@call("accuracy curve: ties")
def _() -> Any:
    values, y = scores()
    rounded = np.round(values)
    ties = [classay.accuracy_curve(rounded, y, ties=each) for each in ("random", "wrong", "right")]
    return {"plain": curve(), "at": [curve().at(k) for k in (2, 10, 40)], "ties": ties}


@call("accuracy curve: chunks, embeddings, learner")
def _() -> Any:
    values, y = scores()
    chunks = ((values[at : at + 90], y[at : at + 90]) for at in range(0, 400, 90))
    ranks = classay.Ranks.from_chunks(chunks, classes=list(range(40)))
    arrays = ("truth", "lower", "tied", "z", "group", "detail", "lower_in", "tied_in", "sum_in", "square_in")
    X, labels = digits()
    softmax = LogisticRegression(max_iter=50)
    return {
        "ranks": [getattr(ranks, each) for each in arrays],
        "embeddings": classay.accuracy_curve(classay.Ranks.from_embeddings(X, labels)),
        "learner": classay.accuracy_curve(classay.Ranks.from_learner(GaussianNB(var_smoothing=0.01), X, labels)),
        "retrained": retrained(softmax, X, labels),
    }


def retrained(learner: Any, X: Any, y: Any) -> Any:
    """The curve of a learner, and of refits. Bundles of refits were results, and are not: their figures alone."""
    options = {"draws": 3, "executor": 1}
    if of_learner := old("curve_of_learner"):
        found = of_learner(learner, X, y, retrain=True, sizes=[2, 5], **options)
    else:
        found = classay.accuracy_curve(X, y, learner=learner, retrain=[2, 5], **options)
    return [found.accuracy, found.low, found.high, [(each.k, each.accuracy, each.draws) for each in found.retrained]]


@call("risk curve")
def _() -> Any:
    costs = np.random.default_rng(6).uniform(size=(40, 40)) * (1 - np.eye(40))
    values, y = scores()
    found = old("risk_curve")(values, y, costs) if old("risk_curve") else curve().risk(costs, values)
    return [found.risk, found.low, found.high]


@call("extrapolate: every method")
def _() -> Any:
    # Not `moments`: its mass above 1 is taken off now. `implied` is within 1e-15.
    methods = ("auto", "combined", "calibrated", "two_parameter")
    return {name: [classay.extrapolate(curve(), k, name) for k in (20, 100, 2000)] for name in methods}


@call("extrapolation, with its back-tests")
def _() -> Any:
    found = (old("extrapolation") or classay.extrapolate)(curve(), [100, 1000])
    figures = [found.estimates, found.path_k, found.path, found.trusted, found.back_tests]
    return [*figures, {name: found.by_method[name] for name in ("combined", "calibrated", "two_parameter")}]


@call("information and bounds")
def _() -> Any:
    small = classay.accuracy_curve(scores()[0][:, :10], scores()[1] % 10)
    bound = old("bayes_accuracy_bound") or (lambda each, **options: each.bayes_bound(**options))
    return {
        "figures": [information(each) for each in (curve(), small)],
        "jackknife": information(curve(), k=10, method="jackknife")[1],
        "bayes": [bound(curve()), bound(curve(), k=5, alpha=0.1, method="jackknife", tried=3)],
    }


def information(found: Any, **options: Any) -> list[Any]:
    """Implied information, the guaranteed bound and Fano's, in bits."""
    if old("implied_information") is None:
        both = classay.information(found, **options)
        return [both.implied, both.bound, both.fano]
    bound = classay.information_bound(found, **options)
    return [classay.implied_information(found).bits, bound.bits, classay.fano_information(found).bits]


@call("decoders")
def _() -> Any:
    rng, y = np.random.default_rng(7), np.arange(300) % 30
    noise = rng.normal(size=(300, 30))
    curves = {str(by): classay.accuracy_curve(noise + by * np.eye(30)[y], y) for by in (1, 2, 3)}
    if verb := old("decoders"):
        rows = [(each, each.implied.bits, each.bound.bits, each.fano.bits) for each in verb(curves).decoders]
    else:
        ranked = [(each, each.information) for each in classay.information(curves).decoders]
        rows = [(each, bits.implied, bits.bound, bits.fano) for each, bits in ranked]
    return [(each.name, each.accuracy, each.accuracy_in_common, each.ahead, *bits) for each, *bits in rows]


@call("identify: ridge, a regressor")
def _() -> Any:
    rng = np.random.default_rng(8)
    stimuli = rng.normal(size=(90, 6))
    responses = stimuli @ rng.normal(size=(6, 12)) + 3 * rng.normal(size=(90, 12))
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    net = classay.identify(stimuli, responses[:, :4], model=tree, test_size=0.3)
    return [
        (each.curve.accuracy, each.curve.low, each.curve.high, each.per_response, each.shrinkage)
        for each in (classay.identify(stimuli, responses), net)
    ]


# --- the calls: networks ---


@call("head quality, feature quality")
def _() -> Any:
    rng = np.random.default_rng(9)
    features, labels = np.abs(rng.normal(size=(60, 16))), np.arange(60) % 4
    weight = rng.normal(size=(10, 32)).astype(np.float32)
    head = rng.normal(size=(4, 16))
    return [
        classay.head_quality(weight),
        classay.head_quality(weight, rng.normal(size=10)),
        classay.feature_quality(features, labels),
        classay.feature_quality(features, labels, head),
    ]


SHAPE = (1, 4, 4)


def network(seed: int = 0) -> Any:
    import torch
    from torch import nn

    torch.manual_seed(seed)
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 3))


@cache
def walked() -> Any:
    return classay.prototypes(network(), SHAPE, starts=2, name="net")


if TORCH:
    call("prototypes")(walked)

    @call("network quality")
    def _() -> Any:
        return [classay.network_quality(walked()), classay.network_quality(network(1), SHAPE, starts=2)]

    @call("ranking of networks")
    def _() -> Any:
        networks = {name: network(seed) for seed, name in enumerate("abcd")}
        accuracy = dict(zip("abcd", (0.5, 0.7, 0.6, 0.9)))
        return classay.rank_networks(networks, accuracy, input_shape=SHAPE, starts=2, compare_fresh=False)


# --- the calls: report and command ---


def assayed(store: str | Path | None = None) -> Any:
    X, y = load_iris(return_X_y=True, as_frame=True)
    learners = {"tree": DecisionTreeClassifier(), "bayes": GaussianNB(), "forest": small_forest()}
    return classay.characterize(
        learners, X, y, splits=10, repeats=2, n_probes=300, executor=1, store=store, name="iris", budget=None
    )


@call("report: characterize, saved as JSON")
def _() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        found = assayed()
        saved = json.loads(found.save(Path(folder) / "iris.json").read_text())
    table = found.to_frame().query("not figure.str.contains('seconds')")
    return {"assay": found, "figures": table, "codes": [each.code for each in found.findings], "json": saved}


@call("report: ten classes, categories")
def _() -> Any:
    options: Any = {"splits": 4, "repeats": 2, "n_probes": 100, "retrains": 0, "executor": 1, "budget": None}
    X, y = mixed()
    return [
        classay.characterize({"bayes": GaussianNB(var_smoothing=0.01)}, *digits(), **options),
        classay.characterize({"tree": DecisionTreeClassifier()}, X, y, **options),
    ]


def command(*arguments: str) -> Any:
    run = subprocess.run(
        [sys.executable, "-m", "classay", *arguments, "--json", "--quiet"], capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"classay {' '.join(arguments)} left with {run.returncode}:\n{run.stderr}")
    return json.loads(run.stdout)


SAMPLES = "--samples" if importlib.util.find_spec("classay.cli.runner") else "--subsets"
"""What the number of training samples is called in this checkout."""


@call("command: classay learner")
def _() -> Any:
    names = ("tree=DecisionTreeClassifier", "bayes=GaussianNB")
    learners = [word for name in names for word in ("--learner", name)]
    content = command("learner", "iris", *learners, SAMPLES, "10", "--repeats", "2", "--workers", "1")
    # The figures of bias are a section of a learner's, which were all that there was.
    figures = {name: each.get("orientation", each) for name, each in content["learners"].items()}
    made = ("about", "seconds_per_fit", "failures")
    return [{name: each for name, each in one.items() if name not in made} for one in figures.values()]


@call("command: classay data")
def _() -> Any:
    content = command("data", "iris")
    return {name: content[name] for name in ("complexity", "wrong_labels", "confused", "hardest", "suspects")}


@call("command: classay sweep")
def _() -> Any:
    learner = ("--learner", "DecisionTreeClassifier", "--param", "max_depth", "--values", "1,3")
    (one,) = command("sweep", "iris", *learner, SAMPLES, "6", "--repeats", "2", "--workers", "1")["sweeps"].values()
    return {name: one[name] for name in ("parameters", "values", "figures", "comparison", "gap_correlation")}


# --- what the old checkout keeps and the new one opens ---


@dataclasses.dataclass(frozen=True)
class Kept:
    """Something on disk: what makes it in a folder, and what opens it there. Both give the same figures.

    `stop_at`: the fit at which work on a store is interrupted; None where it comes to its end.
    """

    write: Callable[[Path], Any]
    read: Callable[[Path], Any]
    stop_at: int | None = None


def asked(ask: Callable[[Path], Any], stop_at: int | None = None) -> Kept:
    """A store: the same question is asked twice."""
    return Kept(ask, ask, stop_at)


def saved(make: Call, load: Callable[[Path], Any], tell: Callable[[Any], Any] = lambda value: value) -> Kept:
    """One file."""

    def write(folder: Path) -> Any:
        value = make()
        value.save(folder / "saved.json")
        return tell(value)

    return Kept(write, lambda folder: tell(load(folder / "saved.json")))


def recorded(learner: Any, data: Callable[[], Any] = iris) -> Callable[[Path], Any]:
    X, y = data()
    return lambda folder: classay.record(learner, X, y, classay.Subsets(6, size=0.4), 2, executor=1, store=folder)


def kept_sweep(learner: Any, name: str, values: list[Any]) -> Callable[[Path], Any]:
    return lambda folder: swept(learner, name, values, store=folder)


def recorded_mixed(folder: Path) -> Any:
    learner = classay.encoded(DecisionTreeClassifier(), mixed()[0])
    return dataclasses.replace(recorded(learner, mixed)(folder), about={})


def learnt(monitor: Any) -> Any:
    """The next update of a monitor, and all before it."""
    rng = np.random.default_rng(11)
    return {"next": monitor.update(*batch(rng, 75, 1)), "history": monitor.history}


def monitor() -> Any:
    rng = np.random.default_rng(10)
    found = classay.DriftMonitor(DecisionTreeClassifier(max_depth=3), n_probes=200, executor=1)
    found.fit(*batch(rng, 300, 0), batch_size=75).update(*batch(rng, 75, 0))
    return found


def geometry_figures(geometry: Any) -> Any:
    return [geometry.classes, geometry.counts, geometry.means, geometry.squares, geometry.pooled]


def all_kept() -> dict[str, Kept]:
    tree = DecisionTreeClassifier()
    found = {
        "store: record": asked(recorded(tree)),
        "store: record, categories encoded": asked(recorded_mixed),
        "store: record, unfinished": asked(recorded(tree), 8),
        "store: sweep along a tree's depth": asked(kept_sweep(tree, "max_depth", [1, 2, 4])),
        "store: sweep of a forest": asked(kept_sweep(small_forest(), "n_estimators", [1, 3, 6])),
        "store: sweep, value by value": asked(kept_sweep(tree, "min_samples_leaf", [1, 5])),
        "store: sweep, unfinished": asked(kept_sweep(tree, "max_depth", [1, 2, 4]), 10),
        "store: characterize": asked(assayed),
        "file: Labelings": saved(tree_record, classay.load),
        "file: Labelings with probes": saved(halves_record, classay.load),
        "file: Predictions": saved(regressor_record, classay.load),
        "file: Ranks": saved(lambda: curve().ranks, classay.Ranks.load),
        "file: Geometry": saved(lambda: classay.Geometry.fit(*iris()), classay.Geometry.load, geometry_figures),
        "file: DriftMonitor": saved(
            monitor,
            lambda path: classay.DriftMonitor.load(path, DecisionTreeClassifier(max_depth=3), executor=1),
            learnt,
        ),
        "file: report as JSON": saved(lambda: assayed().report, getattr(classay, "open_report", None) or classay.load),
    }
    if TORCH:
        found["store: prototypes"] = asked(lambda folder: classay.prototypes(network(), SHAPE, starts=2, store=folder))
        found["file: Prototypes"] = saved(walked, getattr(classay, "results", classay).Prototypes.load)
    return found


def write_kept(kept: Kept, folder: Path, copy: Path) -> dict[str, Any]:
    """Make it: its figures, how many fits that took, and what this checkout itself does to open a copy of it."""
    folder.mkdir()
    Fits.done = 0
    if kept.stop_at is None:
        value = kept.write(folder)
    else:
        with tempfile.TemporaryDirectory() as other:
            value = kept.write(Path(other))
    found = {"figures": figures(value), "all fits": Fits.done}
    if kept.stop_at is not None:
        Fits.done, Fits.stop_at = 0, kept.stop_at
        try:
            kept.write(folder)
        finally:
            Fits.stop_at = 0
        if Fits.done < kept.stop_at:
            raise RuntimeError("the work was not interrupted")
    shutil.copytree(folder, copy)
    return {**found, "own": read_kept(kept, copy)}


def read_kept(kept: Kept, folder: Path) -> dict[str, Any]:
    """Open it: the figures, fits, files that were written, and sentences on the store; or the sentence of refusal."""
    before = listing(folder)
    Fits.done = 0
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            value = kept.read(folder)
        except classay.InputError as error:
            return {"refused": str(error)}
    sentences = [str(each.message) for each in heard if "store" in str(each.message) or "ersion" in str(each.message)]
    sentences += [text for text in notes_of(value) if "store" in text]
    return {
        "figures": figures(value),
        "fits": Fits.done,
        "files written": len(listing(folder) - before),
        "sentences": sentences,
    }


def listing(folder: Path) -> set[Any]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {(str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def notes_of(value: Any) -> list[str]:
    parts = value.values() if isinstance(value, dict) else [value]
    return [str(text) for part in parts for text in getattr(part, "notes", ())]


# --- one side ---


def side(src: str, role: str, only: str, kept_folder: str, out: str) -> None:
    """All calls with one checkout, in its own process. The results go to a JSON file."""
    if not Path(classay.__file__).is_relative_to(src):
        sys.exit(f"classay was imported from {classay.__file__}, not from {src}.")
    warnings.simplefilter("ignore")
    Fits.count(DecisionTreeClassifier, RandomForestClassifier, GaussianNB)
    results: dict[str, Any] = {}
    for name, function in CALLS.items():
        if only in name:
            results[name] = tried(figures_of, function)
    for number, (name, kept) in enumerate(all_kept().items()):
        if only in name:
            folder = Path(kept_folder) / str(number)
            if role == "old":
                results[name] = tried(write_kept, kept, folder, folder.with_suffix(".copy"))
            else:
                results[name] = tried(read_kept, kept, folder)
    Path(out).write_text(json.dumps(results))


def figures_of(function: Call) -> dict[str, Any]:
    return {"figures": figures(function())}


def tried(function: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    begin = time.process_time()
    try:
        found = function(*arguments)
    except Exception:
        found = {"traceback": traceback.format_exc()}
    return {**found, "cpu": time.process_time() - begin}


# --- both sides ---


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example:\n  python benchmarks/same_bits.py --old ../classay-9826cf1",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    here = Path(__file__).resolve().parent
    parser.add_argument("--old", type=Path, required=True, help="the old checkout, or its folder src")
    parser.add_argument("--new", type=Path, default=here.parent, help="the new one. Default: this checkout")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the Python that runs both")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the calls with this text in their name")
    parser.add_argument("--times", action="store_true", help="show the processor seconds of each call")
    options = parser.parse_args()
    sources = {"old": source(parser, options.old), "new": source(parser, options.new)}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept"
        kept.mkdir()
        found = {}
        for role, src in sources.items():
            out = Path(folder) / f"{role}.json"
            begin = sum(os.times()[2:4])
            run_side(options.python, [str(src), role, options.only, str(kept), str(out)], here)
            found[role] = json.loads(out.read_text())
            print(f"{role}: {src}, {sum(os.times()[2:4]) - begin:.0f} s of processor time", flush=True)
    sys.exit(1 if compare(found["old"], found["new"], options.times) else 0)


def source(parser: argparse.ArgumentParser, given: Path) -> Path:
    src = given.resolve()
    src = src / "src" if (src / "src").is_dir() else src
    if not (src / "classay" / "__init__.py").is_file():
        parser.error(f"{given} holds neither classay/ nor src/classay/; a checkout or its src is expected.")
    return src


def run_side(python: Path, arguments: list[str], here: Path) -> None:
    # Imported, not run as a script, so that classes of this file have an address that workers and stores can use.
    with tempfile.TemporaryDirectory() as empty:
        run = subprocess.run(
            [python, "-c", "import sys, same_bits; same_bits.side(*sys.argv[1:])", *arguments],
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join([arguments[0], str(here)])},
            cwd=empty,
            check=False,
        )
    if run.returncode:
        sys.exit(f"the side {arguments[1]} ({arguments[0]}) did not come to its end")


def compare(old: dict[str, Any], new: dict[str, Any], times: bool) -> int:
    """Print one line for each call; how many are not as they should be."""
    wrong, values = 0, 0
    for name, before in old.items():
        good, count, line = verdict(before, new[name])
        wrong += not good
        values += count
        cpu = f"{before['cpu']:7.2f}{new[name]['cpu']:7.2f}" if times else ""
        print(f"{'  ' if good else '✗ '}{name:<48}{count:>9,}{cpu}  {line}")
    print(f"\n{len(old)} calls, {values:,} values compared; differ or fail: {wrong}.")
    return wrong


def verdict(before: dict[str, Any], after: dict[str, Any]) -> tuple[bool, int, str]:
    """Whether it is as it should be, how many values were compared, and what to say."""
    for side_name, found in (("old", before), ("new", after)):
        if "traceback" in found:
            return False, 0, f"{side_name} fails: {found['traceback'].strip().splitlines()[-1]}\n{found['traceback']}"
    if "refused" in after:
        return True, 0, f"refused: {after['refused']}"
    was, now = before["figures"], after["figures"]
    count = sum(size for _, size in was.values())
    gone = [path for path in was if path not in now]
    changed = [path for path in was if path in now and was[path] != now[path]]
    parts = [(gone, "are absent"), (changed, "differ")]
    if gone or changed:
        lists = (
            f"{len(paths)} {what}: {'; '.join(shown(path, was, now) for path in paths[:3])}"
            for paths, what in parts
            if paths
        )
        return False, count, f"of {len(was)}, " + ", ".join(lists)
    more = len(now) - len(was)
    same = "same" + (f", {more} only in the new" if more else "")
    if "fits" not in after:
        return True, count, same
    return kept_verdict(before, after, count, same)


def kept_verdict(before: dict[str, Any], after: dict[str, Any], count: int, same: str) -> tuple[bool, int, str]:
    fits, own = after["fits"], before["own"]
    if fits <= own["fits"] and after["files written"] <= own["files written"]:
        rest = f", {fits} of {before['all fits']} fits were left to do" if fits else ""
        return True, count, f"read: {same}{rest}"
    done = f"{fits} fits, {after['files written']} files written"
    if after["sentences"]:
        return True, count, f"not read ({done}): {same}; it says: {' '.join(after['sentences'])}"
    return False, count, f"not read, without a word ({done}): {same}"


def shown(path: str, was: Figures, now: Figures) -> str:
    def plain(found: Figures) -> str:
        if path not in found:
            return "absent"
        kind, _, text = found[path][0].partition(" ")
        return f"{float.fromhex(text)!r} ({text})" if kind == "float" else found[path][0]

    return f"{path}: {plain(was)} → {plain(now)}"


if __name__ == "__main__":
    main()
