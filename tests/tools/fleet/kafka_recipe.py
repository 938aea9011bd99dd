#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/fleet/kafka: what meterbank get prints on a hundred simulated nodes, through kcat and the broker that
librdkafka has for tests, which speaks Kafka's protocol on a socket.

usage: kafka_recipe.py METERBANK METERBANK-AGENT SIMULATED-NODES DOCS-FLEET
"""

import collections
import contextlib
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

from fleet import (ERROR, NODES, SKIPPED, SLOW_NODES, Fleet, check, check_percentile, check_wrong,
                   make_orders, percentile, running, wait_for)

TOPIC = "meterbank.samples"


def start_broker(stack):
    """A consumer that brings a broker along; the address of the broker."""
    broker = stack.enter_context(running(
        ["kcat", "-C", "-b", "unused.example:1", "-t", "unused", "-X", "test.mock.num.brokers=1", "-d",
         "mock"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    for line in broker.stderr:
        if found := re.search(r"bootstrap\.servers=(127\.0\.0\.1:\d+)", line):
            # It goes on to tell of each request, and must not wait for a reader of that.
            stack.enter_context(running(["cat"], stdin=broker.stderr, stdout=subprocess.DEVNULL))
            return found.group(1)
    sys.exit("FAILED: kcat has no broker for tests")


def send(recipe, broker, node, lines):
    result = subprocess.run(["sh", os.path.join(recipe, "produce.sh"), "-b", broker],
                            input="".join(lines), text=True, capture_output=True, check=False,
                            timeout=60, env={**os.environ, "NODE": node})
    check(result.returncode == 0, f"produce.sh: {result.stderr}")


def consume(broker):
    """All records, as kcat -J prints them."""
    return subprocess.run(["kcat", "-C", "-q", "-b", broker, "-t", TOPIC, "-o", "beginning", "-e", "-J"],
                          text=True, capture_output=True, check=True, timeout=120).stdout


def jq(script, text, **options):
    result = subprocess.run(["jq", "-c", *options.get("flags", []), "-f", script], input=text, text=True,
                            capture_output=True, check=False, env=options.get("env"))
    check(result.returncode == 0, f"jq {script}: {result.stderr}")
    return result.stdout


def broken(sample):
    """Ways in which a line can be wrong, each of them alone."""
    row = next(index for index, each in enumerate(sample["samples"]) if "distribution" in each)
    for change in (lambda line: line.pop("time"),
                   lambda line: line.update(schema="meterbank.sample/1"),
                   lambda line: line["samples"][row].pop("provider"),
                   lambda line: line["samples"][row].update(raw="many"),
                   lambda line: line["samples"][row]["distribution"].update(count=-1),
                   lambda line: line["samples"][row]["distribution"]["buckets"].append([1, 2])):
        wrong = copy.deepcopy(sample)
        change(wrong)
        yield wrong


def check_schema(recipe, fleet, lines):
    with open(os.path.join(recipe, "sample.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    texts = [line for of_node in lines for line in of_node]
    # Other options, all counters of this machine, and providers that are left out.
    for options in (["-n", "2", "-i", "200ms"], ["-n", "1", "--raw"], ["-n", "1", "--hist"],
                    ["-n", "1", "--providers-max", "1", "-q"]):
        texts += subprocess.run(
            [fleet.command_line, "get", "-f", "jsonl", "--dir", fleet.directory(0), *options],
            text=True, capture_output=True, check=False).stdout.splitlines()
    check("left_out" in texts[-1] and "logical_disk" in texts[-2], "the lines have more than orders")
    for text in texts:
        fault = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(text)))
        check(fault is None, f"each line is of the schema: {fault and fault.message}")
    found = [validator.is_valid(wrong) for wrong in broken(json.loads(lines[0][-1]))]
    check(found == [False] * 6, f"the control finds lines that are not: {found}")


def check_records(fleet, records, lines):
    arrived, partitions = collections.defaultdict(list), collections.defaultdict(set)
    for record in map(json.loads, records.splitlines()):
        arrived[record["key"]].append(record["payload"] + "\n")
        partitions[record["key"]].add(record["partition"])
    check(arrived == dict(zip(fleet.names, lines)), "all lines arrive, in order, under their node")
    check(all(len(of_node) == 1 for of_node in partitions.values()), "a node has one partition")


def check_last_values(fleet, records):
    last = {}
    for record in map(json.loads, records.splitlines()):
        for row in json.loads(record["payload"])["samples"]:
            if row["raw"] is not None:
                last[record["key"], row["instance"], row["counter"]] = int(row["raw"])
    check(last == fleet.raw_of_all(), "the last values are those of meterbank get --raw")


def check_rows(recipe, fleet, records, lines):
    """rows.jq of ClickHouse takes records as well as lines, and makes the same rows of them."""
    script = os.path.join(recipe, "..", "clickhouse", "rows.jq")
    of_record = [text for text in jq(script, records).splitlines() if f'"{fleet.names[3]}"' in text]
    of_line = jq(script, "".join(lines[3]), env={**os.environ, "NODE": fleet.names[3]}).splitlines()
    check(of_record == of_line, "rows.jq takes records")


def main():
    command_line, _, program, docs = sys.argv[1:]
    recipe = os.path.join(docs, "kafka")
    for needed in ("kcat", "jq"):
        if shutil.which(needed) is None:
            print(f"skipped: no {needed} here")
            return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        fleet = Fleet(stack, command_line, program, folder)
        stack.enter_context(running([command_line, "host", "--dir", fleet.directory(0)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_for("host", lambda: len(os.listdir(fleet.directory(0))) > 2)
        broker = start_broker(stack)
        orders = make_orders()
        lines = fleet.lines_of(stack, orders)
        check_schema(recipe, fleet, lines)
        for name, of_node in zip(fleet.names, lines):
            send(recipe, broker, name, of_node)
        records = consume(broker)
        check_records(fleet, records, lines)
        check_last_values(fleet, records)
        check_rows(recipe, fleet, records, lines)
        latencies = [seconds for _, _, seconds in orders]
        script = os.path.join(recipe, "p99.jq")
        answer = json.loads(jq(script, records, flags=["-n"]))
        check(answer["orders"] == len(orders), "all orders are in the buckets")
        check_percentile(answer["p99"], latencies, "Kafka, merged buckets")
        check(abs(answer["p99"] / percentile(latencies, 0.99) - 1) <= ERROR * (1 + 1e-9),
              f"within {ERROR:.4f} of it")
        without = [text for text in records.splitlines(True)
                   if json.loads(text)["key"] != fleet.names[SLOW_NODES[0]]]
        check_wrong(json.loads(jq(script, "".join(without), flags=["-n"]))["p99"], latencies,
                    "one node left out")
    print(f"the recipe for Kafka works with {NODES} nodes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
