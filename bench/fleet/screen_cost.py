#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `meterbank watch` costs on a terminal of 120 x 40: from its start to the first values, processor time
once and ten times a second, and bytes that the terminal gets. All counters change once a second. The last rows
are of a set of 1,000,000 instances.

usage: screen_cost.py BIN-FOLDER [--quick]
"""

import contextlib
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time

from beside import cpu_seconds, resident_bytes, start_counters

COLUMNS, LINES = 120, 40
# Of all values in the first picture: nothing but a mark of the overview tells that it is there.
FIRST = b"Busiest sets"


def line(*cells):
    print("".join(f"{cell:<34}" if at == 0 else f"{cell:>15}" for at, cell in enumerate(cells)), flush=True)


class OnTerminal:
    def __init__(self, folder, *command):
        self.began = time.monotonic()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(LC_ALL="C.UTF-8", TERM="xterm-256color", METERBANK_DIR=folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execv(command[0], command)

    def read(self, seconds, until=None):
        """What arrives within that time, or until something has."""
        end, seen = time.monotonic() + seconds, b""
        while (left := end - time.monotonic()) > 0 and not (until and until in seen):
            if select.select([self.terminal], [], [], left)[0]:
                try:
                    seen += os.read(self.terminal, 1 << 16)
                except OSError:
                    break
        return seen

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        with contextlib.suppress(OSError):
            while os.read(self.terminal, 1 << 16):
                pass
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def watch_command(program, folder, *options):
    return [program, "watch", "--ring", folder + "/none", *options]


def first_bytes_ms(folder, rounds, *command):
    times = []
    for _ in range(rounds):
        program = OnTerminal(folder, *command)
        if FIRST not in program.read(20, FIRST):
            sys.exit("no first picture")
        times.append(1e3 * (time.monotonic() - program.began))
        program.stop()
    return statistics.median(times)


def first_picture_ms(program, folder, rounds):
    return first_bytes_ms(folder, rounds, *watch_command(program, folder))


def at_a_pace(program, folder, interval, keys, seconds):
    """Share of a processor, bytes a picture, resident bytes."""
    watch = OnTerminal(folder, *watch_command(program, folder, "-i", interval))
    watch.read(20, FIRST)
    for key in keys:
        os.write(watch.terminal, key)
        watch.read(1)
    watch.read(2)
    spent, began = cpu_seconds(watch), time.monotonic()
    seen = len(watch.read(seconds))
    share = (cpu_seconds(watch) - spent) / (time.monotonic() - began)
    resident = resident_bytes(watch)
    watch.stop()
    pictures = seconds / (0.1 if interval == "100ms" else 1)
    return share, seen / pictures, resident


def percent(share):
    return f"{100 * share:.2f} %"


def mib(size):
    return f"{size / (1 << 20):.1f} MiB"


def main():
    programs, quick = sys.argv[1], "--quick" in sys.argv[2:]
    program = os.path.join(programs, "meterbank")
    seconds = 2 if quick else 30
    echo = first_bytes_ms("", 3 if quick else 15, "/bin/echo", FIRST.decode())
    line("", "first picture", "CPU, 1 s", "CPU, 100 ms", "bytes, 1 s", "resident")
    line("/bin/echo, likewise", f"{echo:.1f} ms")
    for counters in ((80,) if quick else (1_000, 100_000)):
        with contextlib.ExitStack() as stack:
            scratch = stack.enter_context(tempfile.TemporaryDirectory())
            folder = start_counters(stack, programs, scratch, counters)
            first = first_picture_ms(program, folder, 3 if quick else 15)
            for name, keys in (("overview", ()), ("set", (b"\t", b"\r"))):
                slow = at_a_pace(program, folder, "1s", keys, seconds)
                fast = at_a_pace(program, folder, "100ms", keys, seconds)
                line(f"{name} of {counters} counters", f"{first:.1f} ms", percent(slow[0]), percent(fast[0]),
                     f"{slow[1]:.0f}", mib(slow[2]))
    if quick:
        return
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        folder = start_counters(stack, programs, scratch, 8_000_000)
        first = first_picture_ms(program, folder, 3)
        for name, keys in (("in the order of the set", (b"\t", b"\r")), ("sorted", (b"\t", b"\r", b"s"))):
            share, size, resident = at_a_pace(program, folder, "1s", keys, seconds)
            line(name, f"{first:.0f} ms", percent(share), "", f"{size:.0f}", mib(resident))


if __name__ == "__main__":
    main()
