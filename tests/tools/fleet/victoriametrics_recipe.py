#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/fleet/victoriametrics, run by a VictoriaMetrics that scrapes the agents of a hundred simulated
nodes, and to which one of them pushes.

usage: victoriametrics_recipe.py METERBANK METERBANK-AGENT SIMULATED-NODES DOCS-FLEET
"""

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

from fleet import (NODES, NUMBERS, SKIPPED, SLOW_NODES, Fleet, check, check_percentile, check_wrong,
                   fetch, free_port, linked, make_orders, running, through, wait_for)
from prometheus_recipe import METRICS, number, query

BUCKET = "meterbank_demo_orders_latency_seconds_bucket"
# Of scrape.yml: four buckets to each doubling.
WIDTH = 2**(1 / 4)
P99 = "histogram_quantile(0.99, sum by (le) ({}))"


def check_values(port, fleet, job, nodes):
    compared = 0
    for node in nodes:
        for (venue, counter), right in fleet.raw(node).items():
            if counter not in NUMBERS:
                continue
            selected = f'{METRICS[counter]}{{job="{job}",venue="{venue}"' + (
                f',instance="{fleet.names[node]}"}}' if job == "meterbank" else "}")
            value = number(port, selected)
            # VictoriaMetrics keeps numbers as decimals of 64 bits.
            check(value is not None and math.isclose(value, right, rel_tol=1e-12),
                  f"{selected}: {value}, expected {right}")
            compared += 1
    check(compared == len(nodes) * 2 * len(NUMBERS),
          f"{compared} values of {job} are those of meterbank get --raw")


def main():
    command_line, agent, program, docs = sys.argv[1:]
    recipe = os.path.join(docs, "victoriametrics")
    if shutil.which("victoria-metrics") is None:
        print("skipped: no victoria-metrics here")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        fleet = Fleet(stack, command_line, program, folder)
        fleet.take(make_orders())
        place = stack.enter_context(linked(folder, recipe, ["scrape.yml"]))
        os.mkdir(os.path.join(place, "nodes"))
        with open(os.path.join(place, "nodes", "simulated.yml"), "w", encoding="utf-8") as file:
            json.dump([{"targets": [address], "labels": {"instance": name}} for name, address in
                       zip(fleet.names, fleet.start_agents(stack, agent))], file)
        port = free_port()
        # Answers hold what has just arrived; by default they lag by 30 s.
        stack.enter_context(running(
            ["victoria-metrics", f"-promscrape.config={place}/scrape.yml",
             f"-storageDataPath={folder}/data", f"-httpListenAddr=127.0.0.1:{port}",
             "-search.latencyOffset=0s", "-loggerLevel=ERROR"], stderr=subprocess.DEVNULL))
        wait_for("VictoriaMetrics", lambda: fetch(f"http://127.0.0.1:{port}/health"))
        stack.enter_context(running(
            [agent, "--config", os.path.join(recipe, "agent.toml"), "--dir", fleet.directory(0)],
            stderr=subprocess.DEVNULL, env=through(f"127.0.0.1:{port}")))
        merged = P99.format(BUCKET)
        wait_for("scraped orders", lambda: number(port, f'sum({BUCKET}{{le="+Inf"}})') ==
                 len(fleet.orders))
        check_values(port, fleet, "meterbank", range(NODES))
        check_percentile(number(port, merged), fleet.latencies(), "VictoriaMetrics, merged buckets",
                         WIDTH)
        check_wrong(number(port, f"avg(histogram_quantile(0.99, {BUCKET}))"), fleet.latencies(),
                    "mean of the percentiles of all nodes", WIDTH)
        selected = f'{BUCKET}{{instance!="{fleet.names[SLOW_NODES[0]]}"}}'
        check_wrong(number(port, P99.format(selected)), fleet.latencies(), "one node left out", WIDTH)
        pushed = METRICS["accepted"] + '{job="meterbank-push"}'
        wait_for("pushed values", lambda: len(query(port, pushed)) == 2)
        check_values(port, fleet, "meterbank-push", [0])
        check(not query(port, f'{BUCKET}{{job="meterbank-push"}}'),
              "this version takes no native histograms, as the page says")
    print("the recipe for VictoriaMetrics works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
