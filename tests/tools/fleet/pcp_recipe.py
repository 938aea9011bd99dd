#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/fleet/pcp, run by pmlogger and pmrep: one machine logs the counters of three simulated nodes, each
with a pmcd and a pmdameterbank of its own.

usage: pcp_recipe.py METERBANK PMDAMETERBANK SIMULATED-NODES DOCS-FLEET
"""

import contextlib
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

from fleet import (HERE, NUMBERS, SKIPPED, SLOW_NODES, VENUES, Fleet, check, check_wrong, free_port,
                   is_within, make_orders, percentile, running, wait_for)

sys.path.insert(0, os.path.join(HERE, "..", "pcp"))
from private_pcp import PrivatePcp, has_pcp  # noqa: E402

# Whose orders the nodes take. The last one is slow.
ORDERS_OF = (0, 50, SLOW_NODES[0])
# One node more takes no orders, and no line of the recipe is for it.
LEFT_OUT = len(ORDERS_OF)
SET = "meterbank.demo_orders"
MICROSECOND = 1e-6


class LoggingMachine:
    """Has the files of the recipe. Its own pmcd does not run, and nothing asks it."""

    def __init__(self, stack, folder, recipe):
        self.stack, self.folder = stack, os.path.join(folder, "logging")
        os.mkdir(self.folder)
        self.pcp = PrivatePcp(self.folder, free_port(), "/bin/false")
        configs = os.path.join(self.folder, "var/config/pmlogger")
        os.makedirs(configs)
        shutil.copy(os.path.join(recipe, "meterbank.config"), configs)
        self.report = os.path.join(recipe, "meterbank.conf")
        with open(os.path.join(recipe, "meterbank-nodes"), encoding="utf-8") as file:
            self.control = file.read()
        self.hosts = re.findall(r"^(\S+\.example)\s", self.control, re.M)

    def archives(self, host):
        return os.path.join(self.folder, "archive", host)

    def start(self, addresses):
        """Starts what pmlogger_check would start. Only the addresses differ from those of the recipe."""
        text = self.control
        for host, address in zip(self.hosts, addresses):
            os.makedirs(self.archives(host))
            text = re.sub(rf"^{re.escape(host)}(?=\s)", address, text, flags=re.M)
        shown = self.pcp.run("pmlogger_check", "-N", "-c", self.pcp.write("control", text))
        commands = re.findall(r"^\+ cd (\S+)\n\n\+ \S+/pmlogger (.*)$", shown, re.M)
        check([folder for folder, _ in commands] == [self.archives(host) for host in self.hosts],
              f"pmlogger_check starts a pmlogger for each node: {shown}")
        for folder, arguments in commands:
            # Root's would become the user pcp, who may not write here.
            self.stack.enter_context(running(
                [self.pcp.programs["pmlogger"], "-U", self.pcp.user(), *arguments.split()],
                cwd=folder, env=self.pcp.environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL))

    def logged(self, host, metric):
        """The last value of each venue."""
        place = self.archives(host)
        indices = [name for name in os.listdir(place) if name.endswith(".index")]
        if not indices:
            return {}
        text = self.pcp.run("pmdumplog", os.path.join(place, indices[0].removesuffix(".index")),
                            f"{SET}.{metric}", check=False)
        return {venue: int(value) for venue, value in
                re.findall(r'inst \[\d+ or "orders/(\w+)"\] value (\d+)$', text, re.M)}

    def rows(self, host):
        """What pmrep reports of the archives: a row for each sample, by column."""
        text = self.pcp.run("pmrep", "-a", self.archives(host), "-c", self.report, "-u", "-o", "csv",
                            "-P", "9", "-f", "%s.%f", ":meterbank-orders", live=False)
        return [{column: float(value) for column, value in row.items() if value}
                for row in csv.DictReader(io.StringIO(text))]

    def table(self, host):
        return self.pcp.run("pmrep", "-a", self.archives(host), "-c", self.report, "-u",
                            ":meterbank-orders", live=False)

    def logs(self):
        texts = []
        for host in self.hosts:
            with contextlib.suppress(OSError):
                with open(os.path.join(self.archives(host), "pmlogger.log"), encoding="utf-8") as file:
                    texts.append(f"--- pmlogger of {host}\n{file.read()}")
        return "\n".join(texts)


def faults_of(machine, raw_of):
    """Where the last logged values are not those of `meterbank get --raw`. `raw_of` is by host."""
    faults = []
    for host, raw in raw_of.items():
        if not os.path.isdir(machine.archives(host)):
            faults.append(f"{host}: is not logged")
            continue
        for counter in (*NUMBERS, "latency"):
            metric = "latency.count" if counter == "latency" else counter
            logged = machine.logged(host, metric)
            faults += [f"{metric} of {host}, {venue}: {logged.get(venue)}, not {raw[venue, counter]}"
                       for venue in VENUES if logged.get(venue) != raw[venue, counter]]
    return faults


def check_faults(machine, fleet):
    raw_of = {host: fleet.raw(node) for node, host in enumerate(machine.hosts)}
    check(not faults_of(machine, raw_of), "the archives have what meterbank get --raw prints")
    first, second, *_ = machine.hosts
    depths = faults_of(machine, {first: {**raw_of[first],
                                         ("eu", "queue_depth"): raw_of[second]["eu", "queue_depth"]}})
    check(len(depths) == 1 and depths[0].startswith(f"queue_depth of {first}, eu: "),
          f"the control, a depth of another node, is found: {depths}")
    left_out = faults_of(machine, {"node-4.example": fleet.raw(LEFT_OUT)})
    check(left_out == ["node-4.example: is not logged"], f"the control, one node more, is found: {left_out}")


def reported(rows, column, venue):
    """Time from the row before and value, of all rows that have it."""
    name = f"{column}-orders/{venue}"
    return [(row["Time"] - before["Time"], row[name]) for before, row in zip(rows, rows[1:])
            if name in row]


def check_report(host, rows, venue, latencies):
    """The rates and percentiles of one venue; its p99."""
    row_name = f"{host}, {venue}"
    accepted = sum(seconds * rate for seconds, rate in reported(rows, f"{SET}.accepted", venue))
    check(abs(accepted / len(latencies) - 1) < 1e-4, f"rates of {row_name} are of {accepted} orders")
    sizes = sum(seconds * rate for seconds, rate in reported(rows, f"{SET}.bytes_received", venue))
    check(abs(sizes * 1024 / (118 * len(latencies)) - 1) < 1e-4, f"rates of {row_name} are of {sizes} KiB")
    # A mean is of the orders of its interval. Without orders, pmrep prints no mean.
    means = [row.get(f"mean-orders/{venue}", 0) for row in rows[1:]]
    mean = sum(seconds * rate * each for (seconds, rate), each in
               zip(reported(rows, f"{SET}.accepted", venue), means) if rate) / len(latencies)
    right = sum(latencies) / len(latencies)
    check(abs(mean * MICROSECOND / right - 1) < 1e-4, f"mean of {row_name}: {mean} us, not {right} s")
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        values = reported(rows, f"{SET}.latency.{name}", venue)
        check(values, f"the report has {name} of {row_name}")
        value = values[-1][1] * MICROSECOND
        check(is_within(value, latencies, share), f"{name} of {row_name}: {value} s")
    return value


def check_reports(machine, orders):
    """Each node's percentiles are right, and those of all nodes cannot be made of them."""
    found = []
    for node, host in enumerate(machine.hosts):
        rows = machine.rows(host)
        for number, venue in enumerate(VENUES):
            latencies = [seconds for n, v, seconds in orders if (n, v) == (node, number)]
            found.append(check_report(host, rows, venue, latencies))
        check(machine.table(host).count("orders/eu") == len(rows), "the table has a line a venue")
    fast = [seconds for node, venue, seconds in orders if (node, venue) == (0, 0)]
    check(not is_within(found[-1], fast), "the control, p99 of another node, is found")
    check_wrong(sum(found) / len(found), [seconds for _, _, seconds in orders],
                "mean of the percentiles of all nodes")


