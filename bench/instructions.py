#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""instructions.py METERBANK-BENCH [GROUP...]

Instructions of one operation of each row, counted by callgrind: for machines whose hardware counters
cannot be had. Without a group: publish, c and snapshot. Needs valgrind (Debian: valgrind), also when
meterbank_bench is built. Exit status: 0, or 2 if nothing could be counted.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def counted_rows(program, groups):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        out = folder / "callgrind.out"
        ran = subprocess.run(
            ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no",
             f"--callgrind-out-file={out}", program, "--quick", "--json", folder / "results",
             *groups],
            env=os.environ | {"METERBANK_BENCH_CALLGRIND": str(out)}, capture_output=True, text=True)
        if ran.returncode != 0:
            sys.stderr.write(ran.stderr)
            fail(f"valgrind {program} ended with exit status {ran.returncode}")
        rows = json.loads((folder / "results").read_text())["rows"]
    return [row for row in rows if row["instructions"] is not None]


def fail(why):
    print(f"instructions.py: {why}", file=sys.stderr)
    sys.exit(2)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    if shutil.which("valgrind") is None:
        fail("valgrind is not installed; try: apt-get install valgrind")
    program, *groups = sys.argv[1:]
    rows = counted_rows(program, groups or ["publish", "c", "snapshot"])
    if not rows:
        fail(f"{program} counted nothing: build it again where valgrind/callgrind.h is installed, and "
             "name groups whose rows are loops")
    print("instr.  row")
    for row in rows:
        print(f"{row['instructions']:6.1f}  {row['name']}")


if __name__ == "__main__":
    main()
