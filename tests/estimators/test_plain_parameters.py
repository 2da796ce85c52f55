"""Parameters of learner texts: no class of scikit-learn, XGBoost, LightGBM or CatBoost takes a path, a URL or code."""

import importlib
import inspect
import re
import warnings

import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from classay.estimators.plain_parameters import DATA_TEXTS, WORDS, expect_plain, expect_plain_setting
from classay.estimators.spec import ELSEWHERE, learner_from_text
from classay.expect import InputError

HOSTILE = ["cache", "./cache", "/etc/passwd", "C:\\x", "https://example.org/x", "os:system", "x" * 5000, b"cache"]


def every_class():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {k for role in ("classifier", "transformer") for _, k in all_estimators(type_filter=role)}
        for name, package in ELSEWHERE.items():
            try:
                found.add(getattr(importlib.import_module(package), name))
            except ImportError:
                continue
    return sorted({*found, Pipeline}, key=lambda kind: kind.__name__)


CLASSES = every_class()


def named_parameters(kind):
    return [
        parameter
        for parameter in inspect.signature(kind).parameters.values()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_no_parameter_takes_a_path_a_url_or_code(kind):
    taken = set()
    for parameter in named_parameters(kind):
        for value in [*HOSTILE, [HOSTILE[0]], (HOSTILE[2],), {"file": HOSTILE[2]}, print, ..., 1j, {1}]:
            try:
                expect_plain(kind, parameter.name, value)
            except InputError:
                continue
            taken.add(parameter.name)
    assert taken <= DATA_TEXTS  # labels, names of columns and of parts: compared with the data, never opened


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_defaults_and_listed_words_are_taken(kind):
    for parameter in named_parameters(kind):
        if isinstance(parameter.default, (str, int, float, bool, tuple, type(None))):
            expect_plain(kind, parameter.name, parameter.default)
        for rule in getattr(kind, "_parameter_constraints", {}).get(parameter.name, ()):
            for word in getattr(rule, "options", ()):
                if isinstance(word, str) and word not in ("file", "filename"):
                    expect_plain(kind, parameter.name, word)


def test_the_names_of_memory_and_files_are_refused_whatever_the_value():
    for kind, name, value in [
        (Pipeline, "memory", "cache"),
        (SVC, "cache_dir", 1),
        (SVC, "forcedsplits_filename", 3),
        (SVC, "callbacks", []),
        (SVC, "num_machines", 2),
        (SVC, "save_snapshot", True),
    ]:
        with pytest.raises(InputError, match="cannot be set in a learner's text"):
            expect_plain(kind, name, value)
    expect_plain(Pipeline, "memory", None)


@pytest.mark.parametrize(
    "text",
    [
        "make_pipeline(FeatureAgglomeration(memory='cache'), GaussianNB())",
        "make_pipeline(HashingVectorizer(input='filename'), GaussianNB())",
        "make_pipeline(SelectFromModel(estimator=SVC(), importance_getter='x.y'), GaussianNB())",
        "BaggingClassifier(estimator=make_pipeline(FeatureAgglomeration(memory='cache'), GaussianNB()))",
        "SVC(kernel='/etc/passwd')",
        "SVC(class_weight={0: 'x'})",
        "SVC(random_state=b'x')",
        "SVC(C=99999999999999999999)",
    ],
)
def test_a_text_that_would_open_a_file_is_refused(text):
    with pytest.raises(InputError, match=r"expected|cannot be set in a learner's text"):
        learner_from_text(text)


def test_a_prepared_cache_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="memory of FeatureAgglomeration"):
        learner_from_text("make_pipeline(FeatureAgglomeration(memory='cache'), GaussianNB())")
    assert not list(tmp_path.iterdir())


def test_files_of_lightgbm_are_refused():
    pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    for argument in ("forcedsplits_filename='cache'", "forcedbins_filename='x'", "machines='a:1'", "num_machines=2"):
        with pytest.raises(InputError, match="cannot be set in a learner's text"):
            learner_from_text(f"LGBMClassifier({argument})")
    with pytest.raises(InputError, match="unheard"):
        learner_from_text("LGBMClassifier(unheard='of')")
    assert learner_from_text("LGBMClassifier(max_bin=63, metric='multi_logloss')")[1].get_params()["max_bin"] == 63


def test_files_of_xgboost_are_refused():
    pytest.importorskip("xgboost", reason="XGBoost is not installed")
    with pytest.raises(InputError, match="expected"):
        learner_from_text("XGBClassifier(tree_method='/etc/passwd')")
    learner = learner_from_text("XGBClassifier(tree_method='hist', objective='multi:softprob', device='cpu')")[1]
    assert learner.tree_method == "hist"


def test_the_message_names_what_is_possible():
    with pytest.raises(InputError) as caught:
        learner_from_text("SVC(kernel='rbv')")
    assert re.search("kernel of SVC is 'rbv'; expected .*'rbf'", str(caught.value))
    assert "Did you mean rbf" in str(caught.value)


def test_settings_of_a_sweep_follow_the_same_rule():
    learner = make_pipeline(SVC())
    expect_plain_setting(learner, "svc__kernel", "rbf")
    expect_plain_setting(learner, "svc__C", 0.1)
    for name, value in [("memory", "cache"), ("svc__kernel", "cache"), ("svc", "cache"), ("steps", "cache")]:
        with pytest.raises(InputError, match=f"{name.split('__')[-1]} of "):
            expect_plain_setting(learner, name, value)


def test_words_are_words():
    for names in WORDS.values():
        for words in names.values():
            assert all(re.fullmatch(r"[A-Za-z][\w:+-]*", word) for word in words)
