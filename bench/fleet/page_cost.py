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
import base64
import contextlib
import http.client
import json
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
from chromium import Chromium, find  # noqa: E402

DAY_TICKS = 8_640_000
DAY_BEGIN_MS = 1_700_000_000_000  # of meterbank_day_of_counters
PLOTS = "screen=instance&set=moving_page&instance=/api/route/0&span=60"
# Runs before the page does: when the first plot was on the screen, and how old the moment of a picture is when that is:
# how many were so many milliseconds old, because a list of ages would grow for as long as the page is watched.
OBSERVER = """
window.ages = new Uint32Array(2000);
const parse = JSON.parse;
JSON.parse = text => {
  const made = parse(text);
  if (made?.time && made.live !== false) requestAnimationFrame(() => setTimeout(() =>
    ++window.ages[Math.min(1999, Math.round(Date.now() - made.time))]));
  return made;
};
addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
  if (!window.firstPlot && document.querySelector('.plot canvas'))
    requestAnimationFrame(() => setTimeout(() => window.firstPlot ||= performance.now()));
}).observe(document.body, {childList: true, subtree: true}));
"""
# What the browser takes for a line of text.
EMPTY = "data:text/html,<p>A line of text.<script>requestAnimationFrame(() => setTimeout(() => " \
        "window.firstPlot = performance.now()))</script>"
LEGENDS = "[...document.querySelectorAll('.plot')].map(plot => plot.getAttribute('aria-label'))"


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


def loaded_ms(browser, url, rounds):
    times = []
    for _ in range(rounds):
        prepare(browser)
        browser.go(url)
        browser.until("window.firstPlot", 30)
        times.append(browser.run("window.firstPlot"))
    return statistics.median(times)


def measure_loads(browser, served, rounds):
    line("a line of text opened to its pixels", f"{loaded_ms(browser, EMPTY, rounds):.0f} ms")
    for name, link in (("one plot", "screen=instance&set=moving&instance=/api/route/0&filter=waiting&counter=waiting"),
                       ("twelve plots of three curves", PLOTS)):
        line(f"page opened to its first plot, with {name}", f"{loaded_ms(browser, served.page(link), rounds):.0f} ms",
             "250 ms")


ALL_SEEN = "[...document.querySelectorAll('.plot')].every(e => e.getBoundingClientRect().bottom <= innerHeight)"


def measure_plots(browser, served, seconds_before, minutes):
    prepare(browser)
    # The page draws what is on the screen, so the window has room for all of it.
    browser.resize(1600, 3000)
    browser.go(served.page(PLOTS))
    browser.until(f"document.querySelectorAll('.plot canvas').length === 12 && {ALL_SEEN}", 60)
    browser.wait(seconds_before)
    curves = browser.run("document.querySelectorAll('.legend li').length")
    browser.run("void window.ages.fill(0)")
    heaps, processes = [heap_mib(browser)], family(browser.process)
    spent, server_spent, began = cpu_of(processes), cpu_seconds(served.process), time.monotonic()
    for _ in range(4):
        browser.wait(15 * minutes)
        heaps.append(heap_mib(browser))
    seconds = time.monotonic() - began
    share, server = (cpu_of(processes) - spent) / seconds, (cpu_seconds(served.process) - server_spent) / seconds
    browser.until("window.ages.some(count => count)", 60)
    ages = [age for age, count in enumerate(browser.run("[...window.ages]")) for _ in range(count)]
    line(f"Chromium, 12 plots, {curves} curves of 600 moments, 10 Hz", f"{100 * share:.1f} %", "25 %")
    browser.resize(1280, 800)
    browser.wait(min(2, 60 * minutes))
    spent, began = cpu_of(processes), time.monotonic()
    browser.wait(min(60, 20 * minutes))
    in_small = (cpu_of(processes) - spent) / (time.monotonic() - began)
    line("the same in a window of 1280 x 800, which does not show all of them", f"{100 * in_small:.1f} %")
    line(f"its heap, MiB, at the beginning and at each quarter of {minutes:g} minutes", *[f"{heap:.1f}" for heap in heaps])
    line("moment of values to their pixels, p50 and p99", f"{ages[len(ages) // 2]:.0f} ms",
         f"{ages[len(ages) * 99 // 100]:.0f} ms")
    line("pictures, of how many moments", f"{len(ages)}", f"{10 * seconds:.0f}")
    line("server for this viewer", f"{100 * server:.2f} %", "0.3 %")


