"""Learners by name, as on a command line: `KNeighborsClassifier(n_neighbors=5)`.

The text is parsed and never run. Names are looked up among scikit-learn's classifiers or regressors (and those of
xgboost, lightgbm and catboost where installed); arguments are literals, or learners written in the same way, and only
those that can open no file and run no code (`plain_parameters`). Your own code, `module:name`, is imported only if that
is allowed.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.pipeline import make_pipeline

from ..expect import InputError, nearest, short, shown
from ..private_apis import check_parameters
from .plain_parameters import expect_plain

ELSEWHERE = {
    f"{name}{kind}": package
    for kind in ("Classifier", "Regressor")
    for name, package in {"XGB": "xgboost", "XGBRF": "xgboost", "LGBM": "lightgbm", "CatBoost": "catboost"}.items()
}
SILENT: dict[str, dict[str, Any]] = {
    "lightgbm": {"verbose": -1},
    "catboost": {"verbose": False, "allow_writing_files": False},
}
"""Defaults unless set otherwise, by package: these print at every fit, or leave files behind."""
USUAL_MODULES = ("linear_model", "preprocessing", "tree", "ensemble", "neighbors", "naive_bayes", "svm", "impute")
LONGEST, DEEPEST = 10_000, 30
CALLED = re.compile(r"([^=():]*[^=():\s][^=():]*)=(?!=)")
"""A user's name before an equals sign, which no learner has in front of its brackets."""
EXAMPLE = 'for example "KNeighborsClassifier(n_neighbors=5)"'


def learners_from_texts(
    texts: Iterable[str], allow_import: bool = False, regressors: bool = False
) -> dict[str, BaseEstimator]:
    """Learners by their names, or by your own name before an equals sign; a repeated name gets " (2)".

    >>> list(learners_from_texts(["GaussianNB", "SVC( C = 2 )", "bayes=GaussianNB", "GaussianNB()"]))
    ['GaussianNB', 'SVC(C=2)', 'bayes', 'GaussianNB (2)']
    """
    learners: dict[str, BaseEstimator] = {}
    for text in texts:
        called = CALLED.match(text)
        name, learner = learner_from_text(text[called.end() :] if called else text, allow_import, regressors)
        name = called[1].strip() if called else name
        unique, count = name, 1
        while unique in learners:
            count += 1
            unique = f"{name} ({count})"
        learners[unique] = learner
    return learners


def learner_from_text(text: str, allow_import: bool = False, regressors: bool = False) -> tuple[str, BaseEstimator]:
    """The learner that a text describes, and the text in its normal spelling, as a name.

    text: `NAME`, `NAME(argument=literal, ...)`, `make_pipeline(TRANSFORMER(...), ..., NAME(...))`, or with
        `allow_import` also `module.path:NAME(...)`, a class, a function that returns a learner, or a learner.
    allow_import: whether code may be imported from any module.
    regressors: whether it may be a regressor.

    >>> learner_from_text("AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=2))")[1].estimator
    DecisionTreeClassifier(max_depth=2)
    >>> learner_from_text("make_pipeline(StandardScaler(), Ridge())", regressors=True)[1][-1]
    Ridge()
    """
    foreign = re.match(r"\s*([A-Za-z_][\w.]*):(?=[A-Za-z_])", text)
    if foreign and not allow_import:
        raise InputError(f"{short(text)} would import code from {foreign[1]!r}. Add --allow-import if you trust it.")
    node = _parse(text[foreign.end() :] if foreign else text)
    learner = (
        _imported(foreign[1], node, regressors) if foreign else _known(node, "learner" if regressors else "classifier")
    )
    return (f"{foreign[1]}:" if foreign else "") + ast.unparse(node).removesuffix("()"), learner


def regressor_from_text(text: str) -> Any:
    """The regressor of scikit-learn that a text describes: `NAME` or `NAME(argument=literal, ...)`.

    >>> regressor_from_text("Ridge(alpha=2)")
    Ridge(alpha=2)
    """
    return _known(_parse(text), "regressor")


