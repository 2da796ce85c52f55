"""Planted x found, null x alarmed: every check of the data on worlds with and without a fault.

`leaks`, `dependence`, `shift`, `unlike`: each case is a world that is drawn anew for every seed; the table counts the
answers (found as planted, something else found, undecided, no). Seeds start at --first: take other ones than those
that a rule was tuned on. `labels` has its own table, beside cleanlab: `python benchmarks/checks/labels.py --help`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections import Counter
from pathlib import Path

from cases import FOUND, NO, OTHER, UNDECIDED

CHECKS = ("leaks", "dependence", "shift", "unlike")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS))
    parser.add_argument("--seeds", type=int, default=20, help="draws of each world")
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--data", type=Path, help="folder with tabular/, for worlds that are made from real tables")
    parser.add_argument("-o", "--output", type=Path, help="write the counts as JSON, too")
    options = parser.parse_args()
    rows = []
    print("| check | world | planted | found | other | undecided | no | seconds each |\n" + "| --- " * 8 + "|")
    for check in options.only:
        for case in importlib.import_module(check).cases(options.data):
            start = time.process_time()
            answers = Counter(case.run(options.first + seed) for seed in range(options.seeds))
            seconds = (time.process_time() - start) / options.seeds
            counts = [answers[answer] for answer in (FOUND, OTHER, UNDECIDED, NO)]
            shown = " | ".join(map(str, counts))
            print(
                f"| {check} | {case.world} | {'yes' if case.planted else 'no'} | {shown} | {seconds:.1f} |", flush=True
            )
            rows.append({"check": check, "world": case.world, "planted": case.planted, **answers, "seconds": seconds})
    if options.output:
        options.output.write_text(json.dumps({"seeds": options.seeds, "first": options.first, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