STREAM = f"/stream?{PLOTS}&window.columns=600&window.counters=12"


def bytes_of(value):
    return len(json.dumps(value, separators=(",", ":")))


def measure_bytes(served):
    """Of a first picture, and of the moments after it; a point is one curve's value of one moment."""
    answer, text = served.request(STREAM), b""
    # A comment, sent now and then to find viewers that have gone, has no data.
    while text.count(b"data: ") < 13:
        text += answer.read1(1 << 16)
    events = [event.split(b"data: ", 1)[1] for event in text.split(b"\n\n") if b"data: " in event]
    first, *tails = map(json.loads, events[:12])
    points = sum(len(plot["curves"]) for plot in first["plots"])
    moments = len(base64.b64decode(first["plots"][0]["times"])) // 8
    tails = [tail for tail in tails if "kept" in tail["plots"]]
    line("bytes of a first picture, and of one of its points", f"{bytes_of(first)}",
         f"{bytes_of(first['plots']) / points / moments:.1f}", "6")
    line("bytes of a moment, and of one of its points", f"{statistics.median(map(bytes_of, tails)):.0f}",
         f"{statistics.median(bytes_of(tail['plots']) / points / len(tail['plots']['times']) for tail in tails):.1f}", "6")


def measure_viewers(served, counts, seconds):
    for count in counts:
        read, stop = [0], threading.Event()

        def look():
            answer = served.request(STREAM)
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
    browser.until("window.firstPlot", 60)
    line("a day of 8,640,000 moments opened to its plots", f"{browser.run('window.firstPlot'):.0f} ms", "250 ms")
    browser.until(f"{LEGENDS}.every(text => text.includes('between'))", 60)
    seen = browser.run(f"{LEGENDS}[0]")
    line("the spike of one moment is in the plot", "yes" if "90000" in seen else "NO: " + seen)
    problems = browser.run("document.querySelector('#problems').textContent")
    if problems:
        print("the page says:", problems)
    for span in (14_400, 600, 10):
        at = (DAY_BEGIN_MS + DAY_TICKS * 5 / 8 * 10) / 1e3 + span / 2
        prepare(browser)
        browser.go(served.page(f"{link}&at={at:.3f}".replace("span=86400", f"span={span}")))
        found = "performance.getEntriesByType('resource').find(e => e.name.includes('/series?') && e.responseEnd > 0)"
        browser.until(f"{found} && {LEGENDS}[0].includes('between')", 60)
        taken = browser.run(f"(e => e.responseEnd - e.startTime)({found})")
        line(f"{span} s of it fetched; the spike is in the plot", f"{taken:.0f} ms",
             "yes" if "90000" in browser.run(f"{LEGENDS}[0]") else "NO")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--day")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if find() is None:
        print("Chromium is missing; Debian's package is chromium")
        sys.exit(77)
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        folder = start_counters(stack, options.programs, scratch, 1_000, period_ms=100, page=True)
        served = Served(stack, options.programs, "--dir", folder, "-i", "100ms")
        browser = stack.enter_context(Chromium())
        line("", "measured", "to reach")
        measure_loads(browser, served, 3 if options.quick else 15)
        # 60 seconds later there are 600 moments.
        measure_plots(browser, served, *(1, 0.05) if options.quick else (62, options.minutes))
        browser.go("about:blank")
        measure_bytes(served)
        measure_viewers(served, (1, 50), 2 if options.quick else 20)
        if options.day:
            measure_spike(browser, stack, options.programs, options.day)


if __name__ == "__main__":
    main()
