"""Learners written as text: what is understood, what is refused, and that nothing is run."""

import sys
import types

import pytest
from sklearn.svm import SVC

from classay.estimators.spec import LONGEST, SILENT, learner_from_text, learners_from_texts
from classay.expect import InputError


def refused(text: str, message: str, **options) -> None:
    with pytest.raises(InputError, match=message):
        learner_from_text(text, **options)


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        (" DecisionTreeClassifier ", "DecisionTreeClassifier", {"max_depth": None}),
        (
            "MLPClassifier( hidden_layer_sizes = (5, 3),alpha=1e-3, solver='sgd', shuffle=False)",
            "MLPClassifier(hidden_layer_sizes=(5, 3), alpha=0.001, solver='sgd', shuffle=False)",
            {"hidden_layer_sizes": (5, 3), "alpha": 0.001, "solver": "sgd", "shuffle": False},
        ),
        ("SVC(class_weight={0: 2.5, 1: 1})", None, {"class_weight": {0: 2.5, 1: 1}}),
        ("AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=2))", None, {"estimator__max_depth": 2}),
        ("VotingClassifier(estimators=[('a', GaussianNB()), ('b', SVC(C=3))])", None, {"b__C": 3}),
        (
            "BaggingClassifier(estimator=make_pipeline(PCA(n_components=2), SVC()))",
            None,
            {"estimator__pca__n_components": 2, "estimator__svc__C": 1.0},
        ),
        (
            "make_pipeline(StandardScaler(with_mean=False),LogisticRegression(C=.5))",
            "make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.5))",
            {"standardscaler__with_mean": False, "logisticregression__C": 0.5},
        ),
        ("AdaBoostRegressor(estimator=DecisionTreeRegressor(max_depth=2))", None, {"estimator__max_depth": 2}),
        ("TransformedTargetRegressor(regressor=Ridge(alpha=3))", None, {"regressor__alpha": 3}),
        ("StackingRegressor(estimators=[('a', Ridge()), ('b', SVR(C=3))])", None, {"a__alpha": 1.0, "b__C": 3}),
        (
            "BaggingRegressor(estimator=make_pipeline(StandardScaler(), Ridge()))",
            None,
            {"estimator__ridge__alpha": 1.0},
        ),
    ],
)
def test_what_a_text_describes(text, name, parameters):
    regressor = "Regressor" in text
    called, learner = learner_from_text(text, regressors=regressor)
    assert called == (text if name is None else name)
    assert {key: learner.get_params()[key] for key in parameters} == parameters
    if regressor:
        refused(text, "is a regressor; expected a classifier")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Rigde", r"'Rigde' is not a classifier or regressor of scikit-learn\. Did you mean Ridge"),
        ("RandomForestRegresor", "Did you mean RandomForestRegressor"),
        ("RandomForestClasifier", "Did you mean RandomForestClassifier"),
        ("make_pipeline(StandardScaler(), Rigde())", "Did you mean Ridge"),
        ("XGBRegresor", "Did you mean XGBRegressor"),
        ("StandardScaler", "StandardScaler is a transformer; expected a classifier or regressor"),
        ("BaggingClassifier(estimator=Ridge())", "Ridge is a regressor; expected a classifier"),
    ],
)
def test_unknown_names_suggest_regressors_where_these_are_accepted(text, message):
    refused(text, message, regressors=True)


@pytest.mark.parametrize("name", ["XGBRegressor", "LGBMRegressor", "CatBoostRegressor"])
def test_regressors_of_other_packages(name, monkeypatch):
    refused(name, f"{name} is a regressor; expected a classifier. Did you mean {name[:-9]}Classifier")
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    refused(name, f"{name} needs .*, which is not installed", regressors=True)


