# SPDX-License-Identifier: Apache-2.0
"""A power cut at arbitrary moments of a recorder's life costs what was not yet synced, and no more.

    power_cut.py METERBANK NOISY_SHOP [never]

The system calls of a real recorder say what a disk has for certain at each moment: bytes that fdatasync()
has returned for, and names that fsync() of their directory has returned for. All else may be there, in
part, as zeros, or not at all. With `never`, no sync counts, which the check must notice.
"""

import bisect
import collections
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

PAGE = 4096
CUTS = 12
CALL = re.compile(r"^(?P<time>[\d.]+) (?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)"
                  r".* <(?P<took>[\d.]+)>$")
DESCRIPTOR = re.compile(r"^\d+<(?P<path>[^>]*)>")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')

Event = collections.namedtuple("Event", "begin end name path data")


def text_of(escaped):
    return bytes.fromhex(escaped.replace("\\x", ""))


def events_of(trace, root):
    """The calls below `root` that change it or make it durable, in the order in which they ended."""
    events = []
    for line in trace:
        call = CALL.match(line)
        if not call or int(call["result"]) < 0:
            continue
        begin = float(call["time"])
        texts = TEXT.findall(call["arguments"])
        descriptor = DESCRIPTOR.match(call["arguments"])
        if descriptor:
            path = text_of(descriptor["path"]).decode()
        elif texts:
            path = os.path.join(root, text_of(texts[0]).decode())
        else:
            continue
        if not os.path.normpath(path).startswith(root):
            continue
        name, data = call["name"], b""
        if name == "openat":
            if "O_CREAT" not in call["arguments"]:
                continue
            name, path = "create", os.path.join(root, text_of(texts[-1]).decode())
        elif name == "write":
            data = text_of(texts[0])[:int(call["result"])]
        events.append(Event(begin, begin + float(call["took"]), name,
                            os.path.relpath(os.path.normpath(path), root), data))
    return sorted(events, key=lambda event: event.end)


