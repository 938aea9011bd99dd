# SPDX-License-Identifier: Apache-2.0
"""What the measurements of a fleet start, and how they look at a process from outside."""

import contextlib
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request


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


def cpu_seconds(process):
    """Of all its threads, to the nanosecond: the number of the kernel's clock is made of the pid."""
    return time.clock_gettime((~process.pid << 3) | 2)


def resident_bytes(process):
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def private_bytes(process):
    """Without pages that it shares with others: those of the providers that it reads."""
    with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) << 10 for line in file if line.startswith("Private_"))


def fetch(url, headers=None):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=60) as answer:
        return answer.read()


def wait_for(what, attempt, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if result := attempt():
                return result
        time.sleep(0.1)
    sys.exit(f"no {what} within {seconds} s")


def start_counters(stack, bin_folder, folder, counters, period_ms=1000, histograms=0, page=False):
    """A provider of so many counters and histograms in a directory of its own, which is returned. With `page`, it has
    a set of twelve histograms, too."""
    directory = os.path.join(folder, f"run-{counters}-{period_ms}")
    os.mkdir(directory, 0o700)
    process = stack.enter_context(running(
        [os.path.join(bin_folder, "meterbank_moving_counters"), str(counters), str(period_ms),
         str(histograms), *(["page"] if page else [])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "METERBANK_DIR": directory}))
    if process.stdout.readline() != "ready\n":
        sys.exit("the provider did not start")
    return directory


def start_agent(stack, bin_folder, *options):
    """It and its address, if it has one."""
    process = stack.enter_context(running(
        [os.path.join(bin_folder, "meterbank-agent"), *options], stderr=subprocess.PIPE, text=True))
    line = process.stderr.readline()
    address = line.split("http://")[1].split("/")[0] if "serving" in line else None
    # What it says later must not fill the pipe.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process, address


class Sink:
    """Takes requests of remote write and OTLP, and counts their bytes. It decodes nothing."""

    def __init__(self, stack):
        self.bytes = 0
        self.requests = 0
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                sink.bytes += len(self.rfile.read(int(self.headers["Content-Length"])))
                sink.requests += 1
                self.send_response(200)
                self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        server.handle_error = lambda *_: None  # an agent that ends breaks its connection off
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}/write"
