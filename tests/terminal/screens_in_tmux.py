# SPDX-License-Identifier: Apache-2.0
"""Drives `meterbank watch` in a real terminal, that of tmux: keys, sizes, signals, and providers that end.

usage: screens_in_tmux.py METERBANK
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
WAIT = 20.0  # seconds; under a sanitizer and beside other tests


class Terminal:
    def __init__(self, folder, width, height):
        self.number = 0
        self.tmux = ["tmux", "-L", "meterbank-test-%d" % os.getpid(), "-f", "/dev/null"]
        environment = dict(os.environ, LC_ALL="C.UTF-8", PS1="$ ", XDG_CONFIG_HOME=str(folder / "config"))
        environment.pop("TMUX", None)
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(folder),
                        "sh"], check=True, env=environment)

    def run(self, *words):
        return subprocess.run([*self.tmux, *words], check=True, capture_output=True, text=True).stdout

    def next_number(self):
        self.number += 1
        return self.number

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)

    def keys(self, *keys):
        self.run("send-keys", *keys)

    def type(self, text):
        self.run("send-keys", "-l", text)

    def text(self):
        return self.run("capture-pane", "-p")

    def flag(self, name):
        return self.run("display-message", "-p", "#{%s}" % name).strip()

    def size(self, width, height):
        self.run("resize-window", "-x", str(width), "-y", str(height))

    def wait(self, what, pattern, absent=None):
        end = time.monotonic() + WAIT
        while True:
            text = self.text()
            if re.search(pattern, text) and not (absent and re.search(absent, text)):
                return text
            if time.monotonic() > end:
                sys.exit("%s: no %r in\n%s" % (what, pattern, text))
            time.sleep(0.05)

    def wait_flag(self, what, name, value):
        end = time.monotonic() + WAIT
        while self.flag(name) != value:
            if time.monotonic() > end:
                sys.exit("%s: %s is %r, not %r" % (what, name, self.flag(name), value))
            time.sleep(0.05)


def expect(condition, what, text=""):
    if not condition:
        sys.exit("%s\n%s" % (what, text))


def expect_a_quiet_terminal(terminal, why):
    """What a program must leave behind, however it ended."""
    terminal.wait_flag(why, "alternate_on", "0")
    terminal.wait_flag(why, "cursor_flag", "1")
    terminal.wait_flag(why, "mouse_any_flag", "0")
    end = "end%d" % terminal.next_number()
    terminal.keys("C-u")
    terminal.type("stty -a | tr ' ;' '\\n\\n' | grep -x -e echo -e icanon | tr '\\n' +; echo %s" % end)
    terminal.keys("Enter")
    # Behind a prompt if the shell was not back yet when the line was typed.
    terminal.wait(why + ": keys are echoed again", r"(?m)^([#$] )?(icanon\+echo|echo\+icanon)\+%s$" % end)


def program_in(terminal, name):
    """The pid of the child of the shell."""
    shell = terminal.flag("pane_pid")
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        found = subprocess.run(["pgrep", "-P", shell, name], capture_output=True, text=True).stdout.split()
        if found:
            return int(found[0])
        time.sleep(0.05)
    sys.exit("%s does not run" % name)


def start_provider(program, folder, name):
    provider = subprocess.Popen([program, "host", "--dir", str(folder), "--name", name, "--no-processes", "-q"])
    end = time.monotonic() + WAIT
    while True:
        listed = subprocess.run([program, "list", "--dir", str(folder), "--provider", name, "-q"],
                                capture_output=True, text=True)
        if "processor" in listed.stdout:
            return provider
        expect(time.monotonic() < end, "the provider did not begin", listed.stdout + listed.stderr)
        time.sleep(0.05)


def look_around(terminal, label):
    terminal.wait("the overview", r"(?s)Providers.*%s.*Busiest sets" % re.escape(label))
    terminal.keys("Enter")
    terminal.wait("a provider", r"(?m)^overview.*%s" % re.escape(label))
    terminal.keys("Escape")
    terminal.type("/processor_info")
    terminal.wait("a filter", r"processor_information", absent="logical_disk")
    terminal.keys("Enter", "Tab", "Enter")
    text = terminal.wait("a set", r"(?m)^overview.*processor_information")
    expect("_Total" in text, "a set shows its total", text)
    terminal.keys("Enter")
    terminal.wait("an instance", r"processor_time")
    terminal.keys("Space")
    frozen = terminal.wait("a frozen picture", "FROZEN")
    time.sleep(1.5)
    expect(terminal.text() == frozen, "a frozen picture moved", frozen + "\n---\n" + terminal.text())
    terminal.keys("Space")
    terminal.wait("a moving picture", "live", absent="FROZEN")
    terminal.type("?")
    terminal.wait("the help", "overview")
    terminal.type("?")
    terminal.wait("no help", "processor_time")


def change_sizes(terminal):
    for width, height in ((40, 10), (300, 80), (20, 4), (120, 40)):
        terminal.size(width, height)
        if width >= 40:
            terminal.wait("a screen of %d x %d" % (width, height), "processor_information")
    for step in range(40):
        terminal.size(40 + 5 * (step % 7), 10 + step % 11)
    terminal.size(120, 40)
    terminal.wait("a screen after many sizes", r"(?m)^overview.*processor_information")


def keep(terminal, program, folder):
    terminal.type("B")
    bookmarks = folder / "config" / "meterbank" / "bookmarks"
    terminal.type("w")
    end = time.monotonic() + WAIT
    while not (bookmarks.exists() and list(folder.glob("meterbank-*.mbr"))):
        expect(time.monotonic() < end, "no bookmark or recording was kept", terminal.text())
        time.sleep(0.05)
    expect("set=processor_information" in bookmarks.read_text(), "a bookmark", bookmarks.read_text())
    recording = list(folder.glob("meterbank-*.mbr"))[0]
    time.sleep(0.2)
    checked = subprocess.run([program, "log", "check", str(recording)], capture_output=True, text=True)
    expect(checked.returncode == 0, "what was saved is a recording", checked.stdout + checked.stderr)


def end_in_each_way(terminal, command, folder):
    terminal.keys("C-z")
    terminal.wait_flag("Ctrl-Z", "alternate_on", "0")
    terminal.wait_flag("Ctrl-Z", "mouse_any_flag", "0")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.wait_flag("fg", "alternate_on", "1")
    terminal.wait("the screen after fg", r"(?m)^overview.*live")
    terminal.type("q")
    expect_a_quiet_terminal(terminal, "q")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        terminal.type(command)
        terminal.keys("Enter")
        terminal.wait("the overview again", "Providers")
        os.kill(program_in(terminal, "meterbank"), number)
        expect_a_quiet_terminal(terminal, number.name)


def see_a_provider_end(terminal, command, provider, label):
    terminal.type(command)
    terminal.keys("Enter")
    terminal.wait("the overview", r"%s +live" % re.escape(label))
    provider.send_signal(signal.SIGSTOP)
    terminal.wait("a stopped provider", r"%s +hung.*" % re.escape(label))
    provider.send_signal(signal.SIGCONT)
    terminal.wait("a provider that goes on", r"%s +live" % re.escape(label))
    provider.kill()
    provider.wait()
    terminal.wait("a killed provider", r"%s +dead" % re.escape(label))
    terminal.type("q")
    expect_a_quiet_terminal(terminal, "q")


def main():
    program = sys.argv[1]
    if shutil.which("tmux") is None or shutil.which("pgrep") is None:
        print("tmux or pgrep is not there")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        providers = folder / "providers"
        providers.mkdir(mode=0o700)
        provider = start_provider(program, providers, "shop")
        label = "shop@%d" % provider.pid
        terminal = Terminal(folder, 120, 40)
        try:
            command = "%s watch --dir %s -i 250ms --ring %s" % (program, providers, folder / "none")
            terminal.type(command)
            terminal.keys("Enter")
            look_around(terminal, label)
            change_sizes(terminal)
            keep(terminal, program, folder)
            end_in_each_way(terminal, command, folder)
            see_a_provider_end(terminal, command, provider, label)
        finally:
            terminal.close()
            if provider.poll() is None:
                provider.kill()
                provider.wait()
    print("keys, sizes, signals and ends of providers were seen in a terminal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
