# SPDX-License-Identifier: Apache-2.0
"""A hundred simulated nodes for the tests of docs/fleet: what they recorded, and the percentile of it.

Each node has a runtime directory of its own; all of them belong to meterbank_simulated_nodes.
"""

import collections
import contextlib
import json
import math
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "agent"))
from real_prometheus import (SKIPPED, check, fetch, free_port, running,  # noqa: E402,F401
                             wait_for)

NODES = 100
ORDERS_OF_A_VENUE = 100
VENUES = ("eu", "us")
# They have 2 % of all orders, so the slowest 1 % is theirs, and each of them matters to it.
SLOW_NODES = (98, 99)
LINES_MAX = 120  # one a second
NUMBERS = ("accepted", "rejected", "bytes_received", "queue_depth")

# Scale 4 in tools/cli/publish/demo_orders.toml: each bucket ends 2^(1/16) times as far as it begins.
# A percentile from buckets is in the bucket of the value that it stands for, so it differs from that by
# less than this factor. In the middle of the bucket, where meterbank get takes it, by half as much.
WIDTH = 2**(2**-4)
ERROR = (WIDTH - 1) / (WIDTH + 1)


def make_orders():
    """Node, venue and latency of each order: most take 40 to 90 us, those of slow nodes 5 ms."""
    numbers = random.Random(20)
    orders = []
    for node in range(NODES):
        usual = 5e-3 if node in SLOW_NODES else 40e-6 * (1 + node / NODES)
        for venue in range(len(VENUES)):
            orders += [(node, venue, usual * math.exp(numbers.gauss(0, 0.4)))
                       for _ in range(ORDERS_OF_A_VENUE)]
    return orders


def percentile(values, share):
    """The smallest value that this share of all values does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


class Fleet:
    """The nodes. `orders` are those that have been taken."""

    def __init__(self, stack, command_line, program, folder, nodes=NODES):
        self.command_line = command_line
        self.folder = os.path.join(folder, "nodes")
        os.mkdir(self.folder)
        self.names = [f"node-{node:03}" for node in range(nodes)]
        self.orders = []
        self.program = stack.enter_context(running(
            [program, self.folder, str(nodes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True))
        check(self.program.stdout.readline() == "ready\n", "the nodes begin")

    def directory(self, node):
        return os.path.join(self.folder, self.names[node])

    def take(self, orders):
        text = "".join(f"{node} {venue} {seconds!r}\n" for node, venue, seconds in orders)
        self.program.stdin.write(text + ".\n")
        self.program.stdin.flush()
        check(self.program.stdout.readline() == "published\n", "the orders are published")
        self.orders += orders

    def latencies(self):
        return [seconds for _, _, seconds in self.orders]

    def raw(self, node):
        """What `meterbank get --raw` prints of a node, by venue and counter. The nodes stand still."""
        result = subprocess.run(
            [self.command_line, "get", "--raw", "-n", "1", "-f", "json", "--json-int=string",
             "--dir", self.directory(node), "demo_orders/*"],
            text=True, capture_output=True, check=True)
        return {(row["instance"], row["counter"]): int(row["raw"])
                for row in json.loads(result.stdout)["samples"] if row["raw"] is not None}

    def raw_of_all(self):
        return {(name, *key): value for node, name in enumerate(self.names)
                for key, value in self.raw(node).items()}

    def lines_of(self, stack, orders):
        """What `meterbank get` prints of each node while these orders are taken: a line for each second."""
        readers = [stack.enter_context(running(
            [self.command_line, "get", "-n", "0", "-i", "1s", "-f", "jsonl", "--hist", "-p", "none",
             "--json-int=string", "--dir", self.directory(node), "demo_orders/*"],
            stdout=subprocess.PIPE, text=True)) for node in range(NODES)]
        lines = [[reader.stdout.readline()] for reader in readers]
        self.take(orders)
        expected = collections.Counter(node for node, _, _ in orders)
        for node, reader in enumerate(readers):
            recorded = 0
            while recorded < expected[node]:
                check(len(lines[node]) < LINES_MAX, f"{self.names[node]} shows its orders in time")
                lines[node].append(reader.stdout.readline())
                recorded += sum(int(row["distribution"]["count"])
                                for row in json.loads(lines[node][-1])["samples"]
                                if "distribution" in row and row["status"] == "ok")
            check(recorded == expected[node], f"{recorded} orders of {self.names[node]}")
            reader.kill()
        return lines

    def start_agents(self, stack, agent):
        """An agent for each node, on a port of its own; their addresses."""
        agents = [stack.enter_context(running(
            [agent, "--listen", "127.0.0.1:0", "--dir", self.directory(node)],
            stderr=subprocess.PIPE, text=True)) for node in range(NODES)]
        return [process.stderr.readline().split("http://")[1].split("/")[0] for process in agents]


def is_within(estimate, values, share=0.99, width=WIDTH):
    right = percentile(values, share)
    # What is said in a decimal or computed by logarithms may be past the end of a bucket by a hair.
    width *= 1 + 1e-9
    return right / width <= estimate <= right * width


def check_percentile(estimate, values, what, width=WIDTH):
    right = percentile(values, 0.99)
    check(is_within(estimate, values, width=width),
          f"{what}: p99 is {estimate}, of all {len(values)} raw values {right}, "
          f"which is a factor of {estimate / right:.4f} (at most {width:.4f})")
    print(f"{what}: p99 {estimate:.6g} s, of all {len(values)} raw values {right:.6g} s "
          f"({(estimate / right - 1) * 100:+.2f} %)")


def check_wrong(estimate, values, what, width=WIDTH):
    """The control: a wrong way to the percentile is outside of the bound."""
    check(not is_within(estimate, values, width=width),
          f"the control '{what}' is found: {estimate}")
    print(f"  control, {what}: {estimate:.6g} s")


def through(address):
    """The environment of an agent that reaches every receiver at this address, whatever its settings say:
    the files of recipes have the names of machines that do not exist."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**kept, "http_proxy": f"http://{address}"}


@contextlib.contextmanager
def linked(folder, recipe, names):
    """A folder with links to files of a recipe, beside which a test can put what is its own."""
    place = os.path.join(folder, os.path.basename(recipe))
    os.mkdir(place)
    for name in names:
        os.symlink(os.path.join(recipe, name), os.path.join(place, name))
    yield place
