#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/fleet/otlp: what the agents of a hundred simulated nodes send with the settings of the recipe, as
protoc's Python code decodes it, and the names in the configuration of the collector.

usage: otlp_recipe.py METERBANK METERBANK-AGENT SIMULATED-NODES DOCS-FLEET
"""

import collections
import contextlib
import gzip
import importlib
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

from fleet import (ERROR, HERE, NODES, NUMBERS, SKIPPED, SLOW_NODES, Fleet, check, check_percentile,
                   check_wrong, make_orders, percentile, through)

PUSH = os.path.join(HERE, "..", "push")
sys.path.insert(0, PUSH)
from real_receivers import Receiver, attributes_of, check_known  # noqa: E402

LATENCY = "meterbank_demo_orders_latency_seconds"
NAMES = {"accepted": "meterbank_demo_orders_accepted",
         "rejected": "meterbank_demo_orders_rejected",
         "bytes_received": "meterbank_demo_orders_received_bytes",
         "queue_depth": "meterbank_demo_orders_queue_depth"}
# Of the documentation of these components.
COLLECTOR_KEYS = {
    "receivers": {"otlp": {"protocols"}},
    "processors": {"memory_limiter": {"check_interval", "limit_percentage", "spike_limit_percentage",
                                      "limit_mib", "spike_limit_mib"},
                   "batch": {"send_batch_size", "send_batch_max_size", "timeout"}},
    "exporters": {"prometheusremotewrite": {"endpoint", "resource_to_telemetry_conversion", "headers",
                                            "tls", "external_labels"}}}


def faults_of(collector, url):
    """What is wrong in a configuration of the collector, to which agents push at this URL."""
    faults = []
    for kind, known in COLLECTOR_KEYS.items():
        for name, settings in collector[kind].items():
            unknown = set(settings) - known.get(name, set())
            faults += [f"{kind}: {name}: unknown key {key}" for key in unknown]
    for name, pipeline in collector["service"]["pipelines"].items():
        for kind in COLLECTOR_KEYS:
            faults += [f"{name}: {each} is not one of {kind}" for each in pipeline[kind]
                       if each not in collector[kind]]
    endpoint = collector["receivers"]["otlp"]["protocols"]["http"]["endpoint"]
    if endpoint.rsplit(":", 1)[1] != re.search(r":(\d+)/v1/metrics$", url).group(1):
        faults.append(f"agents push to {url}, and the collector is at {endpoint}")
    return faults


def check_collector(recipe, url):
    with open(os.path.join(recipe, "otel-collector.yaml"), encoding="utf-8") as file:
        text = file.read()
    check(not faults_of(yaml.safe_load(text), url), str(faults_of(yaml.safe_load(text), url)))
    for right, wrong in (("exporters: [prometheusremotewrite]", "exporters: [prometheus]"),
                         ("0.0.0.0:4318", "0.0.0.0:4317"), ("send_batch_size", "batch_size")):
        check(len(faults_of(yaml.safe_load(text.replace(right, wrong)), url)) == 1,
              f"the control finds {wrong}")


def points_of(request):
    """Metric and point by name and venue."""
    return {(metric.name, attributes_of(point).get("venue")): (metric, point)
            for resource in request.resource_metrics for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in getattr(metric, metric.WhichOneof("data")).data_points}


def buckets_of(request):
    """Bounds and count of each bucket of all venues."""
    counts = collections.Counter()
    for (name, _), (_, point) in points_of(request).items():
        if name == LATENCY:
            base = 2**2**-point.scale
            for index, count in enumerate(point.positive.bucket_counts):
                at = point.positive.offset + index
                counts[base**at, base**(at + 1)] += count
    return counts


def percentile_of(counts, share):
    """In the middle of its bucket, where the relative error is the same on both sides."""
    left = math.ceil(share * sum(counts.values()))
    for (low, high), count in sorted(counts.items()):
        left -= count
        if left <= 0:
            return 2 * low * high / (low + high)
    return math.nan


def check_node(fleet, node, request):
    check_known(request)
    points = points_of(request)
    for (venue, counter), right in fleet.raw(node).items():
        if counter in NUMBERS:
            _, point = points[NAMES[counter], venue]
            # Whole numbers keep all their digits.
            check(point.as_int == right, f"{counter} of {venue}: {point.as_int}, expected {right}")
    facts = attributes_of(request.resource_metrics[0].resource)
    check(facts["deployment.environment.name"] == "production", "resources have the label")


def push_all(stack, fleet, agent, settings, otlp):
    """The request of each node."""
    receiver = Receiver(stack)
    receiver.answers = [(200, {}, b"")] * NODES
    address = receiver.url.split("/")[2]
    for node in range(NODES):
        result = subprocess.run(
            [agent, "--config", settings, "--once", "--dir", fleet.directory(node)],
            env=through(address), text=True, capture_output=True, check=False, timeout=60)
        check(result.returncode == 0, f"a push: {result.stdout}{result.stderr}")
    check(len(receiver.requests) == NODES, "each node sends one request")
    check({headers["Host"] for headers, _ in receiver.requests} == {"collector.example:4318"},
          "to the collector")
    return [otlp.ExportRequest.FromString(gzip.decompress(body)) for _, body in receiver.requests]


def main():
    command_line, agent, program, docs = sys.argv[1:]
    recipe = os.path.join(docs, "otlp")
    settings = os.path.join(recipe, "agent.toml")
    with open(settings, encoding="utf-8") as file:
        check_collector(recipe, re.search(r'url = "(.*)"', file.read()).group(1))
    if shutil.which("protoc") is None:
        print("skipped: no protoc here")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        subprocess.run(["protoc", f"--python_out={folder}", f"--proto_path={PUSH}", "otlp.proto"],
                       check=True)
        sys.path.insert(0, folder)
        fleet = Fleet(stack, command_line, program, folder)
        fleet.take(make_orders())
        requests = push_all(stack, fleet, agent, settings, importlib.import_module("otlp_pb2"))
        for node, request in enumerate(requests):
            check_node(fleet, node, request)
        counts = [buckets_of(request) for request in requests]
        merged = percentile_of(sum(counts, collections.Counter()), 0.99)
        check_percentile(merged, fleet.latencies(), "OTLP, merged exponential histograms")
        right = percentile(fleet.latencies(), 0.99)
        check(abs(merged / right - 1) <= ERROR * (1 + 1e-9), f"within {ERROR:.4f} of it")
        check_wrong(sum(percentile_of(each, 0.99) for each in counts) / NODES, fleet.latencies(),
                    "mean of the percentiles of all nodes")
        check_wrong(percentile_of(sum(counts[:SLOW_NODES[0]] + counts[SLOW_NODES[1]:],
                                      collections.Counter()), 0.99), fleet.latencies(),
                    "one node left out")
    print("the recipe for OTLP works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