class Disk:
    """What is there for certain after these events, and what may be there."""

    def __init__(self, events, syncs_count):
        self.written = collections.defaultdict(bytearray)
        self.synced = collections.Counter()  # bytes, by path
        self.has = set()  # paths; what a directory's fsync made durable
        self.may_have, self.may_lack = set(), set()
        for event in events:
            if event.name in ("create", "mkdir"):
                self.may_have.add(event.path)
            elif event.name == "write":
                self.written[event.path] += event.data
            elif event.name == "unlink":
                self.may_lack.add(event.path)
            elif event.name == "ftruncate":
                sys.exit("the recorder took bytes back: the disk was full")
            elif syncs_count and event.name == "fdatasync":
                # What was written before the call began; writes that came beside it do not count.
                begun = [other for other in events if other.end <= event.begin]
                self.synced[event.path] = sum(len(other.data) for other in begun
                                              if other.name == "write" and other.path == event.path)
            elif syncs_count and event.name == "fsync":
                inside = {path for path in self.may_have if parent_of(path) == event.path}
                self.has |= inside
                gone = {path for path in self.may_lack if parent_of(path) == event.path}
                self.has -= gone
                self.may_have -= inside | gone
                self.may_lack -= gone

    def states(self, dice):
        """{path: bytes} as the disk may be found."""
        for luck in ("least", "zeros", "pages", "most"):
            has = set(self.has)
            if luck != "least":
                has |= self.may_have if luck == "most" else {
                    path for path in self.may_have if dice.random() < 0.5}
            has -= {path for path in self.may_lack if dice.random() < 0.5}
            yield {path: self.found(path, luck, dice) for path in has
                   if parent_of(path) == "." or parent_of(path) in has}

    def found(self, path, luck, dice):
        data, kept = bytes(self.written[path]), self.synced[path]
        if luck == "most":
            return data
        if luck == "least":
            return data[:kept]
        if luck == "zeros":
            return data[:kept] + bytes(len(data) - kept)
        found = bytearray(data)
        for page in range(kept // PAGE, len(data) // PAGE + 1):
            if dice.random() < 0.5:
                begin, end = max(kept, page * PAGE), min(len(data), (page + 1) * PAGE)
                found[begin:end] = bytes(end - begin)
        return bytes(found)


def parent_of(path):
    return os.path.dirname(path) or "."


def moments_in(meterbank, path):
    """{time: the printed sample} of a recording, empty if there is none."""
    if not path.exists():
        return {}
    done = subprocess.run([meterbank, "get", "--log", path, "--from", "@0", "--raw", "-f", "jsonl", "-q",
                           "*/venue 14/*"], capture_output=True, text=True)
    assert done.returncode in (0, 1, 3), (done.returncode, done.stderr)
    assert "Sanitizer" not in done.stderr, done.stderr
    samples = (json.loads(line) for line in done.stdout.splitlines())
    return {sample["time"]: [(row["path"], row["raw"]) for row in sample["samples"]]
            for sample in samples}


def record(meterbank, shop, root, output, *options):
    """A recorder's calls while it records some thousand values that are hard to compress."""
    with tempfile.TemporaryDirectory() as segments, tempfile.TemporaryDirectory() as traces:
        with subprocess.Popen([shop, segments], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
            running.stdout.readline()
            traced = subprocess.run(
                ["strace", "-ff", "-ttt", "-T", "-y", "-xx", "-s", "9999999", "-o", traces + "/of", "-e",
                 "trace=openat,mkdir,write,ftruncate,fdatasync,fsync,unlink", meterbank, "record", "-q",
                 "--dir", segments, "-o", output, "-i", "10ms", "--for", "6s", *options], cwd=root)
            if traced.returncode != 0:
                sys.exit(f"the recorder ended with {traced.returncode}")
            running.stdin.close()
        # A file for each thread, so that no call is in two lines.
        return events_of([line for trace in pathlib.Path(traces).iterdir()
                          for line in trace.read_text().splitlines()], root)


def materialize(state, root):
    for path, data in state.items():
        target = root / path
        target.parent.mkdir(exist_ok=True)
        if path.endswith(".mbr"):
            target.write_bytes(data)


def check_cut(disk, meterbank, output, everything, dice):
    """The times of the moments that are there for certain. All that is shown was recorded so."""
    certain = None
    for state in disk.states(dice):
        with tempfile.TemporaryDirectory() as folder:
            materialize(state, pathlib.Path(folder))
            shown = moments_in(meterbank, pathlib.Path(folder, output))
        if certain is None:
            certain = set(shown)
        # What a power cut took away may be what an unlink had not: then there is more.
        for time, sample in shown.items():
            assert everything.get(time) == sample, f"{time} is not what was recorded"
    return certain


def check(meterbank, shop, output, options, syncs_count):
    dice = random.Random(21)
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.realpath(folder)
        events = record(meterbank, shop, root, output, *options)
        whole = Disk([event for event in events if event.name != "unlink"], True)
        shutil.rmtree(os.path.join(root, output), ignore_errors=True)
        everything_at = pathlib.Path(root, "whole")
        everything_at.mkdir()
        materialize({path: whole.written[path] for path in whole.has | whole.may_have}, everything_at)
        everything = moments_in(meterbank, everything_at / output)
    times = sorted(everything)
    worst = 0
    for _ in range(CUTS):
        at = dice.randrange(len(events) // 10, len(events))
        certain = check_cut(Disk(events[:at], syncs_count), meterbank, output, everything, dice)
        taken = bisect.bisect_right([seconds_of(time) for time in times], events[at].begin)
        last = max(map(seconds_of, certain), default=seconds_of(times[0]))
        if taken:
            worst = max(worst, seconds_of(times[taken - 1]) - last)
    calls = collections.Counter(event.name for event in events)
    slowest = max(event.end - event.begin for event in events if event.name in ("fsync", "fdatasync"))
    print(f"{output}: {len(times)} moments, {calls['create']} files, {calls['unlink']} removed, {CUTS} cuts, "
          f"at most the last {worst:.2f} s missing; the slowest sync took {slowest:.2f} s")
    assert len(times) > 100, "hardly anything was recorded"
    return worst, calls


def seconds_of(time):
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def main():
    meterbank, shop = sys.argv[1:3]
    syncs_count = len(sys.argv) == 3
    ring, calls = check(meterbank, shop, "ring", ["--size", "1M"], syncs_count)
    assert calls["create"] > 3 and calls["unlink"] > 1, f"the ring did not turn: {calls}"
    single, _ = check(meterbank, shop, "single.mbr", [], syncs_count)
    # A second, and what a busy machine takes to come to it.
    assert max(ring, single) < 2.5, "more than what was recorded within a second is missing"


if shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode != 0:
    print("skipped: no process may be traced here")
    sys.exit(77)
main()