def _parse(text: str) -> ast.expr:
    """The parsed text, if it is a name with or without arguments, and neither long nor deep."""
    if len(text) > LONGEST:
        raise InputError(f"A learner of {len(text)} characters was given; the limit is {LONGEST}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray backslash in a string is not worth a warning here
            node = ast.parse(text.strip(), mode="eval").body
        level: list[ast.AST] = [node]
        for _ in range(DEEPEST):  # level by level: a recursion would fail on exactly what is to be detected
            level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        if level:
            raise RecursionError
    except (SyntaxError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InputError(
            f"The learner {short(text)} cannot be read ({reason}); expected a name with or without arguments, "
            f"{EXAMPLE}."
        ) from error
    except (RecursionError, MemoryError) as error:
        raise InputError(f"The learner {short(text)} is nested too deeply to be read.") from error
    if not isinstance(node.func if isinstance(node, ast.Call) else node, ast.Name):
        raise InputError(f"The learner {short(text)} is not a name with or without arguments; write {EXAMPLE}.")
    return node


def _known(node: ast.expr, role: str = "classifier") -> Any:
    """Build what `NAME` or `NAME(...)` describes. The role is transformer only for steps of a pipeline.

    A "learner" is a classifier or a regressor.
    """
    name = _name(node)
    if name == "make_pipeline" and role in ("classifier", "learner"):
        return _pipeline(node, role)
    kind = _lookup(name, role)
    is_regressor = isinstance(kind, type) and issubclass(kind, RegressorMixin)
    return _call(name, kind, node, inner=role if is_regressor else "classifier")


def _name(node: ast.expr) -> str:
    """The name of `NAME` or `NAME(...)`, or nothing."""
    called = node.func if isinstance(node, ast.Call) else node
    return called.id if isinstance(called, ast.Name) else ""


def _lookup(name: str, role: str) -> Any:
    roles = {"learner": ("classifier", "regressor")}.get(role, (role,))
    elsewhere = {
        key: package
        for key, package in ELSEWHERE.items()
        if role == "learner" or (role == "classifier" and key.endswith("Classifier"))
    }
    if name in elsewhere:
        return _from_package(name, elsewhere[name])
    for wanted in roles:
        if (usual := _usual(name, wanted)) is not None:
            return usual
    known = {key: kind for wanted in roles for key, kind in _estimators(wanted).items()}
    if name in known:
        return known[name]
    raise _unknown(name, role, roles, known, [*known, *elsewhere])


def _from_package(name: str, package: str) -> Any:
    if importlib.util.find_spec(package) is None:
        raise InputError(f"{name} needs {package}, which is not installed. Run `pip install {package}`.")
    try:
        return getattr(importlib.import_module(package), name)
    except (ImportError, OSError) as error:  # a part of it is missing, or a system library
        raise InputError(f"{name} needs {package}, which cannot be imported: {error}.") from error


def _unknown(name: str, role: str, roles: tuple[str, ...], known: dict[str, Any], names: list[str]) -> InputError:
    """The error for a name that is not one of the role: what it is, or what is near it."""
    wanted = " or ".join(roles)
    for other in ("regressor", "transformer", "classifier"):
        foreign = other == "regressor" and role == "classifier" and name in ELSEWHERE
        if other not in roles and (foreign or name in _estimators(other)):
            alike = re.sub("Regressor$", "Classifier", name)
            hint = f" Did you mean {alike}?" if alike != name and alike in names else nearest(name, known)
            if other == "transformer":
                hint = f" Use it before one: make_pipeline({name}(), LogisticRegression())."
            return InputError(f"{name} is a {other}; expected a {wanted}.{hint}")
    hint = nearest(name, names)
    own_code = " Write your own code as module:name." if role in ("classifier", "learner") and not hint else ""
    return InputError(f"{name!r} is not a {wanted} of scikit-learn.{hint or f' There are {shown(known)}.'}{own_code}")


def _usual(name: str, role: str) -> Any:
    """An estimator of the modules that most learners come from; to list all of scikit-learn's takes two seconds."""
    mixin = {"classifier": ClassifierMixin, "regressor": RegressorMixin}.get(role, TransformerMixin)
    for place in USUAL_MODULES:
        module = importlib.import_module(f"sklearn.{place}")
        found = getattr(module, name) if name in module.__all__ else None
        if isinstance(found, type) and issubclass(found, mixin) and not inspect.isabstract(found):
            return found
    return None


@cache
def _estimators(role: str) -> dict[str, Any]:
    from sklearn.utils import all_estimators  # imports all of scikit-learn, so only when it is needed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = dict(all_estimators(type_filter=role))
    if role == "transformer":
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

        known |= {kind.__name__: kind for kind in (CountVectorizer, TfidfVectorizer)}  # scikit-learn lists them nowhere
    return known


def _pipeline(node: ast.expr, role: str = "classifier") -> Any:
    steps = node.args if isinstance(node, ast.Call) else []
    if not steps or (isinstance(node, ast.Call) and node.keywords):
        raise InputError(
            "make_pipeline takes only its steps, for example make_pipeline(StandardScaler(), LogisticRegression())."
        )
    for step in steps:
        if not _name(step):
            raise InputError(f"The step {short(ast.unparse(step))} of make_pipeline is not an estimator name.")
    return make_pipeline(*(_known(step, "transformer") for step in steps[:-1]), _known(steps[-1], role))


def _call(name: str, make: Any, node: ast.expr, own_code: bool = False, inner: str = "classifier") -> Any:
    """Call a class or a function with the arguments of a node, checked against its parameters.

    `inner` is the role of learners among the arguments. Your own code takes any literal: whoever allowed it to be
    imported trusts it.
    """
    keywords = node.keywords if isinstance(node, ast.Call) else []
    if isinstance(node, ast.Call) and node.args:
        raise InputError(
            f"{name} was given {short(ast.unparse(node.args[0]))} without a name; write argument=value, {EXAMPLE}."
        )
    arguments: dict[str, Any] = {}
    takes = inspect.signature(make).parameters
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes.values())
    for keyword in keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise InputError(f"{name} takes each argument once, as argument=value, {EXAMPLE}.")
        if keyword.arg not in takes and not open_ended:
            raise InputError(
                f"{name} has no parameter {keyword.arg!r}.{nearest(keyword.arg, takes)} "
                f"It has {shown(takes, most=40) or 'none'}."
            )
        arguments[keyword.arg] = _value(keyword.value, f"{keyword.arg} of {name}", inner)
        if not own_code:
            expect_plain(make, keyword.arg, arguments[keyword.arg])
    wanting = [
        key
        for key, parameter in takes.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and key not in arguments
    ]
    if wanting:
        raise InputError(f"{name} needs a value for {shown(wanting)}.")
    try:
        made = make(**{**SILENT.get(ELSEWHERE.get(name, ""), {}), **arguments})
        check_parameters(made)  # so that a wrong value is reported now, not later in every refit
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} does not accept its arguments: {str(error)[:300]}") from error
    return made


