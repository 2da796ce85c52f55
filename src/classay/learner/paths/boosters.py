"""`n_estimators` of LightGBM and XGBoost: the first n trees of the longest fit are the fit with n trees.

Neither is imported here: the learner of a user who has one is known by its name. CatBoost is not among them, because it
plans its rate of learning from the number of trees.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from .shared import SharedPath, fitted, is_count, positive, register

HARMLESS = {"verbose", "verbosity", "deterministic", "force_col_wise", "force_row_wise"}
"""Settings beyond LightGBM's signature that change nothing here; others may be another name for the number of trees."""


class _FirstTrees(SharedPath):
    """Boosted trees that are predicted by as many as are asked for."""

    KIND = "prefixes of the trees"
    EXACT = True
    NAME: str

    @classmethod
    def applies(cls, learner: Any, param_name: str, values: Sequence[Any]) -> bool:
        """Whether it is that library's own, boosts plainly and to the end, and all values are whole numbers."""
        return (
            f"{type(learner).__module__}.{type(learner).__qualname__}" == cls.NAME
            and param_name == "n_estimators"
            and all(map(is_count, values))
            and cls._is_plain(learner)
        )

    @classmethod
    def along(
        cls, learner: Any, param_name: str, values: Sequence[Any], X: Any, y: Any, asked: Any
    ) -> Iterator[tuple[Any, Any]]:
        """Fit the most trees, and ask the first of them."""
        wanted = positive(values)
        if not wanted:
            return
        booster = fitted(learner, param_name, wanted[-1], X, y)
        shared = wanted if cls._rounds(booster) == wanted[-1] else wanted[-1:]
        for value in shared:
            yield value, cls._asked(booster, value, asked)

    @classmethod
    @abstractmethod
    def _is_plain(cls, learner: Any) -> bool:
        """Whether no tree depends on a later one, nor on how many there will be."""

    @classmethod
    @abstractmethod
    def _rounds(cls, booster: Any) -> int:
        """How many rounds left trees. Where some left none, the first trees are not those of the first rounds."""

    @classmethod
    @abstractmethod
    def _asked(cls, booster: Any, rounds: int, asked: Any) -> Any:
        """Labels by the trees of the first rounds."""


@register
class LightGBM(_FirstTrees):
    """LGBMClassifier; not with dart, which weighs earlier trees anew."""

    NAME = "lightgbm.sklearn.LGBMClassifier"

    @classmethod
    def _is_plain(cls, learner: Any) -> bool:
        more = learner.get_params().keys() - set(type(learner)._get_param_names())
        return bool(learner.boosting_type == "gbdt" and more <= HARMLESS)

    @classmethod
    def _rounds(cls, booster: Any) -> int:
        return int(booster.booster_.current_iteration())

    @classmethod
    def _asked(cls, booster: Any, rounds: int, asked: Any) -> Any:
        return booster.predict(asked, num_iteration=rounds)


@register
class XGBoost(_FirstTrees):
    """XGBClassifier; not with dart, early stopping, or callbacks that may change the rate of learning."""

    NAME = "xgboost.sklearn.XGBClassifier"

    @classmethod
    def _is_plain(cls, learner: Any) -> bool:
        return (
            learner.booster in (None, "gbtree")
            and learner.early_stopping_rounds is None
            and not learner.callbacks
            and not getattr(learner, "kwargs", None)
        )

    @classmethod
    def _rounds(cls, booster: Any) -> int:
        return int(booster.get_booster().num_boosted_rounds())

    @classmethod
    def _asked(cls, booster: Any, rounds: int, asked: Any) -> Any:
        return booster.predict(asked, iteration_range=(0, rounds))
