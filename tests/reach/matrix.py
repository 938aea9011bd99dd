#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matrix.py [--write | --shut] PAGE CLI PROVIDER READER

Starts providers and readers of every kind, and compares what the readers see with the table in PAGE
(docs/access.md). Exit status 1: they differ; 77: this machine cannot produce some rows, which are
named, and the others are as in PAGE.

--write  puts the table into PAGE instead
--shut   the negative control: providers admit their owner alone; the table must differ
"""
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace

import world
from world import FIRST_INSIDE, GROUP, INSIDE, OTHER, OWNER, CannotBeMade, Place, World

BEGIN, END = "<!-- made by tests/reach/matrix.py -->\n", "<!-- end -->\n"
COLUMNS = ("list", "get", "watch", "library")
POLICIES = {"owner": "owner", "group": f"group:{GROUP}", "everyone": "everyone"}
ALL_NAMESPACES = "--all-namespaces"


@dataclass(frozen=True)
class Service:
    """How a provider runs, and who reads it."""

    text: str
    place: Place = Place()
    heartbeat_ms: int = 1000  # 0: no door
    becomes: int = 0  # a user, from root
    file_capability: bool = False
    stopped: bool = False  # it is hung when it has missed three heartbeats
    shares_directory: bool = True
    readers: dict = field(default_factory=dict)


SAME, OTHERS, ROOT = Place(), Place(OTHER), Place(0)
IN_CONTAINER = Place(INSIDE, user_namespace="a range", pid_namespace=True)
COMMON = {"the same user": SAME, "another user": OTHERS, "root": ROOT}
ELSEWHERE = {
    "the same user, `hidepid=2`": Place(hidepid=True),
    "another user, `hidepid=2`": Place(OTHER, hidepid=True),
    "the same user, in a user namespace": Place(user_namespace="its own"),
    "the same user, as root of a user namespace": Place(0, user_namespace="its own"),
    "a user in a container": IN_CONTAINER,
    "root in a container": replace(IN_CONTAINER, uid=0),
}
THROUGH_PROCFS = {f"root, `{ALL_NAMESPACES}`": ROOT}
PLAIN = Service("a service", readers={
    **COMMON, "a member of the group": Place(OTHER, groups=(GROUP,)), **ELSEWHERE})
CHANGED = Service("a daemon that changed its user", ROOT, becomes=OWNER, readers={
    **COMMON, "the same user, `hidepid=2`": Place(hidepid=True)})
FILE = Service("a program with file capabilities", file_capability=True, readers=COMMON)
AMBIENT = Service("a process with ambient capabilities", Place(ambient=True), readers=COMMON)
CONTAINED = Service("a service in a container that shares the directory", IN_CONTAINER, readers={
    "the same user, outside": Place(FIRST_INSIDE + INSIDE), "another user, outside": OTHERS,
    "root, outside": ROOT, "the same user, in another container": IN_CONTAINER})
SERVICES = (
    PLAIN,
    CHANGED,
    FILE,
    AMBIENT,
    CONTAINED,
    replace(CONTAINED, text="a service in a container that shares nothing", shares_directory=False,
            readers={f"another user, `{ALL_NAMESPACES}`": OTHERS, **THROUGH_PROCFS}),
    replace(PLAIN, text="a stopped service", stopped=True, heartbeat_ms=50,
            readers={**COMMON, **ELSEWHERE}),
    replace(CHANGED, text="a stopped daemon that changed its user", stopped=True,
            heartbeat_ms=50),
    replace(CONTAINED, text="a stopped service in a container", stopped=True, heartbeat_ms=50,
            readers={**CONTAINED.readers, **THROUGH_PROCFS}),
    replace(PLAIN, text="a service without a door", heartbeat_ms=0),
    replace(CHANGED, text="a daemon that changed its user, without a door", heartbeat_ms=0),
    replace(FILE, text="a program with file capabilities, without a door", heartbeat_ms=0),
    replace(AMBIENT, text="a process with ambient capabilities, without a door", heartbeat_ms=0),
    replace(CONTAINED, text="a service in a container, without a door", heartbeat_ms=0,
            readers={**CONTAINED.readers, **THROUGH_PROCFS}),
)


class Looker:
    """A reader, and the four ways in which it looks. Each returns (what it gets, why not)."""

    TRIES = 20

    def __init__(self, made, name, place, directory, expects_silence):
        self.made, self.place, self.directory = made, place, directory
        self.expects_silence = expects_silence
        self.options = ["--dir", directory]
        if ALL_NAMESPACES in name:  # the machine may have others
            self.options += [ALL_NAMESPACES, "--where", f"uid={FIRST_INSIDE + INSIDE}"]

    def normalized(self, text):
        """Without what differs from run to run; the number is that of the process outside."""
        pid = self.made.pids[-1]
        text = text.replace(self.directory, "DIR")
        text = re.sub(r"orders@\d+", "orders@PID", text)
        text = re.sub(rf"(process |-CONT |/proc/){pid}\b", r"\1PID", text)
        for name, uid in (("OWNER", OWNER), ("OWNER", FIRST_INSIDE + INSIDE), ("OTHER", OTHER)):
            text = re.sub(rf"\buid {uid}\b", f"uid {name}", text)
        text = re.sub(r"(, )?\d+ (processes whose [^()]*) \(uid \w+\)", r"N \2", text)
        text = re.sub(r"(N processes whose descriptors may not be listed)+", r"\1", text)
        text = text.replace(": Permission denied [", " [")  # which the library has apart
        return re.sub(r"\b\d+(\.\d+)? (ms|s|min)\b", "N s", text)

    def seen(self, has_value, is_hung, complaint):
        lines = [re.sub(r"^meterbank: ", "", line) for line in complaint.splitlines()]
        why = self.normalized("; ".join(lines).strip())
        if not has_value:
            return "refused", why
        return ("last values" if is_hung else "works"), why

    def look(self, column):
        """Again, where a loaded machine made a provider late that is not stopped."""
        for _ in range(self.TRIES):
            what, why = getattr(self, column)()
            if self.expects_silence or not (what == "last values" or "did not answer" in why):
                break
        return what, why

    def command(self, *words):
        return [self.made.programs["cli"], *words, *self.options]

    def list(self):
        _, out, err = self.made.run(self.place, self.command("list", "-f", "plain"))
        return self.seen("reach\t" in out, "\thung\t" in out, err)

    def get(self):
        words = ("get", "reach/value", "-f", "plain", "--strict")
        _, out, err = self.made.run(self.place, self.command(*words))
        return self.seen("reach/value\t42" in out, " is hung" in err, err)

    def watch(self):
        words = ("watch", "reach/value", "-n", "1")
        _, out, err = self.made.run_on_terminal(self.place, self.command(*words))
        return self.seen(re.search(r"reach/value .*\b42\b", out), "silent for" in out, err)

    def library(self):
        if ALL_NAMESPACES in self.options:
            return "-", ""  # the C interface has no such option
        _, out, _ = self.made.run(self.place, [self.made.programs["reader"], self.directory])
        state, value, why, remedy = out.split("\n")[:4]
        complaint = f"orders@PID: {why}; try: {remedy}" if why else ""
        return self.seen(value == "42", state == "hung", complaint)


def start_service(made, service, policy, directory):
    program = "provider"
    if service.file_capability:
        program = made.give_file_capability("provider")
    command = [made.programs[program], directory, policy, str(service.heartbeat_ms)]
    if service.becomes:
        command.append(str(service.becomes))
    made.start_provider(service.place, command)
    if service.stopped:
        made.stop_provider()
        time.sleep(6 * service.heartbeat_ms / 1000)


def rows_of(made, service, policy):
    """{reader: its cells, or why this machine has no such reader or provider}"""
    owner = FIRST_INSIDE if service.place.user_namespace else 0
    directory = made.new_directory(owner)
    rows = {}
    try:
        start_service(made, service, policy, directory)
        for reader, place in service.readers.items():
            seen = directory if service.shares_directory else made.new_directory()
            looker = Looker(made, reader, place, seen, service.stopped)
            try:
                rows[reader] = tuple(looker.look(column) for column in COLUMNS)
            except CannotBeMade as reason:
                rows[reader] = str(reason)
    except CannotBeMade as reason:
        rows = {reader: str(reason) for reader in service.readers}
    made.end_providers()
    return rows


def produce(programs, services, policies):
    """[(provider, reader, policies, cells)], and what cannot be produced here."""
    rows, skipped = [], []
    with World(programs) as made:
        for service in services:
            by_policy = {name: rows_of(made, service, text) for name, text in policies.items()}
            for reader in service.readers:
                groups = {}
                for policy in policies:
                    groups.setdefault(by_policy[policy][reader], []).append(policy)
                for cells, names in groups.items():
                    if isinstance(cells, str):
                        skipped.append(f"{service.text}, read by {reader}: {cells}")
                    else:
                        names = "any" if len(names) == len(policies) else ", ".join(names)
                        rows.append((service.text, reader, names, cells))
    return rows, skipped


ALONE = "--alone"  # in a pid namespace without other processes
CODE = re.compile(r" \[([A-Z_]+)\]")


def table_of(rows):
    """The table, and what it says about refusals below it."""
    lines = ["| provider | reader | `readers` | " + " | ".join(COLUMNS) + " |", "|---" * 7 + "|"]
    texts = []
    last = None
    for provider, reader, policies, cells in rows:
        shown = []
        for column, (what, why) in zip(COLUMNS, cells):
            known = texts
            if column == "library":  # which has the code apart
                known = [CODE.sub("", text) for text in texts]
            if why and why not in known:
                known = texts
                texts.append(why)
            shown.append(f"{what} ({known.index(why) + 1})" if why else what)
        first = provider if provider != last else ""
        lines.append(f"| {first} | {reader} | {policies} | " + " | ".join(shown) + " |")
        last = provider
    lines.append("")
    lines += [f"{number}. `{text}`" for number, text in enumerate(texts, 1)]
    return "\n".join(lines) + "\n"


def read_table(text):
    """The rows of a page, with the notes in place of their numbers."""
    notes = dict(re.findall(r"^(\d+)\. `(.*)`$", text, re.MULTILINE))
    rows, provider = [], ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) != 7 or cells[0] == "provider":
            continue
        provider = cells[0] or provider
        shown = []
        for column, cell in zip(COLUMNS, cells[3:]):
            what, _, number = cell.rstrip(")").partition(" (")
            why = notes.get(number, "")
            shown.append((what, CODE.sub("", why) if column == "library" else why))
        rows.append((provider, cells[1], cells[2], tuple(shown)))
    return rows


def main():
    words = sys.argv[1:]
    # Of the machine's own processes, some may be closed even to root. The rows are not about them.
    if os.geteuid() == 0 and ALONE not in words:
        alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        probe = subprocess.run([*alone, "true"], stderr=subprocess.PIPE, text=True, check=False)
        if probe.returncode != 0:  # in a chroot, for instance, mounts cannot be private
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
        os.execvp("unshare", [*alone, sys.executable, sys.argv[0], ALONE, *words])
    page, *paths = words[-4:]
    is_shut = "--shut" in words
    policies = dict.fromkeys(POLICIES, "owner") if is_shut else POLICIES
    programs = dict(zip(("cli", "provider", "reader"), paths))
    rows, skipped = produce(programs, SERVICES[:1] if is_shut else SERVICES, policies)
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    old, after = rest.split(END)
    for text in skipped:
        print("skipped:", text)
    if "--write" in words:
        if skipped:
            sys.exit("this machine cannot produce the whole table")
        with open(page, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + table_of(rows) + END + after)
        return
    here = read_table(table_of(rows))
    there = read_table(old)
    differences = [f"not in the page: {row}" for row in here if row not in there]
    if not skipped and not is_shut:
        differences += [f"only in the page: {row}" for row in there if row not in here]
    print("\n".join(differences) or f"{len(here)} rows are as in {page}")
    sys.exit(1 if differences else 77 if skipped else 0)


if __name__ == "__main__":
    main()
