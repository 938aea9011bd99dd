#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of meterbank-agent as promtool, the reference parser of OpenMetrics and two Prometheus servers
read them: one with native histograms, which scrapes protobuf, and one without, which scrapes OpenMetrics.

usage: real_prometheus.py PATH-OF-METERBANK PATH-OF-METERBANK-AGENT PATH-OF-STILL-SHOP
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import open_metrics_2

SKIPPED = 77
# Debian's own Python has the reference parser.
DEBIAN_PYTHON = "/usr/bin/python3"
PARSER = """
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(repr((sample.name, sorted(sample.labels.items()), sample.value)))
"""
AISLES = ["fruit", 'say "bread" \\ or ü', "a,b={c}"]
SOLD = 1000
WAIT_S = 60


def check(is_true, what):
    if not is_true:
        sys.exit(f"FAILED: {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(arguments, **options):
    process = subprocess.Popen(arguments, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def fetch(url, accept="*/*"):
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode("utf-8")


def wait_for(what, attempt):
    """What `attempt` returns, once that is true."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if result := attempt():
                return result
        time.sleep(0.1)
    sys.exit(f"FAILED: no {what} within {WAIT_S} s")


class Prometheus:
    """A server that scrapes the agent each second."""

    def __init__(self, stack, folder, name, target, features):
        self.port = free_port()
        config = os.path.join(folder, f"{name}.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(
                "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                f"scrape_configs: [{{job_name: x, static_configs: [{{targets: ['{target}']}}]}}]\n")
        self.process = stack.enter_context(running(
            ["prometheus", f"--config.file={config}",
             f"--storage.tsdb.path={os.path.join(folder, name)}",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"] + features))

    def query(self, text):
        """Labels and value of each series; a value is a number, or a dictionary of a histogram."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode(
            {"query": text})
        result = json.loads(fetch(url))["data"]["result"]
        return [(series["metric"],
                 series["histogram"][1] if "histogram" in series else float(series["value"][1]))
                for series in result]

    def by_aisle(self, text):
        return {labels["aisle"]: value for labels, value in self.query(text)}


def open_shop(stack, folder, program):
    """A provider that has sold SOLD items in each aisle, in a directory of its own, and stands still."""
    os.environ["METERBANK_DIR"] = os.path.join(folder, "run")
    os.mkdir(os.environ["METERBANK_DIR"], 0o700)
    shop = stack.enter_context(running([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True))
    shop.stdout.readline()
    shop.stdin.write(f"sell {SOLD}\n")
    shop.stdin.flush()
    shop.stdout.readline()
    return shop


def check_text(address):
    page = fetch(f"http://{address}/metrics")
    lint = subprocess.run(["promtool", "check", "metrics"], input=page, text=True,
                          capture_output=True, check=False)
    check(lint.returncode == 0, f"promtool check metrics: {lint.stderr}{lint.stdout}")
    series = [line.rpartition(" ")[0] for line in page.splitlines() if not line.startswith("#")]
    check(len(series) == len(set(series)), "each series is there once")
    # The control: promtool finds what is wrong.
    bad = subprocess.run(["promtool", "check", "metrics"], text=True, capture_output=True,
                         input="# TYPE x counter\nx 1\n", check=False)
    check(bad.returncode != 0, "promtool finds a counter without _total")


def check_open_metrics(address, command_line):
    page = fetch(f"http://{address}/metrics", "application/openmetrics-text;version=1.0.0")
    parsed = subprocess.run([DEBIAN_PYTHON, "-c", PARSER], input=page, text=True,
                            capture_output=True, check=False)
    check(parsed.returncode == 0, f"the reference parser reads OpenMetrics: {parsed.stderr}")
    samples = {}
    for line in parsed.stdout.splitlines():
        name, labels, value = eval(line, {"__builtins__": {}})  # of our own script
        samples[name, dict(labels).get("aisle")] = (dict(labels), value)
    # `meterbank get` of the same moment: the shop stands still.
    rows = json.loads(subprocess.run(
        [command_line, "get", "--raw", "-n", "1", "-f", "json", "still_shop/*/*"],
        text=True, capture_output=True, check=True).stdout)
    names = {"sold": ("meterbank_still_shop_sold_total", 1),
             "stock": ("meterbank_still_shop_stock", 1),
             "label_bytes": ("meterbank_still_shop_label_bytes_total", 1024)}
    compared = 0
    for row in rows["samples"]:
        if row["counter"] not in names:
            continue
        name, factor = names[row["counter"]]
        _, value = samples[name, row["instance"]]
        check(float(value) == float(row["value"]) * factor, f"{name} is {row['value']} times {factor}")
        compared += 1
    check(compared == len(names) * len(AISLES), f"compared {compared} values with meterbank get")
    for aisle in AISLES:
        labels, _ = samples["meterbank_still_shop_state_info", aisle]
        check(labels["state"] == 'open\n"now"', "texts arrive as they are")


def check_open_metrics_2(address):
    """The same as OpenMetrics 1.0 says, and what only this version has."""
    families = open_metrics_2.parse(fetch(
        f"http://{address}/metrics?buckets=0.1,0.5", "application/openmetrics-text;version=2.0.0"))
    kind, sold = families["meterbank_still_shop_sold_total"]
    check(kind == "counter" and {labels["aisle"]: value for labels, value, _ in sold} ==
          {aisle: SOLD for aisle in AISLES}, f"OpenMetrics 2.0 has the counts: {sold}")
    check(all(time.time() - 600 < start <= time.time() for _, _, start in sold),
          f"and since when they have been growing: {sold}")
    kind, states = families["meterbank_still_shop_state_info"]
    check(kind == "info" and states[0][0]["state"] == 'open\n"now"', f"and texts: {states}")
    kind, serving = families["meterbank_still_shop_serving_time_seconds"]
    check(kind == "histogram" and len(serving) == len(AISLES), f"and histograms: {serving}")
    for _, value, start in serving:
        check(value["count"] == SOLD and value["schema"] == 3 and start is not None, "a histogram")
        check(value["classic"] == [(0.1, 100.0), (0.5, 500.0), (float("inf"), SOLD)] or
              all(abs(count - bound * SOLD) <= 0.1 * bound * SOLD
                  for bound, count in value["classic"][:-1]), f"its classic buckets: {value}")
        # Each value to SOLD milliseconds was recorded once.
        below = 0
        for end, count in value["native"]:
            below += count
            check(abs(below - min(int(end * SOLD + 1e-9), SOLD)) <= 1,
                  f"{below} values are at most {end}: {value}")


def check_servers(native, classic, command_line):
    sold = "meterbank_still_shop_sold_total"
    for server in (native, classic):
        wait_for("scraped value", lambda server=server: server.by_aisle(sold) ==
                 {aisle: SOLD for aisle in AISLES})
        check(server.query("up")[0][1] == 1, "the scrape succeeds")
        check(server.by_aisle("meterbank_still_shop_stock")["fruit"] == 2.0**64,
              "a large gauge arrives")
        check(server.query('meterbank_provider_up{provider="shop"}')[0][1] == 1, "the shop is up")
    serving = "meterbank_still_shop_serving_time_seconds"
    # Each value to SOLD milliseconds was recorded once; a bucket at scale 3 is 9 % wide.
    for share in (0.1, 0.5, 0.9, 0.99):
        for aisle, value in native.by_aisle(f"histogram_quantile({share}, {serving})").items():
            expected = share * SOLD / 1000
            check(abs(value / expected - 1) < 2**(1 / 8) - 1,
                  f"quantile {share} of {aisle} is {value}, expected about {expected}")
    check(native.by_aisle(f"histogram_count({serving})") == {aisle: SOLD for aisle in AISLES},
          "the native histogram has all values")
    check(classic.by_aisle(f"{serving}_count") == {aisle: SOLD for aisle in AISLES},
          "the classic histogram has all values")


def main():
    command_line, agent, shop_program = sys.argv[1:]
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        print("skipped: no prometheus here")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        shop = open_shop(stack, folder, shop_program)
        address = f"127.0.0.1:{free_port()}"
        stack.enter_context(running([agent, "--listen", address], stderr=subprocess.DEVNULL))
        wait_for("page", lambda: fetch(f"http://{address}/-/ready"))
        native = Prometheus(stack, folder, "native", address,
                            ["--enable-feature=native-histograms"])
        classic = Prometheus(stack, folder, "classic", address, [])
        check_text(address)
        check_open_metrics(address, command_line)
        check_open_metrics_2(address)
        check_servers(native, classic, command_line)
        shop.send_signal(signal.SIGKILL)
        shop.wait()
        # Gone at once, not after the five minutes in which Prometheus looks back for a value.
        wait_for("end of the series", lambda: not native.query("meterbank_still_shop_sold_total"))
        check(native.query('meterbank_provider_up{provider="shop"}')[0][1] == 0, "the shop is down")
    print("Prometheus reads what meterbank get prints")
    return 0


if __name__ == "__main__":
    sys.exit(main())
