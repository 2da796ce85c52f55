"""A judge that changes its mind: fifty items, three prompts, five runs, with known flip rates.

Run: python examples/judges.py
"""

import numpy as np
import pandas as pd

import classay

FLIPS = {"plain": 0.02, "steps": 0.10, "terse": 0.30}

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    good = rng.integers(2, size=50)
    parts = []
    for prompt, rate in FLIPS.items():
        for run in range(5):
            said = np.where(rng.random(50) < rate, 1 - good, good)
            parts.append(pd.DataFrame({"id": range(50), "prompt": prompt, "run": run, "said": said, "label": good}))
    table = pd.concat(parts, ignore_index=True)

    found = classay.judges(table, item="id", rating="said", rater="prompt", run="run")
    print(found)
    for rater in found.raters:
        # Two runs agree if both flip or neither does: 1 − 2·rate·(1 − rate).
        rate = FLIPS[rater.name]
        print(f"{rater.name}: same rating again {rater.self_agreement}, true {1 - 2 * rate * (1 - rate):.3f}")
    print(found.items.head(3).to_string(index=False))

    record = classay.Labelings.from_frame(
        table, truth="label", prediction="said", item="id", run="run", variant="prompt", name="judge"
    )
    print(classay.judges(record).repeats_needed())
    print(classay.stability(record))
