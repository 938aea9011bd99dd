# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: a provider in a directory of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import meterbank as mb

ORDERS = mb.Counterset(
    "Order Venues", symbol="venues", label="venue", help="Where orders are executed.",
    counters=[
        mb.Counter("Accepted/sec", symbol="accepted", unit="{order}", help="Orders accepted.",
                   aggregate="sum"),
        mb.Counter("Bytes/sec", symbol="bytes", unit="By"),
        mb.Counter("Latency", symbol="latency", unit="s", form="distribution",
                   bucket_least=1e-6, bucket_most=10, bucket_scale=4),
        mb.Counter("State", symbol="state", form="text", text_bytes=16),
        mb.Counter("Depth", symbol="depth", form="signed", timed=True),
        mb.Counter("Load", symbol="load", form="real"),
        mb.Counter("Size", symbol="size", type="large_raw_count"),
    ])


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def provider(self, name="orders", **options):
        provider = mb.Provider(name, directory=self.directory, **options)
        self.addCleanup(provider.close)
        return provider

    def catalog(self):
        catalog = mb.Catalog(self.directory)
        self.addCleanup(catalog.close)
        return catalog

    def read(self, *paths, timeout=None):
        """{'venues/eu/accepted': Value} of a fresh look."""
        with self.catalog() as catalog, catalog.query(*paths) as query:
            sample = query.collect(timeout=timeout)
            return {value.path: value for row in sample for value in row}

    def raw(self, *paths):
        return {path: value.raw for path, value in self.read(*paths).items()}

    def refused(self, code, call, *arguments, **keywords):
        with self.assertRaises(mb.Error) as caught:
            call(*arguments, **keywords)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception


def run(script, *arguments, **environment):
    """A program in an interpreter of its own: its exit status, output and errors."""
    prelude = "import sys, os, time, threading, meterbank as mb\ndirectory = sys.argv[1]\n"
    done = subprocess.run(
        [sys.executable, "-c", prelude + textwrap.dedent(script), *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def wait_until(condition):
    """For what another thread or process is about to do."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.001)


def main():
    unittest.main(module="__main__")
