#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""meterbank-agent as a program: exit codes, signals, and the protocol of a service manager.

usage: agent_program.py PATH-OF-METERBANK-AGENT
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

AGENT = sys.argv[1]
WAIT_S = 20


def check(is_true, what):
    if not is_true:
        sys.exit(f"FAILED: {what}")


def run(*arguments):
    result = subprocess.run([AGENT, *arguments], text=True, capture_output=True, check=False,
                            timeout=WAIT_S)
    return result.returncode, result.stdout, result.stderr


def check_exit_codes():
    check(run("--version")[0] == 0 and "meterbank-agent" in run("--version")[1], "--version")
    check(run("--help")[0] == 0 and "Exit codes" in run("--help")[1], "--help")
    for arguments, words in ((["--no-such-option"], "try: meterbank-agent --help"),
                             (["--listen", "19400"], "invalid address: 19400"),
                             (["--prefix", "Acme-"], "invalid prefix: Acme-"),
                             (["--compress", "often"], "invalid compress: often; try: remote, always or never"),
                             (["--timeout", "0"], "invalid timeout: 0; try: 1 to 10000 milliseconds"),
                             (["--check"], "--check needs a file"),
                             (["--trust", "us"], "invalid trust: us; try: own, root or everyone"),
                             (["--listen", "127.0.0.1:0", "a/b/c/d/e"], "try:"),
                             (["--push", "otlp"], "a receiver without an address: otlp"),
                             (["--push", "grpc=http://x/"], "try: otlp, remote-write or remote-write-1"),
                             (["--push", "otlp=me:secret@x"], "try: http://HOST:PORT/PATH"),
                             (["--interval", "1000"], "--interval without a receiver"),
                             (["--once"], "--once without a receiver"),
                             (["--listen", "none"], "nothing to serve, no receiver, no recording")):
        code, out, err = run(*arguments)
        check(code == 2 and words in err and out == "", f"{arguments}: {code} {err}")
        check("secret" not in err, f"no password is shown: {err}")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, err = run("--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        check(code == 3 and "try: another port" in err, f"a port that is taken: {code} {err}")


def check_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "agent.toml")
        check(run("--config", path)[0] == 3, "a file that is not there")
        with open(path, "w", encoding="utf-8") as file:
            file.write('prefix = "one_"\n')
        check(run("--check", "--config", path)[:2] == (0, f"{path}: no fault\n"), "--check")
        agent = subprocess.Popen([AGENT, "--config", path, "--dir", folder, "--listen",
                                  "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        try:
            address = agent.stderr.readline().split()[-1]

            def page():
                return urllib.request.urlopen(address, timeout=10).read().decode()

            def write_and_reload(text):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                agent.send_signal(signal.SIGHUP)
                return agent.stderr.readline()

            check("\none_agent_exporter_pages_total{" in page(), "the prefix of the file")
            check("read the file again" in write_and_reload('prefix = "two_"\n'), "SIGHUP")
            check("\ntwo_agent_exporter_pages_total{" in page(), "the prefix of the new file")
            fault = write_and_reload("prefix = 3\n")
            check(fault == f"{path}:1:1: error: 'prefix' is not a text\n", fault)
            check("going on as before" in agent.stderr.readline(), "the old settings stay")
            check("\ntwo_agent_exporter_pages_total{" in page(), "the prefix stays")
            check(run("--check", "--config", path)[0] == 2, "--check finds the fault")
        finally:
            agent.kill()
            agent.wait()


def check_view():
    """The page for browsers alone, and a file that is read again with another one."""
    with tempfile.TemporaryDirectory() as folder:
        path, place = os.path.join(folder, "agent.toml"), os.path.join(folder, "view")

        def write(port):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'[exporter]\nlisten = "none"\n[view]\nlisten = "127.0.0.1:{port}"\n'
                           f'address_file = "{place}"\n')

        def address():
            with open(place, encoding="utf-8") as file:
                return file.read().strip()

        write(0)
        agent = subprocess.Popen([AGENT, "--config", path, "--dir", folder], stderr=subprocess.PIPE,
                                 text=True)
        try:
            said = agent.stderr.readline()
            check(said == f"meterbank-agent: serving the page for browsers; {place} has its address\n", said)
            first = address()
            check("<title>" in urllib.request.urlopen(first, timeout=10).read().decode(), "the page")
            agent.send_signal(signal.SIGHUP)
            check("read the file again" in agent.stderr.readline(), "SIGHUP")
            check(address() == first, "the token stays")
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", 0))
                taken.listen()
                write(taken.getsockname()[1])
                agent.send_signal(signal.SIGHUP)
                said = agent.stderr.readline()
                check("try: another port" in said, f"a port that is taken: {said}")
                check("read the file again" in agent.stderr.readline(), "SIGHUP")
            agent.send_signal(signal.SIGTERM)
            check(agent.wait(WAIT_S) == 0, "SIGTERM ends it in order")
            check(not os.path.exists(place), "the file of the address ends with the page")
        finally:
            agent.kill()
            agent.wait()


def check_service():
    """What a service manager sees from the start to the end."""
    with tempfile.TemporaryDirectory() as folder, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, \
            socket.socket() as listener:
        path = os.path.join(folder, "notify")
        manager.bind(path)
        manager.settimeout(WAIT_S)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        # The shell is the process that becomes the agent, so its pid is the one that is meant.
        agent = subprocess.Popen(
            ["/bin/sh", "-c",
             f'LISTEN_PID=$$ exec "{AGENT}" --dir "{folder}" 3<&{listener.fileno()}'],
            pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL,
            env={**os.environ, "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000",
                 "LISTEN_FDS": "1"})
        try:
            ready = manager.recv(4096).decode()
            check(ready == f"READY=1\nSTATUS=Serving http://127.0.0.1:{port}/metrics", ready)
            for _ in range(3):
                check(manager.recv(4096) == b"WATCHDOG=1", "the watchdog is told")
            page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read()
            check(b"meterbank_agent_exporter_pages_total" in page, "the agent counts itself")
            agent.send_signal(signal.SIGTERM)
            while (word := manager.recv(4096)) == b"WATCHDOG=1":
                pass
            check(word == b"STOPPING=1", f"the end is told: {word}")
            check(agent.wait(WAIT_S) == 0, "SIGTERM ends it in order")
        finally:
            agent.kill()
            agent.wait()


check_exit_codes()
check_file()
check_view()
check_service()
print("exit codes, signals and notifications are as documented")
