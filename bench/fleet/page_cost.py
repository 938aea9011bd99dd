#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page of `meterbank view` costs in Debian's Chromium, which draws without a graphics processor here: the
time to the first plot, from a value to its pixel, processor time and memory of twelve plots at 10 Hz, of the server
for each viewer, and a spike of 10 ms in a recording of a day.

usage: page_cost.py BIN-FOLDER [--minutes N] [--day FILE] [--quick]

--minutes   how long the twelve plots are watched (default 1)
--day       where the recording of a day is, or is made, which takes some minutes; without it, it is left out
"""

import argparse
import contextlib
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from beside import cpu_seconds, resident_bytes, running, start_counters

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tests/tools/page"))
from chromium import Chromium  # noqa: E402

DAY_TICKS, SPIKE = 8_640_000, 90_000
# Runs before the page does: when the first plot was on the screen, and how old values are when they are.
OBSERVER = """
addEventListener('DOMContentLoaded', () => {
  window.ages = [];
  new MutationObserver(() => {
    if (!window.firstPlot && document.querySelector('.u-over'))
      requestAnimationFrame(() => setTimeout(() => window.firstPlot ||= performance.now()));
  }).observe(document.body, {childList: true, subtree: true});
  new MutationObserver(() => {
    const {time, live} = picture;
    if (live) requestAnimationFrame(() => setTimeout(() => window.ages.push(Date.now() - time)));
  }).observe(document.getElementById('moment'), {childList: true, characterData: true, subtree: true});
});
"""


def line(name, *cells):
    print(f"{name:<58}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


class Served:
    def __init__(self, stack, programs, *words):
        self.process = stack.enter_context(running(
            [os.path.join(programs, "meterbank-view"), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True))
        address = self.process.stdout.readline().strip()
        self.base, self.token = address.split("#")
        self.host = urllib.parse.urlsplit(self.base).netloc

    def page(self, link):
        return f"{self.base}?{link}#{self.token}"

    def request(self, path):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        return connection.getresponse()


class Pid:
    def __init__(self, pid):
        self.pid = pid


def family(process):
    """It and its descendants."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
            parents[int(entry)] = int(file.read().rsplit(")", 1)[1].split()[1])
    found = [process.pid]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return [Pid(pid) for pid in found]


def cpu_of(processes):
    seconds = 0
    for process in processes:
        with contextlib.suppress(OSError):
            seconds += cpu_seconds(process)
    return seconds


def heap_mib(browser):
    browser.call("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}
    return metrics["JSHeapUsedSize"] / (1 << 20)


def prepare(browser):
    browser.open_tab()
    # What it reports would be work that no user's browser has.
    browser.call("Network.disable")
    browser.call("Accessibility.disable")
    browser.call("Performance.enable")
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=OBSERVER)


def measure_loads(browser, served, rounds):
    times = []
    for _ in range(rounds):
        prepare(browser)
        browser.go(served.page("screen=set&set=moving"))
        browser.until("document.querySelectorAll('td a').length")
        browser.go(served.page("screen=instance&set=moving_page&instance=/api/route/0&span=60"))
        times.append(browser.until("window.firstPlot") and browser.run("window.firstPlot"))
    line("page opened to its first plot, of twelve", f"{statistics.median(times):.0f} ms", "250 ms")


