# SPDX-License-Identifier: Apache-2.0
"""A client of pmcd that calls pmFetch of libpcp."""

import ctypes
import os
import sys
import time

CONTEXT_HOST = 1
LABEL_CHANGE, NAMES_CHANGE = 1 << 3, 1 << 4


class Result(ctypes.Structure):
    """pmResult of libpcp 3, up to its first set of values."""
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long),
                ("numpmid", ctypes.c_int), ("vset", ctypes.POINTER(ctypes.c_int) * 16)]


class Client:
    """libpcp without a wrapper: the calls that a program in C makes. `pcp`: a PrivatePcp."""

    def __init__(self, pcp):
        os.environ["PCP_CONF"] = pcp.environment["PCP_CONF"]
        host = "unix:" + os.path.join(pcp.folder, "pmcd.socket")
        self.library = ctypes.CDLL("libpcp.so.3")
        self.context = self.library.pmNewContext(CONTEXT_HOST, host.encode())
        if self.context < 0:
            sys.exit(f"no connection to {host}: status {self.context}")

    def identifiers(self, names):
        texts = (ctypes.c_char_p * len(names))(*[name.encode() for name in names])
        ids = (ctypes.c_uint * len(names))()
        found = self.library.pmLookupName(len(names), texts, ids)
        if found != len(names):
            sys.exit(f"{found} of {names}")
        return ids

    def fetch(self, ids):
        """Nanoseconds, how many values there were, and what changed since the last fetch."""
        result = ctypes.POINTER(Result)()
        started = time.perf_counter_ns()
        status = self.library.pmFetch(len(ids), ids, ctypes.byref(result))
        taken = time.perf_counter_ns() - started
        if status < 0:
            sys.exit(f"pmFetch: status {status}")
        values = sum(result.contents.vset[index][1] for index in range(result.contents.numpmid))
        self.library.pmFreeResult(result)
        return taken, values, status
