# SPDX-License-Identifier: Apache-2.0
"""Nothing is kept: memory of Python and of the library, references, descriptors.

All memory comes from malloc() here (PYTHONMALLOC), which says how much is in use.
"""

import ctypes
import gc
import os
import sys
import unittest

import meterbank as mb
import support
from support import ORDERS


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                 "fordblks", "keepcost")]


ROUNDS = 40
WINDOWS = 50
KEPT = 16  # bytes a round; an object of Python is larger


# Made once: ctypes itself keeps some memory of each function it makes.
mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Mallinfo2


def bytes_in_use():
    gc.collect()
    info = mallinfo2()
    return info.uordblks + info.hblkhd


class Leaks(support.Case):
    def growth(self, act):
        """Bytes a round, after caches are warm."""
        def descriptors():
            return len(os.listdir("/proc/self/fd"))
        for _ in range(ROUNDS):
            act()
        best = None
        open_before = descriptors()
        # The least: other threads allocate, too, and malloc() keeps what it was given back for threads
        # to come. A leak grows in every window.
        for _ in range(WINDOWS):
            before = bytes_in_use()
            for _ in range(ROUNDS):
                act()
            grown = (bytes_in_use() - before) / ROUNDS
            best = grown if best is None else min(best, grown)
            if best < KEPT:
                break
        self.assertEqual(descriptors(), open_before)
        return best

    def setUp(self):
        super().setUp()
        self.assertEqual(os.environ.get("PYTHONMALLOC"), "malloc")

    def keeps_nothing(self, act):
        self.assertLess(self.growth(act), KEPT)

    def test_of_counting(self):
        eu = self.provider().add(ORDERS).create("eu")
        bound = [eu.counter(i) for i in range(7)]

        def act():
            for counter in (0, 1, 4, 5, 6):
                eu.add(counter, 1)
                eu.set(counter, 5)
                bound[counter].add(1)
                bound[counter].set(2**40)
                eu.value(counter)
            eu.record("latency", 1)
            eu.set("state", "some text")
            bound[3].set("text")
            with eu.update() as update:
                for _ in range(20):
                    update.set("state", "x" * 15)
                    update.add("load", 0.5)
            update.set("state", "dropped")
            for bad in (("no", 1), ("accepted", "x"), ("state", 5), ("accepted", 2**64)):
                try:
                    eu.set(*bad)
                except (mb.Error, TypeError, OverflowError):
                    pass
        self.keeps_nothing(act)

    def test_of_set_up(self):
        provider = self.provider(quarantine_ms=0)

        def act():
            venues = provider.add(ORDERS)
            eu = venues.create("eu")
            eu.counter("latency"), eu.update(), venues.find("eu")
            venues.close()
            for bad in ({"name": "X", "symbol": "x", "counters": [mb.Counter("A", "a", base="b")]},
                        {"name": "X", "symbol": "x", "counters": [mb.Counter("A", "a"), 5]},
                        {"name": "X", "symbol": "x", "counters": []}):
                try:
                    provider.add(bad)
                except (mb.Error, TypeError, ValueError):
                    pass
        self.keeps_nothing(act)

    def test_of_providers(self):
        def act():
            with mb.Provider("p", directory=self.directory) as provider:
                provider.add(ORDERS)
                provider.add(ORDERS.__class__("C", "c", [mb.Counter("A", "a")]),
                             callback=lambda request: None)
        self.keeps_nothing(act)

    def test_of_recordings(self):
        path = os.path.join(os.path.dirname(__file__), "..", "recording", "golden", "v1.mbr")

        def act():
            with mb.Recording(path) as recording, recording.query() as query:
                for _ in range(3):
                    next(recording)
                    query.update()
                    query.collect()
                recording.seek(recording.last_ns)
                recording.flaws, recording.marks, recording.host, recording.providers
                for bad in ("x", -1, 1):
                    try:
                        recording.seek(bad)
                    except (TypeError, OverflowError):
                        pass
            for bad in ("/nowhere/x.mbr", 5, __file__):
                try:
                    mb.Recording(bad)
                except (mb.Error, TypeError):
                    pass
        self.keeps_nothing(act)

    def test_of_reading(self):
        venues = self.provider().add(ORDERS)
        kept = [venues.create(str(i)) for i in range(3)]
        catalog = self.catalog()

        def act():
            catalog.refresh()
            catalog.providers, catalog.left_out, catalog.version
            with catalog.query("venues/*/*", "nothing", excluded=["a/b"]) as query:
                query.unmatched
                older, newer = query.collect(), query.collect(timeout=1)
                query.collect(older)
                older, newer = newer, older
                difference = newer.since(older)
                for row in difference.rows(quantiles=[0.5, 0.9]):
                    row["accepted"], list(row), repr(row)
                difference.paths, difference.units, newer.answers
                memoryview(newer).tolist(), bytes(newer.raw), bytes(difference.statuses)
                next(iter(newer))
                query.update()
            for bad in (lambda: query.collect(), lambda: mb.Catalog("/nonexistent/folder"),
                        lambda: catalog.query("\\a("), lambda: newer.since(5),
                        lambda: newer.rows(quantiles=[2])):
                try:
                    bad()
                except (mb.Error, TypeError, ValueError):
                    pass
            with mb.Catalog(self.directory) as other:
                other.query().collect()
        self.keeps_nothing(act)
        del kept

    def test_of_callbacks(self):
        def answer(request):
            request.add("a", [1])
            request.add("b", {"A": 1})
            request.wants("a"), request.instance_mask
            try:
                request.add("c", [1, 2])
            except ValueError:
                pass

        provider = self.provider()
        pools = dict(name="Pools", symbol="pools",
                     counters=[mb.Counter("A", "a", type="large_raw_count")])
        called = provider.add(pools, callback=answer)
        catalog = self.catalog()
        query = catalog.query("pools/*/*")
        sample = query.collect(timeout=30)
        self.keeps_nothing(lambda: query.collect(sample, timeout=30))
        self.assertEqual(list(sample.raw), [1, 1])
        counts = sys.getrefcount(answer)
        called.close()
        self.assertEqual(sys.getrefcount(answer), counts - 1)

    def test_are_found(self):  # the negative control
        kept = []
        eu = self.provider().add(ORDERS).create("eu")
        self.assertGreater(self.growth(lambda: kept.append(eu.counter("accepted"))), KEPT)


if __name__ == "__main__":
    support.main()
