#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""system_calls.py PAGE TRACED_PROVIDER [ARGUMENT...]

Compares the table of system calls in PAGE (docs/daemons.md) with those that the program makes, in
both directions. Exit status 1: they differ; 77: no process may be traced here.

A row of the table is "| when | thread | calls |". Calls are separated by commas. "`a` or `b`": which
one depends on the C library, the machine or the kernel. "perhaps `a`": it need not be seen.
"""
import os
import re
import subprocess
import sys
import tempfile

# What the marks of traced_provider.cpp begin.
PHASES = [
    None, "create()", "add(), create_instance()", "add() with a callback", "add() with cuts",
    "counting", "waiting", "closing an instance", "the end", "afterwards",
]
# The program's own: it waits for its reader.
OWN = {"waiting": {"read", "write"}}
MALLOC = {"brk"}
# What the C library does first in each thread. On a busy machine that can be after "the end" began.
FIRST_OF_THREAD = {"rseq", "set_robust_list"}
START_OF_THREAD = {"create()": "keeper", "add() with a callback": "callbacks",
                   "add() with cuts": "cuts"}
KEPT = "the end, with keep_record"

CALL = re.compile(r"^(\w+)\(")
RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>")
CLONED = re.compile(r"\) = (\d+)$")


def trace(program, kept):
    """Lines of strace, as (thread, text)."""
    environment = {**os.environ, "METERBANK_KEEP_RECORD": "1" if kept else "0"}
    with tempfile.NamedTemporaryFile("r") as file:
        done = subprocess.run(["strace", "-f", "-o", file.name, *program], env=environment)
        if done.returncode != 0:
            sys.exit(f"{program[0]} ends with {done.returncode}")
        return [line.rstrip("\n").split(maxsplit=1) for line in file]


def made(lines):
    """{(when, thread): calls} of one life of the program."""
    main = lines[0][0]
    mark = 0
    roles = {main: "caller"}
    calls = {}
    for thread, text in lines:
        call = CALL.match(text) or RESUMED.match(text)
        if not call:
            continue
        name = call.group(1)
        if thread == main and name == "getppid":
            mark += 1 if CALL.match(text) else 0
            continue
        phase = PHASES[mark]
        cloned = name in ("clone", "clone3", "fork", "vfork") and CLONED.search(text)
        if cloned:
            child = cloned.group(1)
            if thread == main:
                roles[child] = START_OF_THREAD.get(phase, "reader")
            else:
                roles[child] = roles.get(thread, "reader")
        role = roles.setdefault(thread, None)
        if role == "reader" or phase is None or RESUMED.match(text) or name in MALLOC:
            continue
        if role == "caller":
            if phase == "afterwards" or name in OWN.get(phase, ()):
                continue
        else:
            has_ended = mark >= PHASES.index("the end") and name not in FIRST_OF_THREAD
            phase = "the end" if has_ended else "running"
        calls.setdefault((phase, thread), set()).add(name)
    # A thread is known by what its creator's call returns, which its own first calls may precede.
    by_role = {}
    for (phase, thread), names in calls.items():
        if roles.get(thread) != "reader":
            by_role.setdefault((phase, roles.get(thread)), set()).update(names)
    return by_role


def listed(page):
    """{(when, thread): [(alternatives, is_sure)]}"""
    rows = {}
    in_section = False
    for line in open(page, encoding="utf-8"):
        if line.startswith("## "):
            in_section = line.strip() == "## System calls"
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not in_section or not line.startswith("|") or len(cells) != 3:
            continue
        when, thread, calls = cells
        if when == "when" or set(when) <= set("-: "):
            continue
        items = rows.setdefault((when.replace("`", ""), thread), [])
        for item in re.split("[,;]", calls):
            names = re.findall(r"`(\w+)`", item)
            if names:
                items.append((names, "perhaps " not in item))
    return rows


def compare(rows, calls):
    problems = []
    for place in sorted(set(rows) | set(calls), key=str):
        seen = calls.get(place, set())
        allowed = {name for names, _ in rows.get(place, []) for name in names}
        for name in sorted(seen - allowed):
            problems.append(f"made and not listed: {name}, {place[0]}, thread: {place[1]}")
        for names, is_sure in rows.get(place, []):
            if is_sure and not seen & set(names):
                problems.append(
                    f"listed and not made: {' or '.join(names)}, {place[0]}, thread: {place[1]}")
    return problems


def main():
    page, *program = sys.argv[1:]
    try:
        allowed = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True)
    except FileNotFoundError:
        allowed = None
    if allowed is None or allowed.returncode != 0:
        print("skipped: processes may not be traced here")
        sys.exit(77)
    calls = made(trace(program, kept=False))
    kept = made(trace(program, kept=True))
    for (phase, thread), names in kept.items():
        if phase == "the end":
            calls[(KEPT, thread)] = names
    problems = compare(listed(page), calls)
    print("\n".join(problems) or f"{sum(map(len, calls.values()))} system calls, all listed")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
