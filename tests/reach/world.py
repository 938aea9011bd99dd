# SPDX-License-Identifier: Apache-2.0
"""Processes as other users, with capabilities and in namespaces of their own."""

import ctypes
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
MS_NOSUID_NODEV_NOEXEC, MS_PRIVATE_REC = 0xE, 0x44000
PR_SET_PDEATHSIG = 1

IS_ROOT = os.geteuid() == 0
# Numbers that no machine gives out. Containers have 65,536 of their own, from FIRST_INSIDE.
OTHER, GROUP, FIRST_INSIDE, INSIDE = 64102, 64110, 200000, 65532
OWNER = 64101 if IS_ROOT else os.geteuid()


def may_look_at_all():
    """Root of some containers may not: CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE."""
    with open("/proc/self/status", encoding="ascii") as file:
        capabilities = int(re.search(r"^CapEff:\s*(\w+)", file.read(), re.MULTILINE).group(1), 16)
    return capabilities >> 2 & capabilities >> 19 & 1 == 1


class CannotBeMade(Exception):
    """This machine does not let us."""


@dataclass(frozen=True)
class Place:
    """Who a process is, and what it sees."""

    uid: int = OWNER  # inside
    groups: tuple = ()
    user_namespace: str = ""  # "its own": OWNER is `uid` there; "a range": from FIRST_INSIDE
    pid_namespace: bool = False  # with a procfs of its own
    hidepid: bool = False
    ambient: bool = False  # has a capability

    @property
    def needs_root(self):
        is_other = self.uid != OWNER and self.user_namespace != "its own"
        return is_other or self.groups or self.hidepid or self.ambient


def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)


def write_maps(pid, place):
    """From outside of the new user namespace."""
    inside, outside, count = (0, FIRST_INSIDE, 65536)
    if place.user_namespace == "its own":
        inside, outside, count = (place.uid, OWNER, 1)
    if not IS_ROOT:
        with open(f"/proc/{pid}/setgroups", "w") as file:
            file.write("deny")
    for which in ("uid_map", "gid_map"):
        with open(f"/proc/{pid}/{which}", "w") as file:
            file.write(f"{inside} {outside} {count}")


def enter_user_namespace(place, flags):
    unshared, go = os.pipe()
    me = os.getpid()
    mapper = os.fork()
    if mapper == 0:
        code = 1
        try:
            os.close(go)
            os.read(unshared, 1)
            write_maps(me, place)
            code = 0
        finally:
            os._exit(code)
    if place.user_namespace == "its own" and IS_ROOT:
        os.setgroups([])
        os.setresgid(OWNER, OWNER, OWNER)
        os.setresuid(OWNER, OWNER, OWNER)
    call("unshare", CLONE_NEWUSER | flags)
    os.close(go)
    if os.waitpid(mapper, 0)[1] != 0:
        raise OSError("uid_map")


def mount_procfs(options):
    call("mount", b"none", b"/", None, MS_PRIVATE_REC, None)
    call("mount", b"proc", b"/proc", b"proc", MS_NOSUID_NODEV_NOEXEC, options)


def prepare(place, says_pid):
    """In the child, before it runs its program."""
    own_mounts = place.pid_namespace or place.hidepid
    flags = (CLONE_NEWNS if own_mounts else 0) | (CLONE_NEWPID if place.pid_namespace else 0)
    if place.user_namespace:
        enter_user_namespace(place, flags)
    elif flags:
        call("unshare", flags)
    if place.pid_namespace:
        inner = os.fork()
        if inner != 0:  # stays outside, as that which the test knows
            if says_pid:
                os.write(1, f"{inner}\n".encode())
            os.closerange(0, 1024)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 0xFF)
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)
    elif says_pid:
        os.write(1, f"{os.getpid()}\n".encode())
    if own_mounts:
        mount_procfs(b"hidepid=2" if place.hidepid else None)
    # An own namespace was entered as its user, and setpriv changes the user itself.
    if IS_ROOT and place.user_namespace != "its own" and not place.ambient:
        os.setgroups(list(place.groups))
        os.setresgid(place.uid, place.uid, place.uid)
        os.setresuid(place.uid, place.uid, place.uid)
    if place.pid_namespace:
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)  # changing the user takes it back


def start(place, command, says_pid=False, **options):
    if place.needs_root and not IS_ROOT:
        raise CannotBeMade("needs root")
    if place.uid == 0 and not place.user_namespace and not may_look_at_all():
        raise CannotBeMade("needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH")
    if place.ambient:
        user = [f"--reuid={place.uid}", f"--regid={place.uid}", "--clear-groups"]
        command = ["setpriv", *user, "--inh-caps=+net_raw", "--ambient-caps=+net_raw", *command]
    try:
        return subprocess.Popen(command, cwd="/", env={"LC_ALL": "C.UTF-8", "TERM": "xterm",
                                                       "PATH": os.environ["PATH"]},
                                preexec_fn=lambda: prepare(place, says_pid), **options)
    except (subprocess.SubprocessError, OSError) as error:
        raise CannotBeMade(f"no such process may be made here: {error}") from error


class World:
    """A directory for records, and programs that every user may run."""

    def __init__(self, programs):
        self.path = tempfile.mkdtemp(prefix="reach-")
        os.chmod(self.path, 0o755)
        self.programs = {name: shutil.copy(path, f"{self.path}/{name}")
                         for name, path in programs.items()}
        self.processes = []
        self.pids = []  # of providers, as they are numbered here

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end_providers()
        shutil.rmtree(self.path)

    def end_providers(self):
        for pid in self.pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.processes:
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
            process.wait()
        self.processes, self.pids = [], []

    def new_directory(self, owner=None, mode=0o1777):
        path = tempfile.mkdtemp(dir=self.path)
        os.chmod(path, mode)
        if IS_ROOT and owner is not None:
            os.chown(path, owner, owner)
        return path

    def give_file_capability(self, name):
        """Makes a copy of the program that the kernel runs with a capability; returns its name."""
        path = shutil.copy(self.programs[name], f"{self.path}/{name}-capable")
        self.programs[name + "-capable"] = path
        try:
            # VFS_CAP_REVISION_2, effective: CAP_NET_RAW
            os.setxattr(path, "security.capability",
                        struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0))
        except OSError as error:
            raise CannotBeMade(f"file capabilities: {error.strerror}") from error
        return name + "-capable"

    def start_provider(self, place, command):
        process = start(place, command, says_pid=True, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.processes.append(process)
        self.pids.append(int(process.stdout.readline()))
        if process.stdout.readline() != b"publishes\n":
            raise RuntimeError(f"{command} does not publish: {process.stderr.read().decode()}")

    def stop_provider(self):
        os.kill(self.pids[-1], signal.SIGSTOP)

    @staticmethod
    def run(place, command):
        process = start(place, command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode()

    @staticmethod
    def run_on_terminal(place, command):
        """With what reached the terminal as its output."""
        ours, theirs = pty.openpty()
        process = start(place, command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        shown, end = b"", time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if select.select([ours], [], [], 1)[0]:
                    shown += os.read(ours, 65536)
            except OSError:  # nothing has it open any more
                break
        err = process.stderr.read()
        process.stderr.close()
        process.wait()
        os.close(ours)
        return process.returncode, shown.decode(errors="replace"), err.decode()
