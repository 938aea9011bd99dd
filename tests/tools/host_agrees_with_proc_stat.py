#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processor Information of `meterbank host` against /proc/stat and mpstat, under a known load.

usage: host_agrees_with_proc_stat.py PATH-OF-METERBANK [SECONDS]

One processor is kept busy all the time, another one half of it. Values are compared, not times: the
provider stamps its values, so the very interval between two stamps is looked up in a series of
/proc/stat that this script keeps at the same time. A busy machine makes the load larger than the
known one, never the comparison wrong. mpstat picks its moments itself and gets a wider margin.
"""

import bisect
import calendar
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

POINTS = 2.0  # per cent of a processor
POINTS_MPSTAT = 5.0
SERIES_STEP = 0.01
SKIPPED = 77
TICK = os.sysconf("SC_CLK_TCK")
# Columns of a line of /proc/stat.
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(8)


def read_proc_stat():
    """Seconds by processor and kind; "_Total" is the mean of all."""
    rows = {}
    with open("/proc/stat", encoding="ascii") as stat:
        for line in stat:
            name, *numbers = line.split()
            if not name.startswith("cpu"):
                break
            rows[name[3:]] = [int(number) / TICK for number in numbers[:8]]
    processors = [row for name, row in rows.items() if name]
    rows["_Total"] = [sum(column) / len(processors) for column in zip(*processors)]
    return rows


class Series(threading.Thread):
    """/proc/stat at many moments of the wall clock."""

    def __init__(self):
        super().__init__(daemon=True)
        self.times = []
        self.rows = []
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.wait(SERIES_STEP):
            self.rows.append(read_proc_stat())
            self.times.append(time.time())

    def wait_beyond(self, moment):
        while self.is_alive() and (not self.times or self.times[-1] <= moment):
            time.sleep(SERIES_STEP)

    def at(self, moment, processor):
        """Interpolated between the readings on either side."""
        right = bisect.bisect(self.times, moment)
        if right == 0 or right == len(self.times):
            raise ValueError("moment outside of the series")
        left = right - 1
        share = (moment - self.times[left]) / (self.times[right] - self.times[left])
        before, after = self.rows[left][processor], self.rows[right][processor]
        return [a + share * (b - a) for a, b in zip(before, after)]

    def shares(self, begin, end, processor):
        """Per cent of the interval, by counter."""
        gained = [b - a for a, b in zip(self.at(begin, processor), self.at(end, processor))]
        part = [100 * seconds / (end - begin) for seconds in gained]
        idle = part[IDLE] + part[IOWAIT]
        return {
            "processor_time": 100 - idle,
            "user_time": part[USER] + part[NICE],
            "privileged_time": part[SYSTEM] + part[IRQ] + part[SOFTIRQ],
            "idle_time": idle,
            "steal_time": part[STEAL],
        }


def burn(processor, duty):
    """A child that keeps `processor` busy for `duty` of each tenth of a second."""
    child = os.fork()
    if child:
        return child
    os.sched_setaffinity(0, {processor})
    parent = os.getppid()
    while os.getppid() == parent:
        end = time.monotonic() + 0.1
        while time.monotonic() < end - 0.1 * (1 - duty):
            pass
        time.sleep(max(0.0, end - time.monotonic()))
    os._exit(0)


def seconds_of(stamp):
    """Wall clock of "2026-11-21T09:04:40.002Z"."""
    whole, _, rest = stamp.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (rest or "0"))


def mpstat_busy(text):
    """Per cent not idle by processor, from the averages."""
    busy = {}
    columns = []
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] != "Average:":
            continue
        if "%idle" in words:
            columns = words
        elif columns:
            row = dict(zip(columns, words))
            name = "_Total" if row["CPU"] == "all" else row["CPU"]
            busy[name] = 100 - float(row["%idle"]) - float(row["%iowait"])
    return busy


def compare(first, second, series, mpstat):
    """Prints every comparison; the number of those that fail."""
    failures = 0
    begin_of = {row["path"]: seconds_of(row["time"]) - row["age_s"] for row in first["samples"]}
    for row in second["samples"]:
        name = row["instance"].split(",")[-1]
        if row["instance"].endswith(",_Total") or row["value"] is None:
            continue
        end = seconds_of(row["time"]) - row["age_s"]
        expected = series.shares(begin_of[row["path"]], end, name)[row["counter"]]
        # What is shown lies between 0 and 100, as the tools of the model have it.
        expected = min(max(expected, 0.0), 100.0)
        checks = [("/proc/stat", expected, POINTS)]
        if row["counter"] == "processor_time" and name in mpstat:
            checks.append(("mpstat", mpstat[name], POINTS_MPSTAT))
        for source, value, margin in checks:
            good = abs(row["value"] - value) <= margin
            failures += not good
            print(f"{row['counter']:16} {name:7} {row['value']:7.2f} %  {source:10} {value:7.2f} %"
                  f"  {'ok' if good else 'FAILED'}")
    return failures


def main():
    program = sys.argv[1]
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    if not shutil.which("mpstat"):
        print("no mpstat here")
        return SKIPPED
    directory = tempfile.mkdtemp(prefix="meterbank-agree-")
    environment = dict(os.environ, METERBANK_DIR=directory, LC_ALL="C")
    processors = sorted(os.sched_getaffinity(0))
    children = [burn(processors[0], 1.0)]
    if len(processors) > 1:
        children.append(burn(processors[1], 0.5))
    series = Series()
    series.start()
    series.wait_beyond(0)
    host = subprocess.Popen([program, "host", "--no-processes", "--period", "50ms"],
                            env=environment)
    try:
        counters = ["processor_time", "user_time", "privileged_time", "idle_time", "steal_time"]
        paths = [f"processor_information/*/{counter}" for counter in counters]
        subprocess.run([program, "get", "--wait", "20s", "-q", "--raw", paths[0]],
                       env=environment, check=True, stdout=subprocess.DEVNULL)
        mpstat = subprocess.Popen(["mpstat", "-P", "ALL", "1", str(seconds)], env=environment,
                                  stdout=subprocess.PIPE, text=True)
        command = [program, "get", "-n", "2", "-i", f"{seconds}s", "-f", "jsonl", *paths]
        got = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        averages = mpstat_busy(mpstat.communicate()[0])
        series.wait_beyond(time.time())
    finally:
        series.stopped.set()
        series.join()
        host.terminate()
        host.wait()
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
        shutil.rmtree(directory, ignore_errors=True)
    first, second = (json.loads(line) for line in got.stdout.splitlines())
    failures = compare(first, second, series, averages)
    busiest = max(row["value"] for row in second["samples"]
                  if row["counter"] == "processor_time")
    # Without this, a provider and a machine that both stand still would agree.
    if busiest < 50:
        print(f"the load was not seen: at most {busiest:.1f} %")
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
