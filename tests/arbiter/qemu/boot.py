#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs test programs in an emulated AArch64 machine that has a hardware PMU.

The machine boots a stock kernel; its first process (guest_init.cpp) runs the programs one after the
other and switches it off. What they print on the serial line decides: a program that did not run to
its end, a test that failed or was skipped, and a program without any test are failures. A program
named by --must-fail is the negative control: it has to run to its end and to fail.

With -icount time in the machine is a function of the instructions that it ran, and it does not
pass while the machine is idle: a test may wait for seconds and costs nothing.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

MARK = "@@"  # begins the lines of guest_init.cpp, as `@@ ended 3 0 NAME`
COMMAND = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-smp", "2", "-m", "512",
           "-icount", "shift=2,sleep=off", "-nic", "none", "-nographic", "-no-reboot"]
KERNEL_LINE = "console=ttyAMA0 loglevel=1 panic=-1 rdinit=/init"


class Archive:
    """A newc archive, which is what the kernel unpacks into its first file system."""

    def __init__(self):
        self._bytes = bytearray()
        self._number = 0
        self._folders = set()

    def _entry(self, name, mode, content=b"", device=(0, 0)):
        self._number += 1
        fields = (self._number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name) + 1, 0)
        self._bytes += b"070701" + b"".join(b"%08x" % field for field in fields)
        for part in (name.encode() + b"\0", content):
            self._bytes += part
            self._bytes += b"\0" * (-len(self._bytes) % 4)

    def folder(self, path):
        if not path or path in self._folders:
            return
        self.folder(os.path.dirname(path))
        self._folders.add(path)
        self._entry(path, 0o40755)

    def file(self, path, content):
        self.folder(os.path.dirname(path))
        self._entry(path, 0o100755, content)

    def console(self):
        self.folder("dev")
        self._entry("dev/console", 0o20600, device=(5, 1))

    def finished(self):
        self._entry("TRAILER!!!", 0)
        return bytes(self._bytes)


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def archive_of(options, commands):
    archive = Archive()
    archive.console()
    archive.file("init", content_of(options.init))
    for library in options.library:
        archive.file("lib/" + os.path.basename(library), content_of(library))
    for path in options.data:
        archive.file("data/" + os.path.basename(path), content_of(path))
    programs = {command.split()[0] for command in commands} | set(options.carry)
    for program in sorted(programs):
        archive.file("bin/" + os.path.basename(program), content_of(program))
    lines = []
    for command in commands:
        program, *arguments = command.split()
        lines.append(" ".join(["/bin/" + os.path.basename(program), *arguments]))
    archive.file("commands", ("\n".join(lines) + "\n").encode())
    return archive.finished()


def boot(options, commands):
    """The lines of the serial line, and whether the machine went off by itself."""
    with tempfile.TemporaryDirectory(prefix="meterbank-machine-") as folder:
        image = os.path.join(folder, "initrd")
        with open(image, "wb") as file:
            file.write(archive_of(options, commands))
        command = [*COMMAND, "-kernel", options.kernel, "-initrd", image, "-append", KERNEL_LINE]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as machine:
            try:
                output, _ = machine.communicate(timeout=options.seconds)
            except subprocess.TimeoutExpired:
                machine.kill()
                output, _ = machine.communicate()
                return text_lines(output), False
    return text_lines(output), machine.returncode == 0


def text_lines(output):
    return output.decode(errors="replace").replace("\r", "").split("\n")


def mistakes_of_program(lines, status, must_fail):
    """What is wrong with the run of one GoogleTest program."""
    def named(result):
        matches = (re.match(rf"\[ +{result} +\] ([\w/]+\.[\w/]+)", line) for line in lines)
        return {match[1] for match in matches if match}

    passed, skipped, failed = named("OK"), named("SKIPPED"), named("FAILED")
    matches = (re.match(r"\[=+\] Running (\d+) tests?", line) for line in lines)
    announced = [int(match[1]) for match in matches if match]
    mistakes = []
    if len(announced) != 1 or announced[0] == 0:
        mistakes.append("no test ran")
    elif announced[0] != len(passed | skipped | failed):
        mistakes.append(f"{announced[0]} tests began, {len(passed | skipped | failed)} ended")
    if must_fail:
        if status == 0 or not failed:
            mistakes.append("the negative control passed")
        return mistakes
    mistakes += [f"failed: {name}" for name in sorted(failed)]
    mistakes += [f"skipped: {name}" for name in sorted(skipped)]
    if status != 0:
        mistakes.append(f"ended with status {status}")
    return mistakes


