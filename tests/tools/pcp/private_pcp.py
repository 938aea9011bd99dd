# SPDX-License-Identifier: Apache-2.0
"""A pmcd of the test's own, with pmdameterbank as its agent: no service, no privilege, no file outside of a
temporary folder.

The programs of PCP are those of METERBANK_PCP_ROOT, where Debian's package `pcp` was unpacked, else
those that are installed.
"""

import os
import re
import subprocess
import time

# Debian's own Python has PCP's modules.
DEBIAN_PYTHON = "/usr/bin/python3"
DOMAIN = 478


def pcp_root():
    """Where the programs of PCP are; None: nowhere."""
    for root in (os.environ.get("METERBANK_PCP_ROOT", ""), "/"):
        if root and os.access(os.path.join(root, "usr/lib/pcp/bin/pmcd"), os.X_OK):
            return root
    return None


def has_pcp():
    known = subprocess.run([DEBIAN_PYTHON, "-c", "from pcp import pmapi"], capture_output=True,
                           check=False)
    return pcp_root() is not None and os.path.exists("/etc/pcp.conf") and known.returncode == 0


class PrivatePcp:
    """Running pmcd once it is entered. `options` are those of pmdameterbank."""

    def __init__(self, folder, port, pmda, options=()):
        self.folder, self.port = folder, port
        # A bare system has no name for 127.0.0.1, and pmcd wants certificates from addresses.
        self.host = f"unix:{os.path.join(folder, 'pmcd.socket')}"
        root = pcp_root()
        self.programs = {
            name: os.path.join(root, folder_of, name)
            for folder_of, names in (("usr/bin", ("pminfo", "pmval", "pmrep", "pmprobe", "pmdumplog",
                                                  "dbpmda")),
                                     ("usr/lib/pcp/bin", ("pmcd", "pmlogger", "pmlogger_check")))
            for name in names}
        if not os.path.exists(self.programs["pmlogger"]):
            self.programs["pmlogger"] = os.path.join(root, "usr/bin/pmlogger")
        # The scripts look below PCP_DIR for etc/pcp.env, which is of the package `pcp`, too.
        self.environment = dict(os.environ, PCP_CONF=self.write_config(root),
                                PCP_DIR=root.rstrip("/"), PCP_DERIVED_CONFIG="",
                                PMCD_PORT=str(port), LC_ALL="C.UTF-8")
        self.pmda = [pmda, "-d", str(DOMAIN), "-l", os.path.join(folder, "log/meterbank.log"),
                     *options]
        self.write("pmns", f"root {{\n\tpmcd\n\tmeterbank\t{DOMAIN}:*:*\n}}\n"
                           "pmcd {\n\tnumclients\t2:0:3\n}\n")
        library = os.path.join(root, "usr/lib/pcp/pmdas/pmcd/pmda_pmcd.so")
        self.write("pmcd.conf", f"pmcd\t2\tdso\tpmcd_init\t{library}\n"
                                f"meterbank\t{DOMAIN}\tpipe\tbinary\t{' '.join(self.pmda)}\n")
        self.process = None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def write_config(self, root):
        """pcp.conf with the programs below `root` and everything else in the folder."""
        with open("/etc/pcp.conf", encoding="utf-8") as file:
            text = file.read()
        for name in ("VAR_DIR", "RUN_DIR", "LOG_DIR", "TMP_DIR", "TMPFILE_DIR", "ARCHIVE_DIR"):
            path = os.path.join(self.folder, name.split("_", maxsplit=1)[0].lower())
            os.makedirs(path, exist_ok=True)
            text = re.sub(f"^PCP_{name}=.*$", f"PCP_{name}={path}", text, flags=re.M)
        for name in ("BIN_DIR", "BINADM_DIR", "SHARE_DIR", "LIBADM_DIR"):
            text = re.sub(f"^PCP_{name}=/(.*)$", f"PCP_{name}={os.path.join(root, '')}\\1", text,
                          flags=re.M)
        return self.write("pcp.conf", text)

    def __enter__(self):
        with open(os.path.join(self.folder, "pmcd.out"), "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(
                [self.programs["pmcd"], "-f", "-A", "-Q", "-i", "127.0.0.1", "-p", str(self.port),
                 "-c", os.path.join(self.folder, "pmcd.conf"),
                 "-l", os.path.join(self.folder, "log/pmcd.log"),
                 "-s", os.path.join(self.folder, "pmcd.socket"),
                 "-n", os.path.join(self.folder, "pmns"), "-U", str(self.user())],
                env=self.environment, stdout=out, stderr=subprocess.STDOUT)
        return self

    @staticmethod
    def user():
        import pwd
        return pwd.getpwuid(os.geteuid()).pw_name

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def run(self, program, *arguments, stdin=None, check=True, live=True):
        """What the program prints; of this pmcd, unless it is not `live`."""
        path = self.programs[program]
        with open(path, "rb") as file:
            first = file.readline(80)
        is_python = first.startswith(b"#!") and b"python" in first
        live = live and program not in ("pmdumplog", "pmlogger_check", "dbpmda")
        host = ["-h", self.host] if live else []
        result = subprocess.run(([DEBIAN_PYTHON] if is_python else []) + [path, *host, *arguments],
                                env=self.environment, input=stdin, text=True, capture_output=True,
                                errors="surrogateescape", check=False, timeout=60)
        if check and result.returncode != 0:
            raise AssertionError(f"{program} {' '.join(arguments)}: status {result.returncode}\n"
                                 f"{result.stdout}{result.stderr}")
        return result.stdout

    def is_ready(self):
        return "\nmeterbank." in "\n" + self.run("pminfo", "meterbank", check=False)

    def logs(self):
        texts = []
        for name in ("pmcd.out", "log/pmcd.log", "log/meterbank.log"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts.append(f"--- {name}\n{file.read()}")
        return "\n".join(texts)
