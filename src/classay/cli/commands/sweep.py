"""`classay sweep`: how learners change along a parameter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ... import expect
from ...engine.dask import executor_of
from ...estimators.plain_parameters import expect_plain_setting
from ...estimators.spec import learners_from_texts
from ...estimators.trial import ready
from ...learner.fitting.groups import grid
from ...learner.fitting.schemes import Subsets
from ...learner.scores.scorers import needs_of
from ...learner.sweep.best_value import LOSSES, expect_weights
from ...learner.sweep.result import Sweep
from ...learner.sweep.sweep import sweep
from ...learner.sweep.training_data import STORED, WITHOUT_BEST, of_data
from .. import options
from ..inputs import roles_of, rows_or_share
from ..runner import Outcome, cell, measure_each, worded_table
from .learner import bias_at, variation

MOST_ROWS = 16
Plan = tuple[Any, Any, Any]
"""A learner, and names and values as `sweep` takes them: two parameters as tuples."""


def command(
    rows: options.Rows,
    effort: options.Effort,
    output: options.Charts,
    learner: list[str] | None = None,
    param: list[str] | None = None,
    values: list[str] | None = None,
    utility: str | None = None,
    prefer: str = "smallest",
    metric: str | None = None,
    samples: int = 100,
    size: float = 0.15,
    repeats: int = 5,
    test_size: float = 0.2,
    allow_import: bool = False,
    holdout_size: int | None = None,
    holdouts: int = 100,
    share_paths: bool = True,
) -> Outcome:
    """Measure how the bias, variation and accuracy of learners change along a parameter."""
    weights = _weights(utility)
    loss = next((name for name in LOSSES if weights and weights.get(name)), None)
    if loss and share_paths:
        share_paths = False  # cost and complexity of a value of a shared fit are not measured
        output.say(f"--utility has a {loss}, so values are fitted one by one (as with --no-share-paths).")
    expect.one_of(prefer, "--prefer", ("smallest", "largest", "first"))
    if not (learner and param and values):
        raise expect.InputError("--learner, --param and --values are needed.")
    plans = _plans(learners_from_texts(learner, allow_import), param, values)
    scheme = Subsets(samples, rows_or_share(size))
    if metric is not None:
        needs_of(metric)  # refuses an unknown name before the data are read
    for swept_learner, *arguments in plans.values():
        if of_data(swept_learner, arguments[0]):
            continue
        checked = grid(swept_learner, *arguments)  # refuses an unknown parameter before any fit
        for name, settings in zip(checked.parameters, checked.values) if not allow_import else ():
            for setting in settings:
                expect_plain_setting(swept_learner, name, setting)
    table = rows.read(output.quiet)
    kept = f" Finished fits are kept in {effort.store}; run the same command to continue." if effort.store else ""

    def measure(name: str, plan: Plan) -> Sweep:
        tried = ready(plan[0], table.X, table.y, effort.seed, table.texts)
        swept = sweep(tried.learner, table.X, table.y, *plan[1:], name=name, **keywords)
        return replace(swept, notes=(*swept.notes, *tried.notes))

    with executor_of(effort.scheduler, effort.workers) as executor:
        keywords: dict[str, Any] = {
            "scheme": scheme, "repeats": repeats, "test_size": test_size, "holdout_size": holdout_size,
            "holdouts": holdouts, "share_paths": share_paths, "metric": metric,
            **effort.settings(executor, output.quiet), **roles_of(table),
        }  # fmt: skip
        try:
            done = measure_each(plans, measure)
        except KeyboardInterrupt:
            output.say(kept.strip())
            raise
    sweeps: dict[str, Sweep] = done.results
    refused = {f"{name}, {value}": why for name, swept in sweeps.items() for value, why in swept.failed.items()}
    return Outcome(
        {"sweeps": {name: _as_json(swept, weights, prefer) for name, swept in sweeps.items()}},
        data=table,
        settings={"share_paths": share_paths},
        text=_text(sweeps, weights, prefer),
        charts=lambda: _draw(sweeps),
        failed={**done.failed, **refused},
        interrupted=done.interrupted,
        kept=kept,
    )


def _plans(learners: dict[str, Any], params: list[str], texts: list[str]) -> dict[str, Plan]:
    """Parameters and values of each learner: one each, in order; or all of them for a single learner."""
    if len(params) != len(texts):
        raise expect.InputError(
            f"--param was given {len(params)} times but --values {len(texts)} times; each parameter needs its values."
        )
    ranges = [values_from_text(text) for text in texts]
    if len(params) == 1:
        return {name: (learner, params[0], ranges[0]) for name, learner in learners.items()}
    if len(params) == 2 and len(learners) == 1:
        return {name: (learner, tuple(params), tuple(ranges)) for name, learner in learners.items()}
    if len(params) != len(learners):
        raise expect.InputError(
            f"There are {expect.counted(len(learners), 'learner')} and {expect.counted(len(params), 'parameter')}; "
            "expected one parameter per learner, one for all learners, or two for a single learner."
        )
    return {name: (learner, param, values) for (name, learner), param, values in zip(learners.items(), params, ranges)}


def _weights(text: str | None) -> dict[str, float] | None:
    """The weights of a utility, as text: accuracy=1,cost=-0.01."""
    if text is None:
        return None
    weights: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, weight = part.partition("=")
        if not equals or not weight.strip():
            raise expect.InputError(
                f"--utility has {part.strip()!r} without a weight; expected {name.strip() or 'accuracy'}=1, and commas "
                "between several."
            )
        weights[name.strip()] = weight.strip()
    return expect_weights(weights)


def _text(sweeps: dict[str, Sweep], weights: dict[str, float] | None, prefer: str) -> Iterator[Any]:
    for swept in sweeps.values():
        yield str(swept)
        if (weights is not None or prefer != "smallest") and len(swept.values) > 1:
            yield str(swept.compare(weights, prefer))
        # All values, or evenly spaced ones that include both ends.
        places = np.linspace(0, len(swept.values) - 1, min(len(swept.values), MOST_ROWS)).round().astype(int)
        rows = {}
        for value in (swept.values[place] for place in places):
            name = ", ".join(map(cell, value)) if len(swept.parameters) > 1 else cell(value)
            rows[name] = {**variation(swept.orientations[value]), "metric": swept.metric_estimates.get(value)}
        hidden = len(swept.values) - len(rows)
        yield worded_table(
            "sweep",
            rows,
            learner=swept.learner,
            parameters=" x ".join(swept.parameters),
            metric=("" if swept.parameters == (STORED,) else "test ") + swept.metric.replace("_", " "),
            hidden=f"{hidden} more values are in --json and --charts." if hidden else "",
            **bias_at(next(iter(swept.orientations.values()))),
        )


def _as_json(swept: Sweep, weights: dict[str, float] | None, prefer: str) -> dict[str, Any]:
    """The sweep: its figures as the rows of its tidy frame, and its values compared."""
    frame = swept.to_frame()
    try:
        comparison = swept.compare(weights, prefer)
    except expect.InputError:  # after Ctrl-C, values may have no subsets in common
        comparison = None
    return {
        **{name: part for name, part in swept.to_dict().items() if name not in ("orientations", "records")},
        "figures": frame.astype(object).where(frame.notna(), None),
        "comparison": comparison,
        "seconds": sum(float(np.nansum(record.seconds)) for record in swept.records.values()),
    }


def _draw(sweeps: dict[str, Sweep]) -> dict[str, Any]:
    by_name: dict[str, Any] = {}
    for number, swept in enumerate(sweeps.values(), 1):
        kinds = ["bias", "entropy", "accuracy", "shares", "bounds"] if len(swept.parameters) == 1 else ["map"]
        kinds += ["metric"] if swept.metric_estimates and len(swept.parameters) == 1 else []
        by_name |= {f"sweep_{number}_{kind}": swept.plot(kind=kind) for kind in kinds}
        if len(swept.values) > 1 and swept.parameters[0] not in WITHOUT_BEST:
            by_name[f"sweep_{number}_comparison"] = swept.compare().plot()
    return by_name


# Values of a parameter as text: `1:200:5`, `0.1,1,10`, `1e-3:1e3:log7`. Parsed, never run.


MOST, LONGEST = 10_000, 300
FORMS = "start:stop:step (1:200:5), start:stop:logN (1e-3:1e3:log7) or a list (0.1,1,10)"
WORDS = {"none": None, "true": True, "false": False}
WHOLE = re.compile(r"[+-]?\d+$")


def values_from_text(text: str) -> list[Any]:
    """The values that a text describes. A range includes its end if a step reaches it."""
    if not text.strip(" ,"):
        raise expect.InputError(f"--values is empty; expected {FORMS}.")
    if ":" not in text:
        parts = [part.strip() for part in text.split(",")]
        if not all(parts):
            raise expect.InputError(f"--values {text!r} has nothing between two commas; expected {FORMS}.")
        return [_value(part) for part in parts]
    parts = [part.strip() for part in text.split(":")]
    if len(parts) not in (2, 3):
        raise expect.InputError(f"--values {text!r} has {len(parts)} parts; expected {FORMS}.")
    start, stop = (_number(part, text) for part in parts[:2])
    whole = all(WHOLE.match(part) for part in parts[:2])
    step = parts[2] if len(parts) == 3 else "1"
    if step.lower().startswith("log"):
        return _powers(start, stop, step[3:], whole, text)
    stride = _number(step, text)
    if stride == 0 or (stop - start) * stride < 0:
        raise expect.InputError(f"--values {text!r} goes from {start} to {stop} by {stride}, which gives no value.")
    # Decimal, so that three steps of 0.1 are 0.3.
    steps = (stop - start) / stride
    if steps >= MOST:
        raise expect.InputError(f"--values {text!r} is {steps:,.0f} values or more; the limit is {MOST:,}.")
    values = [start + number * stride for number in range(int(steps) + 1)]
    return [int(value) for value in values] if whole and WHOLE.match(step) else [float(value) for value in values]


def _powers(start: Decimal, stop: Decimal, count: str, whole: bool, text: str) -> list[Any]:
    if not count.isdigit() or not 2 <= int(count) <= MOST:
        raise expect.InputError(f"--values {text!r}: `log` needs a number of values, from 2 to {MOST:,}; {FORMS}.")
    if start <= 0 or stop <= 0:
        raise expect.InputError(f"--values {text!r}: values at equal ratios need ends above 0, got {start} and {stop}.")
    ends, last = (math.log10(float(start)), math.log10(float(stop))), int(count) - 1
    # Rounded to 12 digits, so that powers of ten are exact.
    powers = [float(f"{10 ** (ends[0] + (ends[1] - ends[0]) * number / last):.12g}") for number in range(last + 1)]
    return list(dict.fromkeys(round(value) for value in powers)) if whole else powers


def _number(part: str, text: str) -> Decimal:
    try:
        number = Decimal(part)
    except InvalidOperation:
        raise expect.InputError(f"--values {text!r}: {part!r} is not a number; expected {FORMS}.") from None
    # Beyond this it is not a float; and an exponent of a million would take forever.
    if not number.is_finite() or not -300 < number.adjusted() < 300:
        raise expect.InputError(f"--values {text!r}: {part!r} is out of range; expected {FORMS}.")
    return number


def _value(part: str) -> Any:
    """A whole number, a number, None, True, False, or a word."""
    if len(part) > LONGEST:
        raise expect.InputError(f"--values has a value of {len(part)} characters; the limit is {LONGEST}.")
    if part.lower() in WORDS:
        return WORDS[part.lower()]
    if WHOLE.match(part):
        return int(part)
    try:
        number = float(part)
    except ValueError:
        return part.strip("'\"")
    if not math.isfinite(number):
        raise expect.InputError(f"--values has {part!r}; expected finite numbers.")
    return number
