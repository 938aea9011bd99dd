#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What counting costs memcached: how fast four servers answer that run beside each other.

  compare.py FOLDER [--rounds N] [--slices N] [--seconds S] [--at-once N] [--require]

FOLDER is where build.sh built. The servers are the plain memcached, a second process of the same
program, the patched memcached, and the patched one with `-o latencies`. The ratio of the second
plain one shows what this measurement can tell apart: it would be 1 if nothing else differed.

All servers have one worker thread on one processor; the load is on another, and meets one server at
a time, a slice each. Each round starts its servers anew, as addresses and the state of caches differ
between processes, and draws the order in which they start and in which they meet the load. A ratio
compares slices of one round.

The load keeps a server busy, so its speed is what its processor lets it do: commands a second of
processor time. That is the throughput on a machine with nothing else to do, and does not move when
other programs take turns on the processor. The throughput that the load saw is printed, too.
`--require` fails unless the medians of the ratios are at least 0.995 and 0.97.
"""
import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

PLAIN, AGAIN, COUNTERS, LATENCIES = "plain", "plain, too", "counters", "latencies"
KINDS = [PLAIN, AGAIN, COUNTERS, LATENCIES]
REQUIRED = {COUNTERS: 0.995, LATENCIES: 0.97}
SERVER_CPU, LOAD_CPU = sorted(os.sched_getaffinity(0))[:2]


class Server:
    def __init__(self, folder, kind, port, directory):
        built = "plain" if kind in (PLAIN, AGAIN) else "patched"
        program = os.path.join(folder, built, "memcached")
        options = ["-o", "latencies"] if kind == LATENCIES else []
        self.port = port
        self.process = subprocess.Popen(
            [program, "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-t", "1", *options],
            env={**os.environ, "METERBANK_DIR": directory},
            preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CPU}))

    def processor_seconds(self):
        total = 0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{thread}/schedstat") as stat:
                total += int(stat.read().split()[0])
        return total / 1e9

    def stop(self):
        self.process.terminate()
        self.process.wait()


def load(folder, server, seconds, at_once, kind):
    """Commands, the seconds that they took, and those that the server ran of them."""
    before, begin = server.processor_seconds(), time.monotonic()
    done = subprocess.run(
        [os.path.join(folder, "load"), str(server.port), str(seconds), "50", str(at_once), kind],
        stdout=subprocess.PIPE, check=True, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {LOAD_CPU}))
    commands, took = done.stdout.split()
    return int(commands), float(took), server.processor_seconds() - before


def one_round(folder, generator, arguments, directory):
    """The sums over all slices of what load() returns, for each server."""
    order = generator.sample(KINDS, len(KINDS))
    servers = {kind: Server(folder, kind, 23000 + at, directory) for at, kind in enumerate(order)}
    try:
        time.sleep(0.3)
        for kind in order:
            load(folder, servers[kind], 0.1, arguments.at_once, "fill")
            load(folder, servers[kind], 0.1, arguments.at_once, "mix")
        sums = {kind: (0, 0, 0) for kind in KINDS}
        for at in range(arguments.slices):
            for kind in order if at % 2 == 0 else reversed(order):
                more = load(folder, servers[kind], arguments.seconds, arguments.at_once, "mix")
                sums[kind] = tuple(map(sum, zip(sums[kind], more)))
        return sums
    finally:
        for server in servers.values():
            server.stop()


def interval(ratios):
    """The 95 % interval of the median, by bootstrap."""
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios)))
                     for _ in range(10000))
    return medians[250], medians[9749]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--slices", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--require", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        generator = random.Random(1)
        rounds = [one_round(arguments.folder, generator, arguments, directory)
                  for _ in range(arguments.rounds)]
    ran = statistics.median(one[kind][2] / one[kind][1] for one in rounds for kind in one)
    print(f"{arguments.rounds} rounds of {arguments.slices} slices of {arguments.seconds} s, "
          f"{arguments.at_once} commands at once; servers ran for {100 * ran:.0f} % of the time")
    print("                           ratio to plain")
    print("server      commands/cpu-s  median  95 % interval     required  throughput")
    good = True
    for kind in KINDS:
        speeds = [one[kind][0] / one[kind][2] for one in rounds]
        line = f"{kind:10}  {statistics.median(speeds):14,.0f}"
        if kind != PLAIN:
            ratios = [speed / (one[PLAIN][0] / one[PLAIN][2]) for speed, one in zip(speeds, rounds)]
            seen = [one[kind][0] / one[kind][1] / (one[PLAIN][0] / one[PLAIN][1]) for one in rounds]
            median = statistics.median(ratios)
            low, high = interval(ratios)
            line += f"  {median:.4f}  {low:.4f} to {high:.4f}  {REQUIRED.get(kind, ''):<8}  "
            line += f"{statistics.median(seen):.4f}"
            good = good and median >= REQUIRED.get(kind, 0)
        print(line)
    return 0 if good or not arguments.require else 1


if __name__ == "__main__":
    sys.exit(main())
