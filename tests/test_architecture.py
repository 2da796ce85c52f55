"""What holds the house up: the direction of imports, a light import, and the promise of every result."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import charts
from classay.result import Result

SOURCE = Path(classay.__file__).parent
# Lower floors first. A module may import from its own floor and from those below.
FLOORS = [
    {
        "arrays",
        "auc",
        "expect",
        "files",
        "seeds",
        "intervals",
        "notes",
        "printable",
        "private_apis",
        "result",
        "results",
        "frames",
        "inputs",
        "splits",
        "estimators",
        "tables",
    },
    {"regions"},
    {"engine"},
    {"learner", "data", "network", "classes"},
    {"charts"},
    {"report"},
    {"cli"},
]
ROOMS = FLOORS[3]


def floor_of(part: str) -> int:
    return next(number for number, parts in enumerate(FLOORS) if part in parts)


def imported_parts(path: Path) -> set[str]:
    """The parts of classay (first name after the package) that a file imports, at the top or inside functions."""
    package = ["classay", *path.relative_to(SOURCE).parent.parts]
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "classay" else [module]
        parts |= {name.split(".")[1] for name in names if name.startswith("classay.")}
    return parts - {"__version__"}


def source_files() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.name not in {"__main__.py"} and path.parent != SOURCE)


def folders() -> list[Path]:
    return sorted({path.parent for path in source_files()})


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", source_files(), ids=relative)
def test_imports_point_one_way(path):
    own = path.relative_to(SOURCE).parts[0]
    for part in imported_parts(path):
        assert floor_of(part) <= floor_of(own), f"{own} imports {part}, which stands above it"
        if own in ROOMS and part in ROOMS:
            assert part == own, f"the room {own} imports the room {part}"


@pytest.mark.parametrize("name", sorted(FLOORS[0]))
def test_the_ground_imports_nothing_above_it(name):
    file = SOURCE / f"{name}.py"
    for path in [file] if file.exists() else (SOURCE / name).glob("*.py"):
        assert imported_parts(path) <= FLOORS[0]


def test_the_check_of_imports_sees_relative_and_nested_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    (tmp_path / "learner").mkdir()
    file = tmp_path / "learner" / "x.py"
    file.write_text("from .. import expect\ndef f():\n    from ..charts.bias import g\n    import classay.cli\n")
    assert imported_parts(file) == {"expect", "charts", "cli"}


def ends_in_ing(path: Path) -> bool:
    """A gerund names what happens and not what is there; `fitting` is the word of the field."""
    return path.stem.endswith("ing") and path.stem != "fitting"


def twice(paths: list[Path]) -> dict[str, list[str]]:
    """Module names that a room (a first folder) has more than once, with where they are."""
    places: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        if path.stem != "__init__":
            places.setdefault((path.relative_to(SOURCE).parts[0], path.stem), []).append(relative(path))
    return {f"{room}: {name}": paths for (room, name), paths in places.items() if len(paths) > 1}


def private_imports(path: Path) -> list[str]:
    """Names with a leading underscore that a file imports from another folder, at the top or inside functions."""
    package = ["classay", *path.relative_to(SOURCE).parent.parts]
    crossing = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *(node.module.split(".") if node.module else [])]
            # Of its own folder are the names of a sibling, and those of the folder itself.
            own = module[:-1] == package or module == package
            private = [part for part in [*module, *(alias.name for alias in node.names)] if hidden(part)]
            if module[0] == "classay" and not own and private:
                crossing.append(f"from {'.'.join(module)} import {', '.join(alias.name for alias in node.names)}")
    return crossing


def hidden(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_module_is_a_gerund():
    assert [relative(path) for path in [*SOURCE.glob("*.py"), *source_files(), *folders()] if ends_in_ing(path)] == []


def test_no_module_name_appears_twice_in_a_room():
    assert twice(source_files()) == {}


@pytest.mark.slow
def test_no_private_name_is_imported_across_folders():
    assert {relative(path): names for path in source_files() if (names := private_imports(path))} == {}


def test_every_folder_says_what_is_in_it():
    assert [
        relative(path) for path in folders() if not ast.get_docstring(ast.parse((path / "__init__.py").read_text()))
    ] == []


def test_the_checks_of_names_see_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    for name in ("learner/fitting", "learner/sweep", "data"):
        (tmp_path / name).mkdir(parents=True)
    file = tmp_path / "learner" / "fitting" / "judging.py"
    file.write_text(
        "from ._near import _a\nfrom .near import _b\nfrom ..sweep.values import _c\nfrom ...seeds import _d\n"
        "from ..sweep._values import e\ndef f():\n    from classay.data.rows import _g\nfrom numpy import _h\n"
    )
    assert private_imports(file) == [
        "from classay.learner.sweep.values import _c",
        "from classay.seeds import _d",
        "from classay.learner.sweep._values import e",
        "from classay.data.rows import _g",
    ]
    assert [ends_in_ing(path) for path in (file, file.parent)] == [True, False]
    same = [tmp_path / name for name in ("learner/fitting/store.py", "learner/sweep/store.py", "data/store.py")]
    assert twice(same) == {"learner: store": ["learner/fitting/store.py", "learner/sweep/store.py"]}


# What the house may hold at most. Ceilings only fall, in the commit that makes room: a new feature pays with what it
# removes. Code are the lines that are neither blank, comment nor docstring.
CEILINGS = {
    "lines of src": 57_029,
    "lines of code": 39_310,
    "files of src": 270,
    "lines of tests": 39_310,
    "names at the top": 48,
    "files in a folder": 13,
    "longest file": 494,
}


def lines_of_code(path: Path) -> int:
    """Lines that are neither blank, comment nor docstring."""
    text = path.read_text()
    left = {
        number for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.strip().startswith("#")
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            left -= set(range(node.lineno, node.end_lineno + 1))
    return len(left)


def size_of_house() -> dict[str, int]:
    paths = sorted(SOURCE.rglob("*.py"))
    lines = {path: len(path.read_text().splitlines()) for path in paths}
    tests = Path(__file__).parent.rglob("*.py")
    return {
        "lines of src": sum(lines.values()),
        "lines of code": sum(map(lines_of_code, paths)),
        "files of src": len(paths),
        "lines of tests": sum(len(path.read_text().splitlines()) for path in tests),
        "names at the top": len(classay.__all__),
        "files in a folder": max(len(list(folder.glob("*.py"))) for folder in folders()),
        "longest file": max(lines.values()),
    }


@pytest.mark.slow
def test_the_house_only_gets_smaller():
    size = size_of_house()
    assert {name: number for name, number in size.items() if number > CEILINGS[name]} == {}, size


def test_lines_of_code_are_counted(tmp_path):
    file = tmp_path / "x.py"
    file.write_text('"""Doc\n\nstring."""\n\n# why\nx = """a\nb"""\n\n\ndef f():\n    """Doc."""\n    return x  # y\n')
    assert lines_of_code(file) == 4


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_is_light():
    code = (
        "import sys, classay; dir(classay);"
        "print(sorted({name.split('.')[0] for name in sys.modules} & "
        "{'torch', 'dask', 'distributed', 'altair', 'sklearn', 'pandas', 'numpy', 'scipy'}))"
    )
    assert printed(code) == "[]"


@pytest.mark.slow
def test_measuring_needs_no_charts():
    code = (
        "import sys, classay, numpy as np;"
        "L = classay.Labelings.from_arrays(np.random.default_rng(0).integers(2, size=(5, 2, 20)), [0, 1] * 10);"
        "classay.orientation(L); print('altair' in sys.modules, 'torch' in sys.modules, 'dask' in sys.modules)"
    )
    assert printed(code) == "False False False"


def test_every_public_name_is_there():
    for package in (classay, classay.results, charts):
        for name in package.__all__:
            assert getattr(package, name) is not None
        assert dir(package) == sorted(package.__all__)
        with pytest.raises(AttributeError, match="orientatoin"):
            package.orientatoin
    assert "__version__" in classay.__all__


@pytest.mark.parametrize("package", [classay, charts], ids=lambda package: package.__name__)
def test_public_names_are_no_modules(package):
    """A submodule, once imported, would take the place of the public name."""
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(package.__all__) - {"results"}


@pytest.mark.slow
def test_plotting_loads_the_chart_of_this_result_only():
    code = (
        "import sys, classay, numpy as np;"
        "c = classay.complexity(np.random.default_rng(0).normal(size=(60, 2)), [0, 1, 2] * 20); c.plot();"
        "print(sum(name.split('.')[0] == 'classay' for name in sys.modules))"
    )
    assert int(printed(code)) <= 60


def answers(seed: int = 0) -> classay.Labelings:
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=40)
    labels = np.where(rng.random((8, 3, 40)) < 0.2, 1 - truth, truth)
    return classay.Labelings.from_arrays(labels, truth)


def scored(seed: int = 0) -> classay.Labelings:
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=60)
    p = rng.beta(1 + truth, 2 - truth, size=(8, 3, 60))
    names = np.array(["<b>no</b>", "yes"])
    return classay.Labelings.from_arrays(names[(p > 0.5).astype(int)], names[truth], scores=p, name="<b>net</b>")


def scores(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(8), 5)
    return rng.normal(size=(40, 8)) + 2 * np.eye(8)[y], y


def learner_curve() -> classay.results.Curve:
    X, y = np.random.default_rng(0).normal(size=(80, 2)), np.arange(80) % 8
    return classay.accuracy_curve(X + 2 * y[:, None], y, learner=GaussianNB(), retrain=[2, 4], executor=1)


def numbers() -> classay.Predictions:
    rng = np.random.default_rng(0)
    return classay.Predictions.from_arrays(np.arange(40) + rng.normal(size=(8, 3, 40)), np.arange(40))


def complexity_of_rows() -> classay.results.Complexity:
    rows = np.random.default_rng(0).normal(size=(60, 2)) + [[3 * (i % 3), 0] for i in range(60)]
    return classay.complexity(rows, ["<b>a</b>", "b", "c"] * 20)


def walks(seed: int = 0) -> classay.results.Prototypes:
    """A record of prototypes as walks would make it: two starts, three classes, a seed and two cores of each."""
    rng = np.random.default_rng(seed)
    start, target, origin = (each.ravel() for each in np.meshgrid([0, 1], [0, 1, 2], [-1, 0, 1, 2], indexing="ij"))
    kept = target != origin
    m = int(kept.sum())
    return classay.results.Prototypes(
        features=(np.eye(3, 5)[target[kept]] + 0.1 * rng.random((m, 5))).astype(np.float32),
        target=target[kept], origin=origin[kept], start=start[kept], steps=np.full(m, 7), length=np.full(m, 2.0),
        distance=np.ones(m), loss=np.full(m, 0.01), converged=np.ones(m, bool), weight=np.eye(3, 5, dtype=np.float32),
        settings={"step": 0.3, "delta": 0.01, "input_shape": [4]}, about={"network": "<b>net</b>", "output": "softmax"},
    )  # fmt: skip


def leaning() -> classay.results.Preference:
    return classay.preference(
        DecisionTreeClassifier(), "x0 > 0.5", "x1 > 0.5", attributes=2, n_samples=30, budget=100, executor=1
    )


def watched() -> tuple[classay.results.Update, classay.results.Drift]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] > 0
    monitor = classay.DriftMonitor(DecisionTreeClassifier(), draws=40, n_probes=50, executor=1).fit(X[:150], y[:150])
    return monitor.update(X[150:], y[150:]), monitor.history


def assayed() -> classay.results.Characterization:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return classay.characterize(
        {"<b>tree</b>": DecisionTreeClassifier()}, X, y, splits=4, repeats=1, retrains=0, n_probes=20,
        executor=1,
    )  # fmt: skip


EXAMPLES = {
    "Characterization": assayed,
    "Report": lambda: assayed().report,
    "Curve": learner_curve,
    "UDistribution": lambda: classay.accuracy_curve(*scores(), name="<b>scores</b>").u_distribution(),
    "NestedAccuracy": lambda: classay.accuracy_curve(*scores(), name="<b>scores</b>").nested(20),
    "Plan": lambda: classay.accuracy_curve(*scores(), name="<b>scores</b>").plan(20),
    "RiskCurve": lambda: classay.accuracy_curve(*scores(), name="<b>scores</b>").risk(1 - np.eye(8), scores()[0]),
    "Information": lambda: classay.information(classay.accuracy_curve(*scores())),
    "Decoders": lambda: classay.information(
        {"<b>a</b>": classay.accuracy_curve(*scores(0)), "b": classay.accuracy_curve(*scores(1))}
    ),
    "Identification": lambda: classay.identify(
        np.random.default_rng(0).normal(size=(30, 2)), np.random.default_rng(1).normal(size=(30, 3))
    ),
    "Extrapolation": lambda: classay.extrapolate(classay.accuracy_curve(*scores()), [4, 100]),
    "Metrics": lambda: classay.metrics(scored()),
    "ScoreVariance": lambda: classay.metrics(scored()).score_variance(),
    "Retraining": lambda: classay.retraining(
        classay.Labelings.from_arrays(
            np.random.default_rng(0).random((6, 2, 50)) < 0.2, [False, True] * 25, retrained=0.1, name="<b>net</b>"
        )
    ),
    "Orientation": lambda: classay.orientation(answers()),
    "OrientationBySize": lambda: classay.orientation(answers(), [1, 2]),
    "PluginOrientation": lambda: classay.orientation(answers()).plugin,
    "Complexity": complexity_of_rows,
    "WrongLabels": lambda: complexity_of_rows().wrong_labels(),
    "VersusBaseline": lambda: complexity_of_rows().versus(["<b>a</b>", "b", "c"] * 20),
    "ComplexityAgainst": lambda: complexity_of_rows().against(np.arange(60) < 9),
    "UnlikeKnown": lambda: complexity_of_rows().unlike_known(np.full((3, 2), 99.0)),
    "Slices": lambda: classay.slices(
        pd.DataFrame({"age": range(400), "<b>job</b>": list("ab") * 200}), np.arange(400) < 90
    ),
    "Importance": lambda: classay.importance(
        GaussianNB(), load_iris(as_frame=True).data.rename(columns=lambda name: f"<b>{name}</b>"), load_iris().target
    ),
    "Leaks": lambda: classay.leaks(
        pd.DataFrame({"age": np.arange(60) % 7, "<b>code</b>": list("ab") * 30}), list("xy") * 30
    ),
    "Dependence": lambda: classay.dependence(
        pd.DataFrame({"<b>age</b>": np.random.default_rng(0).normal(size=60), "b": np.arange(60) % 7}), list("xy") * 30
    ),
    "Shift": lambda: classay.shift(
        pd.DataFrame({"<b>age</b>": np.arange(40.0)}), pd.DataFrame({"<b>age</b>": np.arange(30.0) + 100})
    ),
    "Stability": lambda: classay.stability(answers()),
    "StabilityTable": lambda: classay.stability({"a": answers(0), "<b>c</b>": answers(1)}),
    "Sweep": lambda: classay.sweep(
        DecisionTreeClassifier(),
        *load_iris(return_X_y=True),
        "max_depth",
        [1, 2, 0],
        classay.Subsets(5),
        2,
        executor=1,
        name="<b>tree</b>",
    ),
    "SweepComparison": lambda: EXAMPLES["Sweep"]().compare(),
    "RegressionStability": lambda: classay.stability(numbers()),
    "DisagreementRegions": lambda: classay.stability(
        classay.Labelings.from_arrays(np.arange(400) > 10 * np.arange(18, 34)[:, None], [0, 1] * 200)
    ).regions(pd.DataFrame({"<b>heat</b>": range(400), "hue": list("ab") * 200})),
    "Comparison": lambda: classay.compare(
        classay.Labelings.from_arrays([[0, 1] * 20], [0, 1] * 20, name="<b>old</b>"),
        classay.Labelings.from_arrays([[0, 1] * 18 + [1, 0, 1, 1]], [0, 1] * 20, name="new"),
    ),
    "Judges": lambda: classay.judges(
        pd.DataFrame({"<b>a</b>": [0, 1] * 10, "b": [0, 1, 1, 1] * 5}), rating=["<b>a</b>", "b"]
    ),
    "Repeats": lambda: classay.judges(answers()).repeats_needed(),
    "Preference": lambda: leaning(),
    "Preferences": lambda: classay.preference(
        {"<b>tree</b>": DecisionTreeClassifier()},
        "x0 > 0.5",
        "x1 > 0.5",
        attributes=2,
        n_samples=30,
        budget=100,
        executor=1,
    ),
    "Update": lambda: watched()[0],
    "Drift": lambda: watched()[1],
    "HeadQuality": lambda: classay.head_quality(np.eye(4)),
    "FeatureQuality": lambda: classay.feature_quality(walks().features, ["a", "<b>b</b>", "c"] * 6),
    "NetworkQuality": lambda: classay.network_quality(walks(), class_names=["a", "<b>b</b>", "c"]),
    "Ranking": lambda: classay.rank_networks({"<b>a</b>": walks(0), "b": walks(1)}, {"b": 0.9}, by="between"),
    "Kinship": lambda: classay.kinship({"a": answers(0), "b": answers(0), "<b>c</b>": answers(0)}),
}


def all_results() -> list[type[Result]]:
    for module in pkgutil.walk_packages(classay.__path__, "classay."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds: list[type[Result]] = []
    queue = [Result]
    while queue:
        queue += (children := queue.pop().__subclasses__())
        own = [child for child in children if child.__module__.startswith("classay.")]
        kinds += [child for child in own if not child.__subclasses__()]  # others are only what these share
    return kinds


@pytest.mark.slow
@pytest.mark.parametrize("kind", all_results(), ids=lambda kind: kind.__name__)
def test_results_keep_their_promise(kind):
    assert kind.__name__ in EXAMPLES, f"add an example of {kind.__name__} here"
    result = EXAMPLES[kind.__name__]()
    assert type(result) is kind
    assert dataclasses.is_dataclass(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(result, dataclasses.fields(kind)[0].name, None)

    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    assert isinstance(frame.index, pd.RangeIndex)
    assert "value" in frame.columns
    assert frame.columns.is_unique

    text = json.dumps(result.to_dict(), allow_nan=False)
    assert json.loads(text)
    if kind.to_dict is Result.to_dict:  # what is not shown, such as the record behind it, is not saved
        assert set(json.loads(text)) == {field.name for field in dataclasses.fields(kind) if field.repr}

    assert isinstance(result.plot(), alt.TopLevelMixin)
    with pytest.raises(classay.InputError, match="colour"):
        result.plot(colour="red")
    page = result._repr_html_()
    assert "<table" in page
    assert "data:image/svg+xml" in page
    assert "<b>" not in page
    assert result._repr_mimebundle_() == {"text/plain": str(result), "text/html": page}
    assert "\n" not in str(result).strip()
    assert "object at 0x" not in str(result)
    assert inspect.getdoc(kind)
