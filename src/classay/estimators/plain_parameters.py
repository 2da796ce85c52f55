"""Which values parameters in a learner's text may have, so that a text can open no file and run no code.

An allow-list, by type: numbers, booleans, None, learners, lists of these, and the words that a parameter lists itself.
scikit-learn lists them in `_parameter_constraints`; those of XGBoost, LightGBM and CatBoost are listed here. Free text
is accepted only where it is compared with the data: labels, categories, names of columns.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from ..expect import InputError, nearest, short, shown
from ..private_apis import constraints_of

DATA_TEXTS = {
    "categorical_features",
    "categories",
    "constant",
    "estimators",
    "fill_value",
    "missing_values",
    "outlier_label",
    "pos_label",
    "separator",
    "stop_words",
}
"""Parameters of scikit-learn whose text is a label, a category, or the name of a column or part."""
DATA_KEYS = {"class_weight", "class_weights", "monotonic_cst", "monotone_constraints"}
"""Parameters whose mappings have labels or names of columns as keys; others have names of numbers."""
REFUSED = re.compile(
    r"(^|_)(files?|filename|path|dir|directory|folder|url|machines?|port|snapshot|callbacks?|plugin|writing)($|_)"
    r"|forced_?splits|forced_?bins|(^|_)(data|input|output|model|config)$"
    r"|^(memory|cache|machine_list|metadata)$"
)
"""Names of parameters that write or read files, connect to machines or call back, in whichever library."""
HARMLESS = {"fit_path", "path_method"}
OPENS_FILES = {"file", "filename"}
"""Words that scikit-learn lists, but that open the files whose names are in the data."""
LONGEST, LARGEST = 200, 2**63
THREADS, MOST_THREADS = (
    {"n_jobs", "n_thread", "n_threads", "num_thread", "num_threads", "nthread", "thread_count"},
    1024,
)
"""Names of parameters that are a number of threads, and the most: libraries crash with more than a system has."""

XGBOOST = {
    "booster": ["gbtree", "gblinear", "dart"],
    "device": ["cpu", "cuda", "gpu"],
    "eval_metric": ["logloss", "mlogloss", "error", "merror", "auc", "aucpr", "rmse", "mae"],
    "grow_policy": ["depthwise", "lossguide"],
    "importance_type": ["gain", "weight", "cover", "total_gain", "total_cover"],
    "multi_strategy": ["one_output_per_tree", "multi_output_tree"],
    "normalize_type": ["tree", "forest"],
    "objective": ["binary:logistic", "binary:logitraw", "binary:hinge", "multi:softmax", "multi:softprob"],
    "sample_type": ["uniform", "weighted"],
    "sampling_method": ["uniform", "gradient_based"],
    "tree_method": ["auto", "exact", "approx", "hist", "gpu_hist"],
}
LIGHTGBM = {
    "boosting_type": ["gbdt", "dart", "rf", "goss"],
    "boosting": ["gbdt", "dart", "rf", "goss"],
    "class_weight": ["balanced"],
    "data_sample_strategy": ["bagging", "goss"],
    "device": ["cpu", "gpu", "cuda"],
    "device_type": ["cpu", "gpu", "cuda"],
    "importance_type": ["split", "gain"],
    "metric": ["binary_logloss", "binary_error", "multi_logloss", "multi_error", "auc", "auc_mu", "None"],
    "monotone_constraints_method": ["basic", "intermediate", "advanced"],
    "objective": ["binary", "multiclass", "multiclassova", "cross_entropy"],
    "tree_learner": ["serial"],
}
CATBOOST = {
    "auto_class_weights": ["None", "Balanced", "SqrtBalanced"],
    "boosting_type": ["Ordered", "Plain"],
    "bootstrap_type": ["Bayesian", "Bernoulli", "MVS", "Poisson", "No"],
    "counter_calc_method": ["SkipTest", "Full"],
    "eval_metric": ["Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll", "Accuracy", "AUC", "F1"],
    "feature_border_type": ["Median", "Uniform", "UniformAndQuantiles", "MaxLogSum", "MinEntropy", "GreedyLogSum"],
    "grow_policy": ["SymmetricTree", "Depthwise", "Lossguide"],
    "leaf_estimation_backtracking": ["No", "AnyImprovement", "Armijo"],
    "leaf_estimation_method": ["Newton", "Gradient", "Exact"],
    "logging_level": ["Silent", "Verbose", "Info", "Debug"],
    "loss_function": ["Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll"],
    "nan_mode": ["Forbidden", "Min", "Max"],
    "objective": ["Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll"],
    "od_type": ["IncToDec", "Iter"],
    "sampling_frequency": ["PerTree", "PerTreeLevel"],
    "sampling_unit": ["Object", "Group"],
    "score_function": ["Cosine", "L2", "NewtonCosine", "NewtonL2"],
    "task_type": ["CPU", "GPU"],
}
WORDS: dict[str, dict[str, list[str]]] = {"xgboost": XGBOOST, "lightgbm": LIGHTGBM, "catboost": CATBOOST}
"""Package -> parameter -> the words it accepts, for libraries whose classes do not list them."""

FURTHER = {
    "bagging_fraction", "bagging_freq", "cat_l2", "cat_smooth", "deterministic", "drop_rate", "early_stopping_round",
    "eta", "extra_trees", "feature_fraction", "feature_fraction_bynode", "force_col_wise", "force_row_wise",
    "is_unbalance", "lambda_l1", "lambda_l2", "linear_tree", "max_bin", "max_cat_threshold", "max_delta_step",
    "max_drop", "min_data_in_bin", "min_data_in_leaf", "min_gain_to_split", "num_iterations", "num_threads", "nthread",
    "other_rate", "path_smooth", "rate_drop", "scale_pos_weight", "seed", "skip_drop", "top_rate", "verbose",
    "verbosity",
}  # fmt: skip
"""Parameters of these libraries that their classes take as further keywords."""


def expect_plain(kind: Any, name: str, value: Any) -> None:
    """Refuse a value of a parameter that is not plain.

    >>> from sklearn.svm import SVC
    >>> expect_plain(SVC, "kernel", "rbf")
    >>> sorted(listed_words(SVC, "kernel"))
    ['linear', 'poly', 'precomputed', 'rbf', 'sigmoid']
    """
    default = inspect.signature(kind).parameters.get(name)
    if value is None or (default is not None and type(value) is type(default.default) and value == default.default):
        return
    what = f"{name} of {kind.__name__}"
    if REFUSED.search(name) and name not in HARMLESS:
        raise InputError(
            f"{what} cannot be set in a learner's text, which may not name files, machines or code. Leave it out, or "
            "make the learner in Python."
        )
    if name in THREADS and _is_number(value) and abs(value) > MOST_THREADS:
        raise InputError(f"{what} is {value}; expected at most {MOST_THREADS} threads.")
    package = str(kind.__module__).split(".")[0]
    if default is None and package in WORDS and not {name} & {*FURTHER, *WORDS[package], *kind().get_params()}:
        raise InputError(f"{what} is not a parameter that a learner's text may set. Make the learner in Python.")
    _check(kind, name, value, what)


def expect_plain_setting(learner: Any, name: str, value: Any) -> None:
    """The same for a parameter of a learner or of one of its parts, as `set_params` takes it: `svc__C`."""
    owner = learner
    *parts, last = name.split("__")
    for part in parts:
        owner = owner.get_params().get(part, owner)
    expect_plain(type(owner), last, value)


def _check(kind: Any, name: str, value: Any, what: str) -> None:
    is_learner = hasattr(value, "get_params") and not isinstance(value, type)
    if isinstance(value, (bool, type(None))) or _is_number(value) or is_learner:
        return
    if isinstance(value, str):
        _check_text(kind, name, value, what)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _check(kind, name, part, what)
    elif isinstance(value, dict):
        for key, part in value.items():
            if not (_is_number(key) or isinstance(key, bool)) and not _is_key(name, key):
                raise InputError(f"{what} has the key {short(key)}; expected short names or labels.")
            if not _is_number(part) and not isinstance(part, (bool, type(None))):
                raise InputError(f"{what} has {short(part)} for {short(key)}; expected a number.")
    else:
        raise InputError(
            f"{what} is {short(value)}; expected a number of at most 64 bits, True, False, None, a listed word or a "
            "learner."
        )


def _check_text(kind: Any, name: str, text: str, what: str) -> None:
    words = sorted(listed_words(kind, name))
    if text in words:
        return
    if name in DATA_TEXTS and not str(kind.__module__).startswith(tuple(WORDS)):
        if len(text) <= LONGEST:
            return
        raise InputError(f"{what} has {len(text)} characters; expected at most {LONGEST}.")
    if not words:
        raise InputError(
            f"{what} is {short(text)}; expected no text here: a learner's text may set numbers and listed words only. "
            "Make the learner in Python, or import your own code with module:name and --allow-import."
        )
    raise InputError(f"{what} is {short(text)}; expected one of {shown(map(repr, words), 40)}.{nearest(text, words)}")


def listed_words(kind: Any, name: str) -> set[str]:
    """The words that a parameter accepts, as its class or `WORDS` lists them."""
    of_package = WORDS.get(str(kind.__module__).split(".")[0])
    if of_package is not None:
        return set(of_package.get(name, ()))
    rules = constraints_of(kind).get(name, ())
    rules = [rules] if isinstance(rules, str) else rules  # "no_validation"
    words = {word for rule in rules for word in _options(rule) if isinstance(word, str)} - OPENS_FILES
    if name == "scoring" and str in rules:
        from sklearn.metrics import get_scorer_names

        words |= set(get_scorer_names())
    return words


def _options(rule: Any) -> Iterable[Any]:
    """What a rule of scikit-learn lists; `Hidden` has another rule inside."""
    rule = getattr(rule, "constraint", rule)
    options: Iterable[Any] = getattr(rule, "options", ())
    return options


def _is_number(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return -LARGEST <= value < LARGEST
    return isinstance(value, float)


def _is_key(name: str, key: Any) -> bool:
    if not isinstance(key, str) or len(key) > LONGEST:
        return False
    return name in DATA_KEYS or key.isidentifier()
