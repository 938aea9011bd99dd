#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/fleet/prometheus, run by a Prometheus that scrapes the agents of a hundred simulated nodes.

usage: prometheus_recipe.py METERBANK METERBANK-AGENT SIMULATED-NODES DOCS-FLEET
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from fleet import (NODES, NUMBERS, SKIPPED, SLOW_NODES, WIDTH, Fleet, check, check_percentile,
                   check_wrong, fetch, free_port, linked, make_orders, percentile, running, wait_for)

LATENCY = "meterbank_demo_orders_latency_seconds"
METRICS = {"accepted": "meterbank_demo_orders_accepted_total",
           "rejected": "meterbank_demo_orders_rejected_total",
           "bytes_received": "meterbank_demo_orders_received_bytes_total",
           "queue_depth": "meterbank_demo_orders_queue_depth"}
# This node is scraped as two pages.
SHARDED = 7
# rate() extrapolates each node's increase to the whole range, by up to this factor more than another's.
EXTRAPOLATION = 2


def query(port, text):
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
    return [(series["metric"], float(series["value"][1]))
            for series in json.loads(fetch(url))["data"]["result"]]


def number(port, text):
    result = query(port, text)
    return result[0][1] if result else None


def write_nodes(place, names, addresses):
    groups = []
    for node, address in enumerate(addresses):
        labels = {"instance": names[node]}
        for part in ("0", "1") if node == SHARDED else (None,):
            shard = {} if part is None else {"__param_shard": f"{part}/2", "shard": part}
            groups.append({"targets": [address], "labels": {**labels, **shard}})
    os.mkdir(os.path.join(place, "nodes"))
    with open(os.path.join(place, "nodes", "simulated.yml"), "w", encoding="utf-8") as file:
        json.dump(groups, file)  # which is YAML, too


def check_files(recipe):
    result = subprocess.run(["promtool", "check", "config", os.path.join(recipe, "prometheus.yml")],
                            text=True, capture_output=True, check=False)
    check(result.returncode == 0, f"promtool check config: {result.stdout}{result.stderr}")
    # promtool says nothing of a list of nodes that matches no file.
    check(os.listdir(os.path.join(recipe, "nodes")) == ["nodes.yml"], "an example of nodes is there")


def check_values(port, fleet):
    expected = fleet.raw_of_all()
    compared = 0
    for counter in NUMBERS:
        for labels, value in query(port, METRICS[counter]):
            # Numbers of Prometheus are doubles.
            right = float(expected[labels["instance"], labels["venue"], counter])
            check(value == right, f"{counter} of {labels['instance']}: {value}, expected {right}")
            compared += 1
    check(compared == NODES * 2 * len(NUMBERS), f"{compared} values are those of meterbank get --raw")
    counts = query(port, f"histogram_count({LATENCY})")
    check({value for _, value in counts} == {float(expected["node-000", "eu", "latency"])} and
          len(counts) == 2 * NODES, "the histograms have all values")


def check_rule(port, fleet):
    """What rules.yml records. It is of rates, so nodes count by their increase, extrapolated."""
    above = 0.01
    least = percentile(fleet.latencies(), 1 - above * EXTRAPOLATION) / WIDTH
    most = percentile(fleet.latencies(), 1 - above / EXTRAPOLATION) * WIDTH
    wait_for(f"recorded percentile from {least} to {most}", lambda: least < (
        number(port, "fleet:demo_orders_latency_seconds:p99_5m") or 0) < most)
    rules = json.loads(fetch(f"http://127.0.0.1:{port}/api/v1/rules"))["data"]["groups"][0]["rules"]
    check(len(rules) == 5 and all(rule["health"] == "ok" for rule in rules),
          f"the rules are evaluated: {rules}")
    check(all(rule.get("state") != "firing" for rule in rules), f"no alert fires: {rules}")


def main():
    command_line, agent, program, docs = sys.argv[1:]
    recipe = os.path.join(docs, "prometheus")
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        print("skipped: no prometheus here")
        return SKIPPED
    check_files(recipe)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        fleet = Fleet(stack, command_line, program, folder)
        addresses = fleet.start_agents(stack, agent)
        place = stack.enter_context(linked(folder, recipe, ["prometheus.yml", "rules.yml"]))
        write_nodes(place, fleet.names, addresses)
        port = free_port()
        stack.enter_context(running(
            ["prometheus", f"--config.file={place}/prometheus.yml",
             f"--storage.tsdb.path={folder}/tsdb", f"--web.listen-address=127.0.0.1:{port}",
             "--enable-feature=native-histograms", "--log.level=error"]))
        # The rates of the rules need a scrape before the orders.
        scraped = 'count(up{job="meterbank"} == 1)'
        wait_for("scraped nodes", lambda: number(port, scraped) == NODES + 1)
        fleet.take(make_orders())
        wait_for("scraped orders", lambda: number(port, f"histogram_count(sum({LATENCY}))") ==
                 len(fleet.orders))
        check_values(port, fleet)
        check_percentile(number(port, f"histogram_quantile(0.99, sum({LATENCY}))"),
                         fleet.latencies(), "Prometheus, merged native histograms")
        check_wrong(number(port, f"avg(histogram_quantile(0.99, {LATENCY}))"), fleet.latencies(),
                    "mean of the percentiles of all nodes")
        left_out = fleet.names[SLOW_NODES[0]]
        check_wrong(
            number(port, f'histogram_quantile(0.99, sum({LATENCY}{{instance!="{left_out}"}}))'),
            fleet.latencies(), "one node left out")
        check_rule(port, fleet)
    print("the recipe for Prometheus works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