def mistakes_of(lines, went_off, commands, controls):
    """What is wrong with a boot: sentences; none if all went well."""
    mistakes = [] if went_off else ["the machine did not go off by itself"]
    ended = {}
    since = 0
    for number, line in enumerate(lines):
        words = line.split()
        if words[:2] == [MARK, "begins"]:
            since = number
        elif words[:2] == [MARK, "ended"] and len(words) >= 4:
            ended[int(words[2])] = (int(words[3]), lines[since:number])
    for index, command in enumerate(commands):
        name = os.path.basename(command.split()[0])
        if index not in ended:
            mistakes.append(f"{name}: did not run to its end")
            continue
        status, output = ended[index]
        mistakes += [f"{name}: {mistake}"
                     for mistake in mistakes_of_program(output, status, index in controls)]
    if not any(line.split()[:2] == [MARK, "off"] for line in lines):
        mistakes.append("the last program's end was not reached")
    return mistakes


def check_the_checker():
    """The checker against serial lines that were made up. Returns an exit status."""
    good = [f"{MARK} begins 0 a", "[==========] Running 1 test from 1 test suite.",
            "[       OK ] A.B (1 ms)", f"{MARK} ended 0 0 a", f"{MARK} off"]
    bad = [f"{MARK} begins 0 a", "[==========] Running 1 test from 1 test suite.",
           "[  FAILED  ] A.B (1 ms)", f"{MARK} ended 0 1 a", f"{MARK} off"]

    def changed(line, text):
        return [text if each == line else each for each in good]

    cases = [
        ("a good run", good, True, set(), True),
        ("a machine that had to be stopped", good, False, set(), False),
        ("a failure", bad, True, set(), False),
        ("a control that fails", bad, True, {0}, True),
        ("a control that passes", good, True, {0}, False),
        ("a panic before the end", good[:3], True, set(), False),
        ("a panic after the end", good[:-1], True, set(), False),
        ("a test that vanished", changed(good[2], "noise"), True, set(), False),
        ("a skipped test", changed(good[2], "[  SKIPPED ] A.B (0 ms)"), True, set(), False),
        ("no tests", changed(good[1], "[==========] Running 0 tests from 0"), True, set(), False),
        ("a status without an explanation", changed(good[3], f"{MARK} ended 0 3 a"), True, set(),
         False),
    ]
    wrong = [name for name, lines, went_off, controls, is_good in cases
             if (not mistakes_of(lines, went_off, ["a"], controls)) != is_good]
    for name in wrong:
        print("judged wrongly:", name)
    print(f"{len(cases) - len(wrong)} of {len(cases)} made-up runs judged rightly")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="check the checker, boot nothing")
    parser.add_argument("--kernel")
    parser.add_argument("--init", help="the first process, linked statically")
    parser.add_argument("--library", action="append", default=[], help="goes to /lib")
    parser.add_argument("--carry", action="append", default=[], help="goes to /bin, is not run")
    parser.add_argument("--data", action="append", default=[], help="goes to /data")
    parser.add_argument("--run", action="append", default=[], help="a program and its arguments")
    parser.add_argument("--must-fail", action="append", default=[], help="the same: a control")
    parser.add_argument("--seconds", type=float, default=280)
    options = parser.parse_args()
    if options.check:
        return check_the_checker()
    commands = options.run + options.must_fail
    lines, went_off = boot(options, commands)
    print("\n".join(lines))
    mistakes = mistakes_of(lines, went_off, commands, set(range(len(options.run), len(commands))))
    for mistake in mistakes:
        print("not ok -", mistake)
    if not mistakes:
        print(f"ok - {len(options.run)} programs, {len(options.must_fail)} controls")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
