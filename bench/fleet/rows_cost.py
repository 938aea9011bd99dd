#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What values cost as lines of JSON, which are records of Kafka, and as rows of ClickHouse, where that is
installed: bytes and processor time. docs/fleet/README.md has the figures.

usage: rows_cost.py BIN-FOLDER [--quick]
"""

import contextlib
import os
import subprocess
import sys
import tempfile

from beside import cpu_seconds, start_counters

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "tools", "fleet"))
from clickhouse_recipe import SERVER, ClickHouse, read  # noqa: E402

RECIPE = os.path.join(HERE, "..", "..", "docs", "fleet", "clickhouse")


def run(arguments, source, target):
    """The processor time of a program from one file to another."""
    before = os.times()
    with open(target, "wb") as output:
        subprocess.run(arguments, stdin=source, stdout=output, check=True,
                       env={**os.environ, "NODE": "node-1"})
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    bin_folder, quick = sys.argv[1], "--quick" in sys.argv
    counters, samples = (800, 3) if quick else (10_000, 60)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        directory = start_counters(stack, bin_folder, folder, counters)
        lines, rows = os.path.join(folder, "lines"), os.path.join(folder, "rows")
        values = counters * samples
        cpu = run([os.path.join(bin_folder, "meterbank"), "get", "-n", str(samples), "-i", "1s", "-f",
                   "jsonl", "--hist", "-p", "none", "--json-int=string", "--dir", directory, "-q",
                   "moving/*/*"], None, lines)
        print(f"{values} values of {counters} counters")
        print(f"  a line        {os.path.getsize(lines) / values:7.1f} B a value "
              f"{cpu / values * 1e6:7.2f} us a value")
        with open(lines, "rb") as source:
            packed = run(["zstd", "-q", "-3", "-c"], source, rows + ".zst")
        print(f"  zstd -3       {os.path.getsize(rows + '.zst') / values:7.1f} B a value "
              f"{packed / values * 1e6:7.2f} us a value")
        with open(lines, "rb") as source:
            cpu = run(["jq", "-c", "-f", os.path.join(RECIPE, "rows.jq")], source, rows)
        print(f"  rows.jq       {os.path.getsize(rows) / values:7.1f} B a value "
              f"{cpu / values * 1e6:7.2f} us a value")
        if not os.path.exists(SERVER):
            print("  no ClickHouse here")
            return 0
        server = ClickHouse(stack, folder)
        server.must(read(RECIPE, "schema.sql"))
        before = cpu_seconds(server.process)
        with open(rows, "rb") as source:
            subprocess.run(["clickhouse-client", *server.options, "--query",
                            "INSERT INTO meterbank_samples FORMAT JSONEachRow"], stdin=source, check=True)
        server.must("OPTIMIZE TABLE meterbank_samples FINAL")
        cpu = cpu_seconds(server.process) - before
        size = int(server.must("SELECT sum(bytes_on_disk) FROM system.parts "
                               "WHERE active AND table = 'meterbank_samples'"))
        print(f"  ClickHouse    {size / values:7.1f} B a value {cpu / values * 1e6:7.2f} us a value")
    return 0


if __name__ == "__main__":
    sys.exit(main())
