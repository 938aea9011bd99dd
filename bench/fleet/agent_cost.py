#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an agent costs on a node: processor time, memory and bytes on the wire, by protocol. Counters change
once a second. docs/fleet/README.md has the figures.

usage: agent_cost.py BIN-FOLDER [--quick]
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time

from beside import (Sink, cpu_seconds, fetch, private_bytes, resident_bytes, start_agent,
                    start_counters)

MIB = 1 << 20
FORMATS = {"text": "text/plain", "OpenMetrics": "application/openmetrics-text;version=1.0.0",
           "protobuf": "application/vnd.google.protobuf;"
                       "proto=io.prometheus.client.MetricFamily;encoding=delimited"}
PUSHES = (("otlp", "none"), ("otlp", "gzip"), ("otlp", "zstd"), ("remote-write-1", None),
          ("remote-write", None))


def line(*cells):
    print("".join(f"{cell:<48}" if at == 0 else f"{cell:>20}" for at, cell in enumerate(cells)),
          flush=True)


def write_settings(folder, protocol, url, interval_ms, compress=None):
    path = os.path.join(folder, "agent.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[exporter]\nlisten = "none"\n[[push]]\nprotocol = "{protocol}"\nurl = "{url}"\n'
                   f"interval_ms = {interval_ms}\nqueue_mib = 128\n")
        if compress is not None:
            file.write(f'compress = "{compress}"\n')
    return path


def measure(process, seconds, each=None, period=None):
    """Share of a processor over this time; `each` is done once in every period."""
    begin, cpu = time.monotonic(), cpu_seconds(process)
    next_at = begin
    while (now := time.monotonic()) < begin + seconds:
        if each is not None and now >= next_at:
            each()
            next_at += period
        time.sleep(min(0.05, seconds / 100))
    return (cpu_seconds(process) - cpu) / (time.monotonic() - begin)


def memory(process):
    return (f"{resident_bytes(process) / MIB:.1f} MiB",
            f"{private_bytes(process) / MIB:.1f} MiB")


def wire_rows(stack, bin_folder, folder, counters):
    """Bytes a sample of one page or one snapshot."""
    line(f"wire, {counters} counters", "B a sample")
    directory = start_counters(stack, bin_folder, folder, counters)
    _, address = start_agent(stack, bin_folder, "--dir", directory, "--listen", "127.0.0.1:0",
                             "--compress", "always", "moving/*/*")
    for name, accept in FORMATS.items():
        for encoding in ("identity", "gzip", "zstd"):
            page = fetch(f"http://{address}/metrics?set=moving",
                         {"Accept": accept, "Accept-Encoding": encoding})
            line(f"  page, {name}, {encoding}", f"{len(page) / counters:.1f}")
    for protocol, compress in PUSHES:
        sink = Sink(stack)
        result = subprocess.run(
            [os.path.join(bin_folder, "meterbank-agent"), "--once", "--dir", directory, "--config",
             write_settings(folder, protocol, sink.url, 1000, compress)],
            text=True, capture_output=True, check=True)
        points = int(re.search(r"(\d+) points", result.stdout + result.stderr).group(1))
        line(f"  {protocol}, {compress or 'snappy'}", f"{sink.bytes / points:.1f}")


def record_settings(folder, interval_ms):
    path = os.path.join(folder, "agent.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[record]\ndirectory = "{folder}/ring"\ninterval_ms = {interval_ms}\n'
                   'paths = ["moving/*/*"]\n')
    return ["--config", path]


def scrape_row(stack, bin_folder, folder, counters, seconds, period, record_ms=None):
    """Counters change as often as they are recorded, or once a second."""
    directory = start_counters(stack, bin_folder, folder, counters, record_ms or 1000)
    recording = record_settings(folder, record_ms) if record_ms else []
    process, address = start_agent(stack, bin_folder, "--dir", directory, "--listen", "127.0.0.1:0",
                                   *recording)

    def scrape():
        fetch(f"http://{address}/metrics", {"Accept": FORMATS["protobuf"]})
    scrape()
    time.sleep(1)
    share = measure(process, seconds, scrape, period)
    recorded = f", recorded every {record_ms / 1000:g} s" if record_ms else ""
    line(f"  {counters}, scraped every {period} s{recorded}", f"{share * 100:.3f} %",
         *memory(process))


def push_row(stack, bin_folder, folder, counters, seconds, protocol, interval_ms):
    directory = start_counters(stack, bin_folder, folder, counters, interval_ms)
    sink = Sink(stack)
    process, _ = start_agent(stack, bin_folder, "--dir", directory, "--config",
                             write_settings(folder, protocol, sink.url, interval_ms))
    # The first snapshots make what later ones use again.
    time.sleep(max(3, 3 * interval_ms / 1000))
    before, begin = sink.bytes, time.monotonic()
    share = measure(process, seconds)
    rate = (sink.bytes - before) / (time.monotonic() - begin)
    samples = int(subprocess.run(
        [os.path.join(bin_folder, "meterbank"), "get", "--dir", directory, "-i", "2s",
         "-n", "1", "-f", "tsv", "agent_push/*/points"], text=True, capture_output=True,
        check=True).stdout.splitlines()[1].split("\t")[5].split(".")[0])
    line(f"  {counters}, {protocol} every {interval_ms / 1000:g} s", f"{share * 100:.3f} %",
         *memory(process), f"{samples} samples/s", f"{rate / MIB:.2f} MiB/s")


def main():
    bin_folder, quick = sys.argv[1], "--quick" in sys.argv
    seconds = 2 if quick else 60
    rows = [1000] if quick else [1000, 100_000]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        with contextlib.ExitStack() as one:
            wire_rows(one, bin_folder, folder, 800 if quick else 10_000)
        line("agent, counters", "processor", "resident", "private", "", "")
        for counters in rows:
            for protocol in (None, "remote-write", "otlp"):
                with contextlib.ExitStack() as one:
                    place = one.enter_context(tempfile.TemporaryDirectory())
                    if protocol is None:
                        scrape_row(one, bin_folder, place, counters, seconds, 1 if quick else 15)
                    else:
                        push_row(one, bin_folder, place, counters, seconds, protocol, 1000)
        for counters, interval_ms in ((1000, 1000),) if quick else ((1000, 1000), (100_000, 1000),
                                                                    (10_000, 10)):
            with contextlib.ExitStack() as one:
                place = one.enter_context(tempfile.TemporaryDirectory())
                scrape_row(one, bin_folder, place, counters, seconds, 1 if quick else 15,
                           interval_ms)
        for counters, interval_ms in () if quick else ((1_000_000, 1000), (100_000, 100)):
            with contextlib.ExitStack() as one:
                place = one.enter_context(tempfile.TemporaryDirectory())
                push_row(one, bin_folder, place, counters, 30, "remote-write", interval_ms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
