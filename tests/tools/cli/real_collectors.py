#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What collectd, InfluxDB, VictoriaMetrics and node_exporter make of the formats of `meterbank get`.

usage: real_collectors.py PATH-OF-METERBANK PATH-OF-STILL-SHOP FOLDER-OF-UNPACKED-PACKAGES
"""

import contextlib
import csv
import glob
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "agent"))
from real_prometheus import (AISLES, SKIPPED, SOLD, check, fetch, free_port,  # noqa: E402
                             open_shop, running, wait_for)

NEEDED = ("collectd", "influxd", "victoria-metrics", "prometheus-node-exporter")
UNPRIVILEGED = 65534
# As InfluxDB keeps it: see docs/cli.md.
KEPT_AISLES = [aisle.replace("\\", "\ufffd") for aisle in AISLES]


def get(command_line, *arguments):
    return subprocess.run([command_line, "get", *arguments], capture_output=True, check=True).stdout


def raw_values(command_line):
    """By counter and aisle; the shop stands still, so they are those of every moment."""
    rows = json.loads(get(command_line, "--raw", "-f", "json", "still_shop/*/*"))
    return {(row["counter"], row["instance"]): row["value"] for row in rows["samples"]
            if row["value"] is not None}


def post(url, body):
    request = urllib.request.Request(url, data=body)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.status


def check_influxdb(stack, folder, command_line):
    port, folder = free_port(), os.path.join(folder, "influxdb")
    os.mkdir(folder)
    config = os.path.join(folder, "influxdb.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f'reporting-disabled = true\nbind-address = "127.0.0.1:{free_port()}"\n'
                   f'[meta]\ndir = "{folder}/meta"\n[data]\ndir = "{folder}/data"\n'
                   f'wal-dir = "{folder}/wal"\nquery-log-enabled = false\n'
                   f'[http]\nbind-address = "127.0.0.1:{port}"\nlog-enabled = false\n')
    stack.enter_context(running(["influxd", "-config", config], stderr=subprocess.DEVNULL))
    base = f"http://127.0.0.1:{port}"

    def query(text):
        url = f"{base}/query?" + urllib.parse.urlencode({"db": "shop", "q": text})
        return json.loads(fetch(url))["results"][0].get("series", [])

    wait_for("InfluxDB", lambda: post(base + "/query", b"q=CREATE+DATABASE+shop") == 200)
    lines = get(command_line, "--raw", "-f", "influx", "still_shop/*/*")
    check(post(base + "/write?db=shop", lines) == 204, "InfluxDB takes every line")
    series = query('SELECT * FROM still_shop GROUP BY "instance", "provider"')
    found = {}
    for one in series:
        check(one["tags"]["provider"] == "shop", "the provider is a tag")
        found[one["tags"]["instance"]] = dict(zip(one["columns"], one["values"][0]))
    check(sorted(found) == sorted(KEPT_AISLES), f"each aisle is a series: {list(found)}")
    raw = raw_values(command_line)
    for aisle, kept in zip(AISLES, KEPT_AISLES):
        check(found[kept]["sold"] == raw["sold", aisle] == SOLD, f"sold of {aisle}")
        check(found[kept]["label_bytes"] == raw["label_bytes", aisle], f"label_bytes of {aisle}")
        check(found[kept]["serving_time.count"] == SOLD,
              f"customers of {aisle}")
        check(float(found[kept]["stock"]) == float(raw["stock", aisle]), f"stock of {aisle}")
        check(found[kept]["state"] == 'open\ufffd"now"', f"texts are fields: {found[kept]['state']}")


def check_victoria_metrics(stack, folder, command_line):
    port = free_port()
    stack.enter_context(running(
        ["victoria-metrics", f"-httpListenAddr=127.0.0.1:{port}", "-loggerLevel=ERROR",
         "-search.latencyOffset=1ms",
         f"-storageDataPath={os.path.join(folder, 'victoria')}"], stderr=subprocess.DEVNULL))
    base = f"http://127.0.0.1:{port}"
    wait_for("VictoriaMetrics", lambda: fetch(base + "/health"))
    check(post(base + "/write", get(command_line, "--raw", "-f", "influx", "still_shop/*/sold")) == 204,
          "VictoriaMetrics takes every line")

    def sold():
        fetch(base + "/internal/force_flush")
        url = base + "/api/v1/query?" + urllib.parse.urlencode({"query": "still_shop_sold"})
        return {series["metric"]["instance"]: float(series["value"][1])
                for series in json.loads(fetch(url))["data"]["result"]}

    wait_for("values in VictoriaMetrics",
             lambda: sold() == {aisle: float(SOLD) for aisle in KEPT_AISLES})


def check_node_exporter(stack, folder, command_line):
    folder = os.path.join(folder, "textfile")
    os.mkdir(folder)
    get(command_line, "-f", "prometheus", "--buckets", "0.1,1", "still_shop/*/*", "-o",
        os.path.join(folder, "meterbank.prom"))
    check(os.listdir(folder) == ["meterbank.prom"], "the file appears whole")
    address = f"127.0.0.1:{free_port()}"
    stack.enter_context(running(
        ["prometheus-node-exporter", f"--web.listen-address={address}",
         "--collector.disable-defaults", "--collector.textfile",
         f"--collector.textfile.directory={folder}"], stderr=subprocess.DEVNULL))
    page = wait_for("page of node_exporter", lambda: fetch(f"http://{address}/metrics"))
    lines = page.splitlines()
    check("node_textfile_scrape_error 0" in lines, "node_exporter reads the file")
    name = "meterbank_still_shop_serving_time_seconds_bucket"
    for expected in ('meterbank_still_shop_sold_total{aisle="fruit",provider="shop"} 1000',
                     'meterbank_still_shop_sold_total{aisle="say \\"bread\\" \\\\ or ü",provider="shop"} 1000',
                     name + '{aisle="fruit",provider="shop",le="+Inf"} 1000'):
        check(expected in lines, f"node_exporter shows {expected}: {page}")


class Collectd:
    """Writes what it gets into files, `DataDir/HOST/PLUGIN/TYPE-DATE`."""

    def __init__(self, stack, folder, command_line):
        self.data = os.path.join(folder, "collectd")
        # Where Debian's package was installed or unpacked.
        self.root = shutil.which("collectd").removesuffix("/usr/sbin/collectd")
        self.statsd_port = free_port()
        # Its exec plugin starts no program as root.
        user = pwd.getpwuid(os.geteuid() or UNPRIVILEGED).pw_name
        config = os.path.join(folder, "collectd.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f'''Hostname "shop-host"
BaseDir "{self.data}"
PIDFile "{folder}/collectd.pid"
TypesDB "{self.root}/usr/share/collectd/types.db"
PluginDir "{self.root}/usr/lib/collectd"
Interval 1
LoadPlugin logfile
LoadPlugin csv
LoadPlugin exec
LoadPlugin statsd
<Plugin logfile>
  LogLevel info
  File "{folder}/collectd.log"
</Plugin>
<Plugin csv>
  DataDir "{self.data}"
  StoreRates false
</Plugin>
<Plugin statsd>
  Host "127.0.0.1"
  Port "{self.statsd_port}"
  CounterSum true
</Plugin>
<Plugin exec>
  Exec "{user}" "{command_line}" "get" "--raw" "-n" "0" "-i" "1s" "-f" "collectd" "still_shop/*/*"
</Plugin>
''')
        self.log = os.path.join(folder, "collectd.log")
        stack.enter_context(running(["collectd", "-f", "-C", config], stderr=subprocess.DEVNULL))

    def values(self, pattern):
        """The values of the last record of each file."""
        found = {}
        for path in glob.glob(os.path.join(self.data, pattern)):
            with open(path, encoding="utf-8", newline="") as file:
                records = list(csv.reader(file))
            if len(records) > 1:
                found[os.path.relpath(path, self.data)[:-len("-2026-01-01")]] = records[-1][1]
        return found


def check_collectd(stack, folder, command_line):
    os.chmod(folder, 0o755)
    os.chmod(os.environ["METERBANK_DIR"], 0o755)
    program = shutil.copy(command_line, folder)
    collectd = Collectd(stack, folder, program)
    sold = wait_for("values in collectd", lambda: collectd.values("shop-host/still_shop-*/derive-sold-*"))
    kept = {f"shop-host/still_shop-shop.{aisle}/derive-sold": str(SOLD) for aisle in AISLES}
    check(sold == kept, f"collectd has every aisle: {sold}")
    stock = collectd.values("shop-host/still_shop-shop.fruit/gauge-stock-*")
    check([float(value) for value in stock.values()] == [2.0**64], f"a gauge is a gauge: {stock}")
    with open(collectd.log, encoding="utf-8") as file:
        log = file.read()
    check("error" not in log and "rejected" not in log and "exec plugin" not in log,
          f"collectd complains of nothing: {log}")

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.connect(("127.0.0.1", collectd.statsd_port))
        subprocess.run([command_line, "get", "--raw", "-f", "statsd", "still_shop/*/*"],
                       stdout=datagrams, check=True)
        subprocess.run([command_line, "get", "-f", "statsd", "-i", "100ms", "still_shop/*/sold"],
                       stdout=datagrams, check=True)
    name = "shop-host/statsd/gauge-still_shop.shop.fruit"
    # Each has a file of its own, one written after the other.
    wait_for("gauges in statsd", lambda: collectd.values(name + ".stock-*") and collectd.values(name + ".sold-*"))
    stocks = "shop-host/statsd/gauge-still_shop.shop.*.stock-*"
    wait_for("the stock of each aisle", lambda: len(collectd.values(stocks)) >= len(AISLES))
    gauges = collectd.values("shop-host/statsd/gauge-still_shop.shop.*")
    check(float(gauges[name + ".sold"]) == SOLD, f"a stored count is a gauge: {gauges}")
    check(len([key for key in gauges if key.endswith(".stock")]) == len(AISLES),
          f"each aisle has a name of its own: {gauges}")
    counts = wait_for("count in statsd",
                      lambda: collectd.values("shop-host/statsd/*-still_shop.shop.fruit.sold-*"))
    check(any("gauge" not in key for key in counts), f"what happened is a count: {counts}")


def main():
    command_line, shop_program, unpacked = sys.argv[1:]
    # Debian has daemons where only root's shell looks.
    folders = [os.environ["PATH"], "/usr/sbin"]
    for package in sorted(glob.glob(os.path.join(unpacked, "*"))):
        folders += [os.path.join(package, "usr/bin"), os.path.join(package, "usr/sbin")]
    os.environ["PATH"] = ":".join(folders)
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        print(f"skipped: no {', '.join(missing)} here")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["METERBANK_READERS"] = "everyone"  # collectd starts programs as another user
        open_shop(stack, folder, shop_program)
        check_influxdb(stack, folder, command_line)
        check_victoria_metrics(stack, folder, command_line)
        check_node_exporter(stack, folder, command_line)
        check_collectd(stack, folder, command_line)
    print("collectors read what meterbank get prints")
    return 0


if __name__ == "__main__":
    sys.exit(main())
