"""Simulated judges with few repeats: how well the share of randomness is estimated, and by the plug-in.

Share of randomness: (how often two runs of one prompt differ) / (how often runs of two prompts differ). The plug-in
compares every run also with itself, as counting with shares does.

    python benchmarks/judge_repeats.py --worlds 300
"""

from __future__ import annotations

import argparse

import numpy as np

import classay

PROMPTS, ITEMS = 3, 50


def world(rng: np.random.Generator) -> np.ndarray:
    """(prompts, items): the probability that a run says yes."""
    quality = rng.random(ITEMS) < 0.5
    flip = rng.uniform(0.02, 0.35, (PROMPTS, 1)) * rng.uniform(0.5, 1.5, ITEMS)
    opinion = rng.random((PROMPTS, ITEMS)) < 0.15  # prompts that see an item the other way
    return np.where(quality ^ opinion, 1 - flip, flip)


def differ(p: np.ndarray, q: np.ndarray) -> float:
    return float((p * (1 - q) + q * (1 - p)).mean())


def true_share(p: np.ndarray) -> float:
    within = np.mean([differ(row, row) for row in p])
    between = np.mean([differ(p[a], p[b]) for a in range(PROMPTS) for b in range(a)])
    return float(within / between)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=300)
    arguments = parser.parse_args()
    for runs in (2, 3, 5, 10):
        errors: dict[str, list[float]] = {"corrected": [], "plug-in": []}
        covered = []
        for number in range(arguments.worlds):
            rng = np.random.default_rng([runs, number])
            p = world(rng)
            said = (rng.random((PROMPTS, runs, ITEMS)) < p[:, None]).astype(int)
            record = classay.Labelings.from_arrays(said, np.zeros(ITEMS, dtype=int), classes=[0, 1])
            # The truth is that of prompts on these items.
            shares = said.mean(axis=1)
            errors["corrected"].append(classay.stability(record).seed_share - min(true_share(p), 1.0))
            errors["plug-in"].append(true_share(shares) - min(true_share(p), 1.0))
            for place, rater in enumerate(classay.judges(record).raters):
                # Over items of this kind: flips are uniform, times uniform.
                same = 1 - differ(p[place], p[place])
                covered.append(rater.self_agreement.low <= same <= rater.self_agreement.high)
        text = "; ".join(
            f"{name}: bias {np.mean(each):+.3f}, error {np.sqrt(np.mean(np.square(each))):.3f}"
            for name, each in errors.items()
        )
        print(f"{runs} runs: {text}; self-agreement covered {np.mean(covered):.3f}", flush=True)


if __name__ == "__main__":
    main()