def test_names_are_normal_and_unique():
    learners = learners_from_texts(["SVC( )", "SVC(C=2.0)", "SVC", "SVC (C = 2.0)", "SVC()"])
    assert list(learners) == ["SVC", "SVC(C=2.0)", "SVC (2)", "SVC(C=2.0) (2)", "SVC (3)"]
    assert [learner.C for learner in learners.values()] == [1, 2, 1, 2, 1]
    assert len({id(learner) for learner in learners.values()}) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RandomForest", "not a classifier of scikit-learn. Did you mean RandomForestClassifier"),
        ("decisiontreeclassifier()", "Did you mean DecisionTreeClassifier"),
        ("zzz", r"There are AdaBoostClassifier, .* \(\d+ in all\)"),
        ("DecisionTreeRegressor", "is a regressor; expected a classifier. Did you mean DecisionTreeClassifier"),
        ("KNeighborsRegressor(n_neighbors=3)", "is a regressor.*Did you mean KNeighborsClassifier"),
        ("SVR", "is a regressor.*Did you mean SVC"),
        ("BaggingClassifier(estimator=DecisionTreeRegressor())", "is a regressor.*Did you mean DecisionTreeClassifier"),
        ("StandardScaler()", r"StandardScaler is a transformer.*make_pipeline\(StandardScaler\(\), "),
        ("BaggingClassifier(estimator=PCA())", "PCA is a transformer"),
        ("make_pipeline(SVC(), StandardScaler())", "SVC is a classifier; expected a transformer"),
        ("make_pipeline(StandardScaler(), PCA())", "PCA is a transformer; expected a classifier"),
        ("make_pipeline(StandardScalar(), SVC())", "not a transformer .*Did you mean StandardScaler"),
        ("make_pipeline(StandardScaler(), DecisionTreeRegressor())", "is a regressor"),
        ("make_pipeline()", "takes only its steps"),
        ("make_pipeline", "takes only its steps"),
        ("make_pipeline(SVC(), memory='here')", "takes only its steps"),
        ("make_pipeline(3, SVC())", "step '3' of make_pipeline"),
        ("SVC(kernal='rbf')", "SVC has no parameter 'kernal'. Did you mean kernel.* It has C, kernel, degree"),
        ("SVC(zzzzz=1)", r"no parameter 'zzzzz'\. It has C, "),
        ("SVC(2)", "was given '2' without a name"),
        ("SVC(*[1])", "without a name"),
        ("SVC(**{'C': 1})", "each argument once"),
        ("SVC(C=1, C=2)", "each argument once"),
        ("VotingClassifier()", "needs a value for estimators"),
        ("KNeighborsClassifier(n_neighbors=-5)", "does not accept its arguments: .*Got -5"),
        ("SVC(C='one')", "C of SVC is 'one'; expected no text"),
    ],
)
def test_what_is_refused_with_what_to_write(text, message):
    refused(text, message)


@pytest.mark.parametrize(
    "value",
    [
        "foo",
        "foo.bar",
        "1 if True else 2",
        "2 ** 3",
        "[x for x in [1]]",
        "lambda: 3",
        "print('run')",
        "__import__('os').system('echo run')",
        "(1).__class__",
        "f'{1}'",
        "[1, foo]",
        "{[]: 1}",
        "SVC().fit",
        "SVC(C=open('x'))",
    ],
)
def test_arguments_are_literals_and_never_run(value, capfd):
    refused(f"DecisionTreeClassifier(max_depth={value})", "a number, a quoted text.*Expressions are not run")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "text",
    ["", "  ", "a b", "SVC(", "SVC\0", "1", "sklearn.svm.SVC()", "(lambda: 1)()", "SVC(C=1)(C=2)", "a;b"],
)
def test_what_is_no_name(text):
    refused(text, "cannot be read|is not a name with or without arguments")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "SVC(C=" + "[" * 100 + "]" * 100 + ")",
        "SVC(C=" + "-" * 8000 + "1)",
        "SVC(C=" + "+".join("1" * 4000) + ")",
        "BaggingClassifier(estimator=" * 60 + "SVC()" + ")" * 60,
        "SVC(C=" + "9" * 6000 + ")",
        "x" * (LONGEST + 1),
        "a:" + "b(x=" * 2000,
    ],
    ids=["open", "lists", "minus", "plus", "learners", "digits", "long", "import"],
)
@pytest.mark.parametrize("allow_import", [False, True])
def test_long_and_deep_texts_do_no_harm(text, allow_import):
    with pytest.raises(InputError) as caught:
        learner_from_text(text, allow_import=allow_import)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("name", "package"),
    [("XGBClassifier", "xgboost"), ("LGBMClassifier", "lightgbm"), ("CatBoostClassifier", "catboost")],
)
def test_learners_of_other_packages(monkeypatch, name, package):
    monkeypatch.setattr("importlib.util.find_spec", lambda asked: None)
    refused(name, f"{name} needs {package}.*pip install {package}")

    class Stand(SVC):
        def __init__(self, C=1.0, **others):
            super().__init__(C=C)
            self.others = others

    module = types.ModuleType(package)
    setattr(module, name, Stand)
    monkeypatch.setitem(sys.modules, package, module)
    monkeypatch.setattr("importlib.util.find_spec", lambda asked: asked)
    found = learner_from_text(f"{name}(C=3, depth=2)")[1].others
    assert found == {**SILENT.get(package, {}), "depth": 2}
    assert learner_from_text(f"{name}(verbose=3)")[1].others["verbose"] == 3

    def broken(package):
        raise ImportError("libgomp.so.1 is missing")

    monkeypatch.setattr("importlib.import_module", broken)
    refused(name, f"{name} needs {package}, which cannot be imported: libgomp.so.1 is missing")