def check_live(machine, node):
    """The same report, asked of a node."""
    text = node.run("pmrep", "-c", machine.report, "-s", "1", ":meterbank-orders")
    found = re.findall(r"orders/(\w+) .* (\d+) +\S+ +\d+\.\d +\d+\.\d$", text, re.M)
    check(sorted(venue for venue, _ in found) == list(VENUES), f"pmrep reports what is counted now: {text}")


def log_orders(machine, fleet, nodes):
    for node in nodes:
        wait_for("metrics of a node", node.is_ready)
    machine.start([node.host for node in nodes])
    # Rates need a sample before the orders.
    wait_for("sample of each node", lambda: all(
        len(machine.logged(host, "accepted")) == len(VENUES) for host in machine.hosts))
    fleet.take([(ORDERS_OF.index(node), venue, seconds) for node, venue, seconds in make_orders()
                if node in ORDERS_OF])
    raw_of = {host: fleet.raw(node) for node, host in enumerate(machine.hosts)}
    wait_for("logged orders", lambda: not faults_of(machine, raw_of))


def main():
    command_line, agent, program, docs = sys.argv[1:]
    if not has_pcp():
        print("skipped: no pmcd here; METERBANK_PCP_ROOT says where the package pcp was unpacked")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        fleet = Fleet(stack, command_line, program, folder, len(ORDERS_OF) + 1)
        machine = LoggingMachine(stack, folder, os.path.join(docs, "pcp"))
        check(len(machine.hosts) == len(ORDERS_OF), f"the recipe has three nodes: {machine.hosts}")
        nodes = []
        for node, _ in enumerate(machine.hosts):
            own = os.path.join(folder, f"pmcd-{node}")
            os.mkdir(own)
            nodes.append(stack.enter_context(PrivatePcp(
                own, free_port(), agent, ("--dir", fleet.directory(node)))))
        try:
            log_orders(machine, fleet, nodes)
            check_faults(machine, fleet)
            check_reports(machine, fleet.orders)
            check_live(machine, nodes[0])
        except BaseException:
            print(machine.logs(), *(node.logs() for node in nodes), sep="\n")
            raise
        print(machine.table(machine.hosts[-1]))
    print("the recipe for PCP works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
