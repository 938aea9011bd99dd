#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What meterbank-agent pushes, as others read it: messages decoded by protoc's Python code, a Prometheus
that is written to, and VictoriaMetrics.

usage: real_receivers.py PATH-OF-METERBANK PATH-OF-METERBANK-AGENT PATH-OF-STILL-SHOP
"""

import contextlib
import gzip
import http.server
import importlib
import json
import math
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "agent"))
from real_prometheus import (AISLES, SKIPPED, SOLD, check, fetch, free_port,  # noqa: E402
                             open_shop, running, wait_for)

SERIES = {"sold": ("meterbank_still_shop_sold", 1), "stock": ("meterbank_still_shop_stock", 1),
          "label_bytes": ("meterbank_still_shop_label_bytes", 1024)}
COUNTS = ("sold", "label_bytes")
SERVING = "meterbank_still_shop_serving_time_seconds"


class Receiver:
    """Keeps the bodies of requests, and answers as it is told. `certificate`: it speaks TLS."""

    def __init__(self, stack, certificate=None):
        self.requests = []
        self.answers = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((dict(self.headers), body))
                if not receiver.answers:
                    self.close_connection = True
                    return
                status, headers, text = receiver.answers.pop(0)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        scheme = "http" if certificate is None else "https"
        self.url = f"{scheme}://127.0.0.1:{server.server_port}/v1/metrics"


def raw_values(command_line):
    """By counter and aisle; the shop stands still, so they are those of every moment."""
    rows = json.loads(subprocess.run(
        [command_line, "get", "--raw", "-n", "1", "-f", "json", "still_shop/*/*"],
        text=True, capture_output=True, check=True).stdout)
    return {(row["counter"], row["instance"]): float(row["value"]) for row in rows["samples"]
            if row["counter"] in SERIES}


def push_once(agent, protocol, url, *more):
    result = subprocess.run([agent, "--once", "--push", f"{protocol}={url}", *more], text=True,
                            capture_output=True, check=False, timeout=60)
    return result.returncode, result.stdout + result.stderr


def attributes_of(message):
    return {pair.key: pair.value.string_value or pair.value.int_value for pair in message.attributes}


def check_known(message):
    """No field is unknown to protoc."""
    before = message.ByteSize()
    message.DiscardUnknownFields()
    check(message.ByteSize() == before, "all fields are those of the specification")


def check_otlp(stack, agent, command_line, otlp):
    receiver = Receiver(stack)
    receiver.answers = [(200, {}, b"")]
    code, text = push_once(agent, "otlp", receiver.url)
    check(code == 0, f"OTLP: {code} {text}")
    headers, body = receiver.requests[0]
    check(headers["Content-Type"] == "application/x-protobuf", "the type of OTLP")
    request = otlp.ExportRequest.FromString(gzip.decompress(body))
    check_known(request)
    points, points_of_all = {}, 0
    for resource in request.resource_metrics:
        facts = attributes_of(resource.resource)
        for scope in resource.scope_metrics:
            check(scope.scope.name == "meterbank", "the scope has a name")
            for metric in scope.metrics:
                data = getattr(metric, metric.WhichOneof("data"))
                points_of_all += len(data.data_points)
                for point in data.data_points:
                    if facts["service.name"] == "shop":
                        points[metric.name, attributes_of(point).get("aisle")] = (metric, point)
    check(f"{points_of_all} points" in text, f"{points_of_all} points arrived: {text}")
    for (counter, aisle), value in raw_values(command_line).items():
        name, factor = SERIES[counter]
        metric, point = points[name, aisle]
        check(float(point.as_int or point.as_double) == value * factor, f"{name} of {aisle}")
        if counter in COUNTS:
            check(metric.sum.is_monotonic and metric.sum.aggregation_temporality == otlp.CUMULATIVE,
                  f"{name} is a cumulative, monotonic sum")
            check(0 < point.start_time_unix_nano <= point.time_unix_nano, "a count has a start")
    for aisle in AISLES:
        _, point = points[SERVING, aisle]
        counts = list(point.positive.bucket_counts)
        check(point.count == SOLD == sum(counts) + point.zero_count, "the histogram has all values")
        # Each value to SOLD milliseconds was recorded once.
        base = 2**2**-point.scale
        for index, count in enumerate(counts):
            low, high = (base**(point.positive.offset + index + step) * 1000 for step in (0, 1))
            expected = min(int(high * (1 + 1e-9)), SOLD) - min(int(low * (1 + 1e-9)), SOLD)
            check(count == expected, f"bucket {index} of {aisle} has {count}, expected {expected}")
        check(points["meterbank_still_shop_state_info", aisle] is not None, "texts arrive")

    answer = otlp.ExportResponse(partial_success=otlp.PartialSuccess(
        rejected_data_points=3, error_message="three are too old")).SerializeToString()
    receiver.answers = [(200, {}, answer), (503, {}, b""), (400, {}, b"no such tenant\n")]
    for expected in ("3 points not taken: three are too old", "status 503",
                     "status 400: no such tenant"):
        code, text = push_once(agent, "otlp", receiver.url)
        check(code == 3 and expected in text, f"{expected}: {code} {text}")
    code, text = push_once(agent, "otlp", f"http://127.0.0.1:{free_port()}/")
    check(code == 3 and "0 points" in text and "connect" in text, f"no receiver is there: {text}")


def check_tls(stack, folder, agent):
    certificate = os.path.join(folder, "receiver.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    certificate, "-out", certificate + ".cert"], check=True, capture_output=True)
    with open(certificate, "a", encoding="ascii") as both, \
            open(certificate + ".cert", encoding="ascii") as cert:
        both.write(cert.read())
    receiver = Receiver(stack, certificate)
    code, text = push_once(agent, "otlp", receiver.url)
    check(code == 3 and "certificate" in text, f"an unknown authority is refused: {text}")
    config = os.path.join(folder, "tls.toml")
    headers = os.path.join(folder, "headers")
    with open(headers, "w", encoding="ascii") as file:
        file.write("Authorization: Bearer secret\n")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f'[exporter]\nlisten = "none"\n[[push]]\nurl = "{receiver.url}"\n'
                   f'ca_file = "{certificate}.cert"\nheaders_file = "{headers}"\ninterval_ms = 100\n')
    receiver.answers = [(200, {}, b"")]
    result = subprocess.run([agent, "--config", config, "--once"], text=True, capture_output=True,
                            check=False, timeout=60)
    check(result.returncode == 0, f"TLS: {result.stdout}{result.stderr}")
    check(receiver.requests[-1][0]["Authorization"] == "Bearer secret", "headers arrive")
    # It closes every connection without an answer, and the agent goes on.
    before = len(receiver.requests)
    pusher = stack.enter_context(running([agent, "--config", config], stderr=subprocess.PIPE,
                                         text=True))
    wait_for("requests in vain", lambda: len(receiver.requests) > before + 2)
    check(pusher.poll() is None, "connections that break off do not end the agent")
    receiver.answers = [(200, {}, b"")] * 1000
    lines = [pusher.stderr.readline() for _ in range(3)]
    check("it takes batches again" in lines[2] and "secret" not in "".join(lines), str(lines))
    pusher.terminate()
    check(pusher.wait(20) == 0, "SIGTERM ends the agent in order")


def check_write2(stack, agent, command_line, write2):
    import snappy
    receiver = Receiver(stack)
    receiver.answers = [(204, {"X-Prometheus-Remote-Write-Samples-Written": "1"}, b"")]
    code, text = push_once(agent, "remote-write", receiver.url)
    check(code == 0, f"remote write 2.0: {code} {text}")
    headers, body = receiver.requests[0]
    check(headers["Content-Encoding"] == "snappy" and
          headers["X-Prometheus-Remote-Write-Version"] == "2.0.0" and
          headers["Content-Type"].endswith(";proto=io.prometheus.write.v2.Request"), str(headers))
    request = write2.Request.FromString(snappy.decompress(body))
    check_known(request)
    series = {}
    for one in request.timeseries:
        texts = [request.symbols[ref] for ref in one.labels_refs]
        labels = dict(zip(texts[::2], texts[1::2]))
        check(list(labels) == sorted(labels), "labels are sorted")
        check(labels["job"] == "meterbank" and labels["instance"], "job and instance are there")
        series[labels["__name__"], labels.get("aisle")] = (one, request)
    for (counter, aisle), value in raw_values(command_line).items():
        name, factor = SERIES[counter]
        is_count = counter in COUNTS
        one, _ = series[name + ("_total" if is_count else ""), aisle]
        check(one.samples[0].value == value * factor, f"{name} of {aisle}")
        check(one.metadata.type == (write2.Metadata.COUNTER if is_count else write2.Metadata.GAUGE),
              "the type is told")
        check((one.samples[0].start_timestamp > 0) == is_count, "counts have a start")
    one, _ = series[SERVING, AISLES[0]]
    check(one.histograms[0].count_int == SOLD, "the histogram has all values")


def query(port, text):
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
    result = json.loads(fetch(url))["data"]["result"]
    return {series["metric"].get("aisle"): float(series["value"][1]) for series in result}


def check_prometheus(stack, folder, agent, command_line, shop):
    """One that is written to. It knows remote write 1.0 only, which the agent finds out."""
    port = free_port()
    config = os.path.join(folder, "empty.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("global: {scrape_interval: 1h}\n")
    stack.enter_context(running(
        ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
         f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver",
         "--enable-feature=native-histograms", "--log.level=error"]))
    wait_for("Prometheus", lambda: fetch(f"http://127.0.0.1:{port}/-/ready"))
    url = f"http://127.0.0.1:{port}/api/v1/write"
    pusher = stack.enter_context(running(
        [agent, "--listen", "none", "--push", f"remote-write={url}", "--interval", "500"],
        stderr=subprocess.PIPE, text=True))
    sold = "meterbank_still_shop_sold_total"
    expected = {aisle: SOLD for aisle in AISLES}
    wait_for("pushed value", lambda: query(port, sold) == expected)
    check("pushing to " + url in pusher.stderr.readline(), "the agent says where it pushes")
    check("it does not know remote write 2.0; going on with 1.0" in pusher.stderr.readline(),
          "the agent says that it goes on with 1.0")
    for (counter, aisle), value in raw_values(command_line).items():
        name, factor = SERIES[counter]
        name += "_total" if counter in COUNTS else ""
        check(query(port, name)[aisle] == value * factor, f"{name} of {aisle} in Prometheus")
    for share in (0.1, 0.5, 0.9, 0.99):
        for aisle, value in query(port, f"histogram_quantile({share}, {SERVING})").items():
            right = share * SOLD / 1000
            check(abs(value / right - 1) < 2**(1 / 8) - 1, f"quantile {share} of {aisle}: {value}")
    shop.send_signal(signal.SIGKILL)
    shop.wait()
    # At once, not after the five minutes in which Prometheus looks back for a value.
    wait_for("end of the series", lambda: not query(port, sold))
    pusher.terminate()
    begin = time.monotonic()
    check(pusher.wait(20) == 0, "SIGTERM ends the agent in order")
    check(time.monotonic() - begin < 10, "the agent ends soon")


def check_victoria_metrics(stack, folder, agent, command_line):
    program = shutil.which("victoria-metrics")
    if program is None:
        print("not compared with VictoriaMetrics: it is not installed")
        return
    port = free_port()
    stack.enter_context(running(
        [program, f"-storageDataPath={folder}/vm", f"-httpListenAddr=127.0.0.1:{port}",
         "-search.latencyOffset=0s", "-loggerLevel=ERROR"], stderr=subprocess.DEVNULL))
    wait_for("VictoriaMetrics", lambda: fetch(f"http://127.0.0.1:{port}/health"))
    stack.enter_context(running(
        [agent, "--listen", "none", "--push",
         f"remote-write=http://127.0.0.1:{port}/api/v1/write", "--interval", "500"],
        stderr=subprocess.DEVNULL))
    wait_for("value in VictoriaMetrics", lambda: query(port, "meterbank_still_shop_sold_total") ==
             {aisle: SOLD for aisle in AISLES})
    for (counter, aisle), value in raw_values(command_line).items():
        name, factor = SERIES[counter]
        name += "_total" if counter in COUNTS else ""
        # It keeps numbers as decimals of 64 bits.
        check(math.isclose(query(port, name)[aisle], value * factor, rel_tol=1e-12),
              f"{name} of {aisle} in VictoriaMetrics")


def main():
    command_line, agent, shop_program = sys.argv[1:]
    if shutil.which("prometheus") is None or shutil.which("protoc") is None:
        print("skipped: no prometheus or no protoc here")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        subprocess.run(["protoc", f"--python_out={folder}", f"--proto_path={HERE}", "otlp.proto",
                        "write2.proto"], check=True)
        sys.path.insert(0, folder)
        shop = open_shop(stack, folder, shop_program)
        check_otlp(stack, agent, command_line, importlib.import_module("otlp_pb2"))
        check_tls(stack, folder, agent)
        check_write2(stack, agent, command_line, importlib.import_module("write2_pb2"))
        check_victoria_metrics(stack, folder, agent, command_line)
        check_prometheus(stack, folder, agent, command_line, shop)
    print("receivers read what meterbank get prints")
    return 0


if __name__ == "__main__":
    sys.exit(main())
