"""Run the numeric tests as on other processors: with other kernels of OpenBLAS, and NumPy without vector instructions.

Sums are then done in another order, and the last bits differ. `make portable` runs this.
"""

import os
import subprocess
import sys

from numpy._core._multiarray_umath import __cpu_dispatch__

NUMERIC = (
    "tests/classes",
    "tests/data",
    "tests/learner/orientation",
    "tests/learner/stability",
    "tests/learner/preference",
    "tests/learner/fitting",
    "tests/network",
    "tests/regions",
    "tests/report/findings",
    "tests/test_intervals.py",
    "tests/test_seeds.py",
    "src",
)
PROCESSORS = [
    *({"OPENBLAS_CORETYPE": kernel} for kernel in ("Haswell", "SkylakeX", "Zen", "Nehalem")),
    {"NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__)},  # all that this NumPy knows, whatever their names
]
# A kernel with instructions that this processor lacks ends the process.
PROBE = "import numpy as np, scipy.linalg as s; a = np.ones((300, 300)); a @ a; s.svdvals(a)"


def main(options: list[str]) -> int:
    failed = []
    for processor in PROCESSORS:
        print("==", *(f"{name}={value}" for name, value in processor.items()), flush=True)
        environment = os.environ | processor
        if subprocess.run([sys.executable, "-c", PROBE], env=environment, check=False).returncode:
            print("This processor cannot do that: skipped.", flush=True)
        elif subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *NUMERIC, *options], env=environment, check=False
        ).returncode:
            failed.append(processor)
    for processor in failed:
        print("Failed:", processor)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
