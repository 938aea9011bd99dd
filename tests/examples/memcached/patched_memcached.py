#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds memcached with the patch, and compares what meterbank reads of it with its own `stats`.

  patched_memcached.py BUILD_SH FOLDER PREFIX METERBANK

Exits with 77 where the source package or what it takes to build it is missing.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PORT = 23017
SAME = {"get_hits": "get_hits", "get_misses": "get_misses", "sets": "cmd_set",
        "delete_hits": "delete_hits", "delete_misses": "delete_misses"}


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def build(script, folder, prefix):
    for tool in ("autoreconf", "dpkg-buildflags", "patch", "apt-get"):
        if not shutil.which(tool):
            skip(f"no {tool} (group embed in packages.txt)")
    if not os.path.exists("/usr/include/event.h"):
        skip("no libevent-dev")
    done = subprocess.run([script, folder, prefix], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    print(done.stdout)
    if done.returncode != 0:
        if not os.path.exists(os.path.join(folder, "plain")):
            skip("the source package cannot be fetched here")
        sys.exit("the build failed")


class Client:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=10)

    def ask(self, command, end):
        self.socket.sendall(command)
        answer = b""
        while not answer.endswith(end):
            more = self.socket.recv(65536)
            assert more, answer
            answer += more
        return answer.decode()

    def stats(self):
        lines = self.ask(b"stats\r\n", b"END\r\n").splitlines()
        return {line.split()[1]: line.split()[2] for line in lines if line.startswith("STAT")}


def started(folder, *options):
    user = ["-u", "daemon"] if os.geteuid() == 0 else []
    process = subprocess.Popen([os.path.join(folder, "patched", "memcached"), *user,
                                "-l", "127.0.0.1", "-p", str(PORT), "-t", "3", *options])
    for _ in range(100):
        try:
            return process, Client()
        except OSError:
            time.sleep(0.1)
    sys.exit("memcached did not start")


def values(meterbank, *paths):
    """Stored values, by their path."""
    command = [meterbank, "get", "--raw", "--across-users", "-f", "json", *paths]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return {row["path"]: row["raw"] for row in json.loads(done.stdout)["samples"]}


def provider_states(meterbank):
    return subprocess.run([meterbank, "list", "--providers", "-f", "tsv"],
                          stdout=subprocess.PIPE, text=True).stdout


def count_commands(client):
    client.ask(b"set a 0 0 3\r\nabc\r\n", b"STORED\r\n")
    client.ask(b"set b 0 0 3\r\nabc\r\n", b"STORED\r\n")
    client.ask(b"get a b missing\r\n", b"END\r\n")
    client.ask(b"mg a v\r\n", b"abc\r\n")
    client.ask(b"mg missing v\r\n", b"EN\r\n")
    client.ask(b"delete a\r\n", b"DELETED\r\n")
    client.ask(b"delete a\r\n", b"NOT_FOUND\r\n")
    client.ask(b"md b\r\n", b"HD\r\n")
    # The binary protocol, on a connection of its own: set, get, delete of the key "k".
    binary = Client()
    header = b"\x80%c\x00\x01%c\x00\x00\x00\x00\x00\x00%c" + bytes(12)
    binary.socket.sendall(header % (1, 8, 10) + bytes(8) + b"kv")
    for operation in (0, 4, 4):
        binary.socket.sendall(header % (operation, 0, 1) + b"k")
    received = b""
    while len(received) < 24 + 24 + 5 + 24 + 24 + len("Not found"):
        received += binary.socket.recv(4096)


def main():
    script, folder, prefix, meterbank = sys.argv[1:]
    build(script, folder, prefix)
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o1777)
        os.environ["METERBANK_DIR"] = directory
        process, client = started(folder, "-o", "latencies")
        count_commands(client)
        stats = client.stats()
        seen = values(meterbank, "memcached_commands/_Total/*", "memcached_latencies/_Total/*",
                      "memcached_connections/*")
        print(seen)
        for ours, theirs in SAME.items():
            count = int(stats[theirs])
            assert seen[f"memcached_commands/_Total/{ours}"] == count > 0, (ours, count)
            assert seen[f"memcached_latencies/_Total/{ours}"] == count, (ours, count)
        # `stats` was read before it was counted as written itself.
        assert seen["memcached_commands/_Total/bytes_read"] == int(stats["bytes_read"])
        assert seen["memcached_commands/_Total/bytes_written"] >= int(stats["bytes_written"]) > 0

        process.send_signal(signal.SIGKILL)
        process.wait()
        assert "dead" in provider_states(meterbank), provider_states(meterbank)
        process, client = started(folder)
        states = provider_states(meterbank)
        assert "live" in states and "dead" not in states, states
        assert list(values(meterbank, "memcached_commands/_Total/sets").values()) == [0]
        process.terminate()
        process.wait()
        assert os.listdir(directory) == [], os.listdir(directory)


if __name__ == "__main__":
    main()