def test_learners_of_other_packages_as_they_are():
    pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    pytest.importorskip("xgboost", reason="XGBoost is not installed")
    assert learner_from_text("LGBMClassifier(num_leaves=5)")[1].get_params()["verbose"] == -1
    assert learner_from_text("XGBClassifier(max_depth=2)")[1].max_depth == 2


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of the user's own, which leaves a trace when it is imported."""
    (tmp_path / "own_learners.py").write_text(
        "import pathlib\n"
        "from sklearn.base import BaseEstimator, ClassifierMixin\n"
        "from sklearn.svm import SVC\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "pathlib.Path(__file__).with_name('imported').touch()\n"
        "class Mine(SVC):\n    pass\n"
        "class Plain(ClassifierMixin, BaseEstimator):\n"
        "    def __init__(self, C=1):\n        self.C = C\n"
        "    def fit(self, X, y):\n        return self\n"
        "    def predict(self, X):\n        return X\n"
        "def factory(C=4.0):\n    return SVC(C=C)\n"
        "def nothing():\n    return 3\n"
        "ready = SVC(C=9.0)\n"
        "number = 5\n"
    )
    (tmp_path / "broken_learners.py").write_text("raise RuntimeError('no luck')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("own_learners", None)


def test_code_is_imported_only_where_allowed(own):
    refused("own_learners:Mine(C=2)", "would import code from 'own_learners'. Add --allow-import")
    refused("os:system", "--allow-import")
    assert not (own / "imported").exists()
    name, learner = learner_from_text("own_learners:Mine( C = 2.0 )", allow_import=True)
    assert (own / "imported").exists()
    assert name == "own_learners:Mine(C=2.0)"
    assert type(learner).__name__ == "Mine"
    assert learner.C == 2


def test_factories_and_ready_learners(own):
    assert learner_from_text("own_learners:factory", allow_import=True)[1].C == 4
    assert learner_from_text("own_learners:factory(C=5.0)", allow_import=True)[1].C == 5
    assert learner_from_text("own_learners:ready", allow_import=True)[1].C == 9
    assert learner_from_text("own_learners:Plain(C=7)", allow_import=True)[1].C == 7
    assert learner_from_text("sklearn.tree:DecisionTreeClassifier()", allow_import=True)[0] == (
        "sklearn.tree:DecisionTreeClassifier"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no_such_module:Thing", "'no_such_module' cannot be imported: ModuleNotFoundError"),
        ("broken_learners:Thing", "cannot be imported: RuntimeError: no luck"),
        ("own_learners:Mines", "has no 'Mines'. Did you mean Mine"),
        ("own_learners:number", "is a int; expected a class or a function"),
        ("own_learners:ready(C=2)", "is a SVC; expected a class or a function"),
        ("own_learners:nothing", "gives a int; expected a classifier with `fit`"),
        ("own_learners:DecisionTreeRegressor", "is a regressor"),
        ("own_learners:factory(D=3)", "factory has no parameter 'D'"),
        ("own_learners:factory(C=print(1))", "Expressions are not run"),
        ("own_learners:ready.fit", "not a name"),
    ],
)
def test_imports_that_fail_say_why(own, text, message):
    refused(text, message, allow_import=True)


@pytest.mark.parametrize("setting", ["n_jobs=100000", "n_jobs=-100000"])
def test_a_number_of_threads_that_no_machine_has(setting):
    with pytest.raises(InputError, match="expected at most 1024 threads"):
        learner_from_text(f"RandomForestClassifier({setting})")


def test_a_number_can_be_the_name_of_a_file():
    pytest.importorskip("lightgbm")
    with pytest.raises(InputError, match="may not name files"):
        learner_from_text("LGBMClassifier(forced_splits=5)")
    with pytest.raises(InputError, match="not a parameter that a learner's text may set"):
        learner_from_text("LGBMClassifier(fs=5)")
    assert learner_from_text("LGBMClassifier(lambda_l1=5)")[1].get_params()["lambda_l1"] == 5
