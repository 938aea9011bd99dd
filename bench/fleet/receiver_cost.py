#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a Prometheus and a VictoriaMetrics cost that scrape an agent: memory a series, processor time and bytes
on disk a sample. docs/fleet/README.md has the figures.

usage: receiver_cost.py BIN-FOLDER [--quick]
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from beside import (cpu_seconds, fetch, free_port, resident_bytes, running, start_agent,
                    start_counters, wait_for)

MIB = 1 << 20


def line(*cells):
    print("".join(f"{cell:<36}" if at == 0 else f"{cell:>17}" for at, cell in enumerate(cells)),
          flush=True)


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(place, name))
               for place, _, names in os.walk(folder) for name in names)


def write_scrapes(folder, address, interval):
    path = os.path.join(folder, "scrape.yml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"global: {{scrape_interval: {interval}s, scrape_timeout: {interval}s}}\n"
                   f"scrape_configs: [{{job_name: x, params: {{set: ['moving*']}}, "
                   f"static_configs: [{{targets: ['{address}']}}]}}]\n")
    return path


class Receiver:
    """One of the two. It is started without targets first, so that its own memory is known."""

    def __init__(self, stack, folder, config):
        self.stack = stack
        self.folder = os.path.join(folder, self.name)
        self.config = config
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as empty:
            empty.write("scrape_configs: []\n")
            empty.flush()
            with contextlib.ExitStack() as alone:
                self.start(alone, empty.name, self.folder + "-empty")
                time.sleep(2)
                self.empty_bytes = resident_bytes(self.process)
        self.start(stack, config, self.folder)

    def start(self, stack, config, folder):
        self.port = free_port()
        self.process = stack.enter_context(running(
            self.command(config, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_for(self.name, lambda: fetch(f"http://127.0.0.1:{self.port}/-/healthy"))

    def metric(self, *names):
        """Of its own page: the sum of all series of these names."""
        text = fetch(f"http://127.0.0.1:{self.port}/metrics").decode()
        return sum(float(each.rsplit(" ", 1)[1]) for each in text.splitlines()
                   if each.split("{")[0].split(" ")[0] in names)


class Prometheus(Receiver):
    name = "prometheus"

    def command(self, config, folder):
        return ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}",
                f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-admin-api",
                "--enable-feature=native-histograms", "--log.level=error"]

    def series(self):
        return self.metric("prometheus_tsdb_head_series")

    def samples(self):
        return self.metric("prometheus_tsdb_head_samples_appended_total")

    def disk(self):
        """The block that it would write, and its log of the same samples."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1/admin/tsdb/snapshot", method="POST")
        with urllib.request.urlopen(request, timeout=300) as answer:
            name = json.loads(answer.read())["data"]["name"]
        return {"block": folder_bytes(os.path.join(self.folder, "snapshots", name)),
                "log": folder_bytes(os.path.join(self.folder, "wal"))}


class VictoriaMetrics(Receiver):
    name = "victoria-metrics"

    def command(self, config, folder):
        return ["victoria-metrics", f"-promscrape.config={config}", f"-storageDataPath={folder}",
                f"-httpListenAddr=127.0.0.1:{self.port}", "-loggerLevel=ERROR"]

    def series(self):
        return self.metric("vm_new_timeseries_created_total")

    def samples(self):
        return self.metric("vm_rows_inserted_total")

    def disk(self):
        for step in ("flush", "merge"):
            fetch(f"http://127.0.0.1:{self.port}/internal/force_{step}")
        wait_for("merge", lambda: not self.metric("vm_active_force_merges"))
        time.sleep(3)
        return {"values": folder_bytes(os.path.join(self.folder, "data")),
                "index": folder_bytes(os.path.join(self.folder, "indexdb"))}


def measure(bin_folder, counters, histograms, interval, seconds, kinds):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        directory = start_counters(stack, bin_folder, folder, counters, 1000, histograms)
        _, address = start_agent(stack, bin_folder, "--dir", directory, "--listen", "127.0.0.1:0")
        config = write_scrapes(folder, address, interval)
        receivers = [kind(stack, folder, config) for kind in kinds]
        for receiver in receivers:
            wait_for("first scrape", lambda receiver=receiver: receiver.samples() > 0)
        before = [(receiver.samples(), cpu_seconds(receiver.process)) for receiver in receivers]
        time.sleep(seconds)
        for receiver, (samples, cpu) in zip(receivers, before):
            all_samples, series = receiver.samples(), receiver.series()
            cpu = (cpu_seconds(receiver.process) - cpu) / max(all_samples - samples, 1)
            resident = resident_bytes(receiver.process)
            disk = receiver.disk()
            line(f"  {receiver.name}", f"{series:.0f}", f"{all_samples:.0f}",
                 f"{resident / MIB:.0f} MiB", f"{(resident - receiver.empty_bytes) / series:.0f} B",
                 f"{cpu * 1e6:.2f} us",
                 *(f"{what} {size / all_samples:.2f} B" for what, size in disk.items()))


def main():
    bin_folder, quick = sys.argv[1], "--quick" in sys.argv
    kinds = [kind for kind in (Prometheus, VictoriaMetrics) if shutil.which(kind.name)]
    line("receiver", "series", "samples", "resident", "a series", "CPU a sample", "disk a sample")
    for counters, histograms, interval, seconds in (
            ((800, 0, 1, 3),) if quick else
            ((10_000, 0, 1, 300), (100_000, 0, 10, 120), (8, 1_000, 1, 120))):
        line(f"{counters} counters, {histograms} histograms, every {interval} s")
        measure(bin_folder, counters, histograms, interval, seconds,
                [kind for kind in kinds if kind is Prometheus or histograms == 0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