def _value(node: ast.expr, what: str, role: str) -> Any:
    """A literal, a learner, or a list of both."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        if isinstance(node, (ast.List, ast.Tuple)):
            items = [_value(item, what, role) for item in node.elts]
            return items if isinstance(node, ast.List) else tuple(items)
        name = _name(node)
        is_learner = name == "make_pipeline" or name in ELSEWHERE or name in _estimators("classifier")
        if name and (is_learner or name in _estimators("regressor") or name in _estimators("transformer")):
            return _known(node, role)
        raise InputError(
            f"The argument {what} is {short(ast.unparse(node))}; expected a number, a quoted text, True, False, "
            f"None, a list of these or a {role}. Expressions are not run."
        ) from None


def _imported(path: str, node: ast.expr, regressors: bool = False) -> Any:
    """A learner from any module. Only reached if importing was allowed."""
    try:
        module = importlib.import_module(path)
    except Exception as error:  # an import runs the user's code, which can fail in any way
        raise InputError(f"{path!r} cannot be imported: {type(error).__name__}: {error}") from error
    name = _name(node)
    if not hasattr(module, name):
        raise InputError(f"{path!r} has no {name!r}.{nearest(name, vars(module))}")
    kind = getattr(module, name)
    if hasattr(kind, "fit") and not isinstance(kind, type) and isinstance(node, ast.Name):
        made = kind
    elif callable(kind):
        made = _call(name, kind, node, own_code=True, inner="learner" if regressors else "classifier")
    else:
        raise InputError(f"{path}:{name} is a {type(kind).__name__}; expected a class or a function.")
    if isinstance(made, RegressorMixin) and not regressors:
        raise InputError(f"{path}:{name} is a regressor; expected a classifier.")
    if not all(hasattr(made, method) for method in ("fit", "predict", "get_params")):
        raise InputError(
            f"{path}:{name} gives a {type(made).__name__}; expected a classifier with `fit`, `predict` and "
            "`get_params`."
        )
    return made
