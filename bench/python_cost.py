#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What counting and reading cost from Python, beside calls of Python itself in the same run.

    PYTHONPATH=build/release/python bench/python_cost.py

Each figure is the least of several rounds.
"""

import sys
import tempfile
import time

import meterbank

ROUNDS = 20
CALLS = 100_000


def least(run, calls):
    """Nanoseconds a call."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter_ns()
        run()
        best = min(best, (time.perf_counter_ns() - started) / calls)
    return best


def repeat(call, *arguments):
    def run():
        for _ in range(CALLS):
            call(*arguments)
    return run


class Plain:
    def __init__(self):
        self.total = 0

    def add(self, n):
        self.total += n


def main():
    with tempfile.TemporaryDirectory() as directory:
        provider = meterbank.Provider("bench", directory=directory)
        counters = [meterbank.Counter(f"Counter {i}", symbol=f"c{i}") for i in range(10)]
        kinds = {
            kind: provider.add(meterbank.Counterset(f"Bench {kind}", symbol=kind, kind=kind,
                                                    counters=counters))
            for kind in ("independent", "block")}
        instances = {kind: [of.create(str(i)) for i in range(100)] for kind, of in kinds.items()}
        plain = least(repeat(Plain().add, 1), CALLS)
        built_in = least(repeat(abs, 1), CALLS)
        print(f"a built-in function of one argument    {built_in:8.1f} ns")
        print(f"a method in Python that adds           {plain:8.1f} ns")
        for kind, of in instances.items():
            bound = of[0].counter("c0")
            cost = least(repeat(bound.add, 1), CALLS)
            print(f"BoundCounter.add, {kind:12}         {cost:8.1f} ns {cost / plain:6.2f} x the method")
            cost = least(repeat(of[0].add, "c0", 1), CALLS)
            print(f"Instance.add by symbol, {kind:12}   {cost:8.1f} ns {cost / plain:6.2f} x the method")
        query = meterbank.Catalog(directory).query("block/*/*")
        sample = query.collect()
        values = len(sample.raw)

        def read():
            for _ in range(100):
                query.collect(sample)
                memoryview(sample)
        cost = least(read, 100) / 1000
        print(f"collect and buffer, {values} counters       {cost:8.1f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