def measure_plots(browser, served, minutes):
    prepare(browser)
    browser.go(served.page("screen=instance&set=moving_page&instance=/api/route/0&span=60"))
    browser.until("document.querySelectorAll('.u-over').length === 12")
    points = "lastPlots.map(plot => plot.times.length)"
    browser.until(f"Math.min(...{points}) >= 595", 90)
    shown = browser.run(f"[{points}.join(), lastPlots.map(plot => plot.curves.length).join()]")
    browser.run("window.ages.length = 0")
    heap_before, processes = heap_mib(browser), family(browser.process)
    spent, server_spent, began = cpu_of(processes), cpu_seconds(served.process), time.monotonic()
    browser.wait(60 * minutes)
    seconds = time.monotonic() - began
    share, server = (cpu_of(processes) - spent) / seconds, (cpu_seconds(served.process) - server_spent) / seconds
    ages = sorted(browser.run("window.ages"))
    heap = heap_mib(browser)
    line(f"Chromium, {shown[1].count(',') + 1} plots of {shown[1].split(',')[0]} curves, {shown[0].split(',')[0]} moments, "
         "10 Hz", f"{100 * share:.1f} %", "25 %")
    line(f"its heap after {minutes:g} minutes, before", f"{heap:.1f} MiB", f"{heap_before:.1f} MiB")
    line("moment of a value to its pixel, p50, p99", f"{ages[len(ages) // 2]:.0f} ms", f"{ages[len(ages) * 99 // 100]:.0f} ms")
    line("pictures in that time, of how many moments", f"{len(ages)}", f"{10 * seconds:.0f}")
    line("server for this viewer", f"{100 * server:.2f} %", "0.3 %")


def measure_viewers(served, counts, seconds):
    link = "/stream?screen=instance&set=moving_page&instance=/api/route/0&span=60&window.columns=600&window.counters=12"
    for count in counts:
        read, stop = [0], threading.Event()

        def look():
            answer = served.request(link)
            while not stop.is_set():
                part = answer.read1(1 << 16)
                read[0] += len(part)

        viewers = [threading.Thread(target=look, daemon=True) for _ in range(count)]
        for viewer in viewers:
            viewer.start()
        time.sleep(3)
        read[0] = 0
        spent, began = cpu_seconds(served.process), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        share = (cpu_seconds(served.process) - spent) / took
        line(f"server, {count} viewers of one place, each", f"{100 * share / count:.3f} %",
             f"{read[0] / took / 10 / count:.0f} B/moment", f"{resident_bytes(served.process) / (1 << 20):.1f} MiB")
        stop.set()
        for viewer in viewers:
            viewer.join(5)


def measure_spike(browser, stack, programs, day):
    if not os.path.exists(day):
        subprocess.run([os.path.join(programs, "meterbank_day_of_counters"), day, "10", str(DAY_TICKS), "2", "10"],
                       check=True)
    served = Served(stack, programs, day)
    prepare(browser)
    link = "screen=instance&set=day&instance=0&counter=counter_8&span=86400"
    browser.go(served.page(link))
    highest = "Math.max(...lastPlots[0].curves[0].high)"
    browser.until("window.firstPlot", 30)
    began = browser.run("window.firstPlot")
    seen = browser.run(highest)
    line("a day of 8,640,000 moments opened to its plot", f"{began:.0f} ms", "250 ms")
    line(f"the spike of one moment, {SPIKE}, is in the plot", f"{seen:.0f}", "visible" if seen == SPIKE else "LOST")
    at = browser.run("(plot => plot.times[plot.curves[0].high.indexOf(Math.max(...plot.curves[0].high))])(lastPlots[0])")
    for span in (14_400, 600, 10):
        browser.run(f"performance.clearResourceTimings(); change({{at: momentText({at} + {span} * 500), span: {span}}})")
        taken = browser.until("performance.getEntriesByType('resource').find(e => e.name.includes('/series?') && "
                              "e.responseEnd > 0)", 30) and browser.run(
            "(e => e.responseEnd - e.startTime)(performance.getEntriesByType('resource')"
            ".find(e => e.name.includes('/series?')))")
        browser.wait(0.3)
        line(f"zoomed to {span} s: the plots fetched in, greatest value", f"{taken:.0f} ms", f"{browser.run(highest):.0f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--day")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        folder = start_counters(stack, options.programs, scratch, 1_000, period_ms=100, page=True)
        served = Served(stack, options.programs, "--dir", folder, "-i", "100ms", "--ring", scratch + "/none")
        browser = stack.enter_context(Chromium())
        line("", "measured", "to reach")
        measure_loads(browser, served, 3 if options.quick else 15)
        measure_plots(browser, served, 0.1 if options.quick else options.minutes)
        browser.go("about:blank")
        measure_viewers(served, (1, 50), 2 if options.quick else 20)
        if options.day:
            measure_spike(browser, stack, options.programs, options.day)


if __name__ == "__main__":
    main()
