#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one pmFetch of 1,000 and of 10,000 values through pmdameterbank takes, beside one of a single value
of pmcd itself in the same run, over a local socket.

    python3 bench/pcp_fetch.py BUILD_FOLDER

BUILD_FOLDER has bin/pmdameterbank and bin/meterbank_still_rows. Each figure is a median, with the least
beside it.
"""

import contextlib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "tools", "pcp"))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "tools", "agent"))
from pcp_client import Client  # noqa: E402
from private_pcp import PrivatePcp, has_pcp  # noqa: E402
from real_prometheus import free_port, running, wait_for  # noqa: E402

COUNTERS = [f"meterbank.still_rows.{letter}" for letter in "abcdefghij"]
ROUNDS = 400


def measure(client, names, expected):
    ids = client.identifiers(names)
    times = []
    for _ in range(ROUNDS):
        taken, values, _ = client.fetch(ids)
        if values != expected:
            sys.exit(f"pcp_fetch.py: {values} values of {expected}")
        times.append(taken / 1e6)
    times.sort()
    return times[len(times) // 2], times[0]


def main():
    folder = os.path.join(os.path.abspath(sys.argv[1]), "bin")
    if not has_pcp():
        sys.exit("pcp_fetch.py: no pmcd here; see docs/pcp.md")
    rows = [("10 metrics of 100 instances", 100, COUNTERS, 1000),
            ("1 metric of 1,000 instances", 1000, COUNTERS[:1], 1000),
            ("10 metrics of 1,000 instances", 1000, COUNTERS, 10000),
            ("1 metric of 10,000 instances", 10000, COUNTERS[:1], 10000)]
    print(f"{'pmFetch':32} {'values':>7} {'median ms':>10} {'least':>7} {'of pmcd alone':>14}")
    for what, instances, names, expected in rows:
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(tempfile.TemporaryDirectory())
            os.environ["METERBANK_DIR"] = os.path.join(place, "run")
            os.mkdir(os.environ["METERBANK_DIR"], 0o700)
            provider = stack.enter_context(running(
                [os.path.join(folder, "meterbank_still_rows"), str(instances)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            provider.stdout.readline()
            pcp = stack.enter_context(PrivatePcp(place, free_port(),
                                                 os.path.join(folder, "pmdameterbank")))
            wait_for("metric", pcp.is_ready)
            client = Client(pcp)
            alone, _ = measure(client, ["pmcd.numclients"], 1)
            median, least = measure(client, names, expected)
            print(f"{what:32} {expected:7} {median:10.3f} {least:7.3f} {alone:14.3f}")


if __name__ == "__main__":
    main()
