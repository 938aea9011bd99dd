# SPDX-License-Identifier: Apache-2.0
"""Reading: catalogs, queries, samples, buffers."""

import math
import os
import struct
import time
import unittest

import meterbank as mb
import support
from support import ORDERS

try:
    import numpy
except ImportError:
    numpy = None


class Read(support.Case):
    def setUp(self):
        super().setUp()
        self.venues = self.provider().add(ORDERS)
        self.eu = self.venues.create("eu")
        self.us = self.venues.create("us")

    def query(self, *paths, **options):
        query = self.catalog().query(*paths, **options)
        self.addCleanup(query.close)
        return query

    def test_lists_providers_and_what_was_left_out(self):
        catalog = self.catalog()
        self.assertEqual(
            [(p.name, p.state, p.pid, p.uid, p.sets, p.why) for p in catalog.providers],
            [("orders", "live", os.getpid(), os.geteuid(), 1, "")])
        self.assertEqual(catalog.left_out, [])
        with open(os.path.join(self.directory, "junk.provider"), "w") as junk:
            junk.write("not a record")
        self.venues.create("asia")
        self.assertTrue(catalog.is_stale)
        version = catalog.version
        catalog.refresh()
        self.assertGreater(catalog.version, version)
        self.assertEqual([(left.count, left.uid, left.hides_providers)
                          for left in catalog.left_out], [(1, os.geteuid(), False)])
        self.assertIn("not records", catalog.left_out[0].reason)

    def test_looks_into_several_directories(self):
        other = os.path.join(self.directory, "other")
        os.mkdir(other)
        with mb.Provider("second", directory=other):
            with mb.Catalog(self.directory, other.encode()) as catalog:
                self.assertEqual(sorted(p.name for p in catalog.providers), ["orders", "second"])
        self.assertRaises(ValueError, mb.Catalog, "a:b")
        self.refused("NO_DIRECTORY", mb.Catalog, "/nonexistent/folder")

    def test_gives_rows_and_values_with_their_names(self):
        self.eu.add("accepted", 5)
        rows = list(self.query("venues/*/accepted").collect())
        self.assertEqual([(row.provider, row.set, row.set_symbol, row.set_label, row.instance,
                           row.status, row.consistency, row.pid, row.is_total, row.is_trusted)
                          for row in rows],
                         [("orders", "Order Venues", "venues", "venue", name, "fresh", "block",
                           os.getpid(), False, True) for name in ("eu", "us")])
        self.assertIn("'eu'", repr(rows[0]))
        value = rows[0]["accepted"]
        self.assertEqual(len(rows[0]), 1)
        self.assertIs(rows[0][0], value)
        self.assertIs(rows[0]["Accepted/sec"], value)
        self.assertRaises(KeyError, lambda: rows[0]["nothing"])
        self.assertRaises(IndexError, lambda: rows[0][1])
        self.assertEqual(
            (value.path, value.provider, value.set, value.instance, value.counter, value.symbol,
             value.unit, value.help, value.raw, value.cooked, value.status, value.type, value.form),
            ("venues/eu/accepted", "orders", "Order Venues", "eu", "Accepted/sec", "accepted",
             "{order}", "Orders accepted.", 5, None, "first_sample", "bulk_count", "unsigned"))
        self.assertIn(value.status, mb.VALUE_STATUSES)

    def test_compares_two_samples(self):
        query = self.query("venues/eu/*")
        before = query.collect()
        self.eu.add("accepted", 50)
        self.eu.record("latency", 0.5)
        after = query.collect()
        row = next(iter(after.since(before)))
        elapsed = (after.monotonic_ns - before.monotonic_ns) / 1e9
        self.assertAlmostEqual(row["accepted"].cooked, 50 / elapsed, delta=5 / elapsed)
        row, = after.since(before).rows(quantiles=[0, 0.5, 1])
        self.assertEqual(row["latency"].distribution.count, 1)
        self.assertEqual([round(q, 1) for q in row["latency"].quantiles], [0.5, 0.5, 0.5])
        self.assertIsNone(row["accepted"].quantiles)
        self.assertLess(abs(after.realtime_ns / 1e9 - time.time()), 600)

    def test_gives_all_values_as_buffers(self):
        query = self.query("venues/*/accepted", "venues/*/load")
        before = query.collect()
        self.eu.add("accepted", 7)
        self.us.set("load", 0.25)
        after = query.collect()
        difference = after.since(before)
        with memoryview(difference) as view:
            self.assertEqual((view.format, view.shape, view.ndim, view.readonly, view.c_contiguous),
                             ("d", (4,), 1, True, True))
        self.assertEqual(difference.paths, ("venues/eu/accepted", "venues/eu/load",
                                            "venues/us/accepted", "venues/us/load"))
        self.assertEqual(difference.units, ("{order}", "", "{order}", ""))
        self.assertEqual(list(difference.raw), [7, 0, 0, struct.unpack("Q", struct.pack("d", 0.25))[0]])
        self.assertEqual([mb.VALUE_STATUSES[status] for status in difference.statuses],
                         ["new", "unchanged", "unchanged", "new"])
        values = [value for row in difference for value in row]
        self.assertEqual([value.cooked for value in values], list(difference.cooked))
        self.assertEqual([value.path for value in values], list(difference.paths))
        self.assertTrue(math.isnan(after.cooked[0]))  # a rate needs two
        self.assertEqual(bytes(after.cooked[3:]), struct.pack("d", 0.25))

    def test_reads_names_once_a_plan(self):
        catalog = self.catalog()
        query = catalog.query("venues/*/accepted")
        first = query.collect()
        paths = first.paths
        self.assertIs(query.collect().paths, paths)
        self.assertIs(query.collect(first).paths, paths)
        asia = self.venues.create("asia")
        catalog.refresh()
        self.assertTrue(query.update())
        self.assertFalse(query.update())
        self.assertEqual(query.collect(first).paths, paths + ("venues/asia/accepted",))
        self.assertEqual(len(first), 3)
        del asia

    @unittest.skipUnless(numpy, "no numpy (package python3-numpy)")
    def test_gives_numpy_its_memory_without_copying(self):
        sample = self.query("venues/*/accepted").collect()
        first, second = numpy.asarray(sample), numpy.asarray(sample)
        self.assertEqual((first.dtype, first.shape), (numpy.float64, (2,)))
        self.assertEqual(first.__array_interface__["data"][0],
                         second.__array_interface__["data"][0])
        self.assertFalse(first.flags.owndata)
        self.assertFalse(first.flags.writeable)
        self.assertEqual(numpy.asarray(sample.raw).dtype, numpy.uint64)
        self.assertEqual(numpy.asarray(sample.statuses).dtype, numpy.uint8)

    def test_keeps_values_that_are_in_use(self):
        query = self.query("venues/*/accepted")
        sample = query.collect()
        for use in (lambda: memoryview(sample), lambda: sample.raw, lambda: sample.statuses):
            view = use()
            before = bytes(view)
            self.eu.add("accepted", 1)
            self.assertRaises(BufferError, query.collect, sample)
            self.assertRaises(BufferError, sample.close)
            self.assertEqual(bytes(view), before)
            view.release()
            query.collect(sample)
        with memoryview(sample) as view:
            with self.assertRaises(TypeError):
                view[0] = 1
        sample.close()
        self.refused("CLOSED", memoryview, sample)
        self.refused("CLOSED", query.collect, sample)

    def test_ends_what_is_about_a_sample_that_changed(self):
        query = self.query("venues/*/accepted")
        older, newer = query.collect(), query.collect()
        difference = newer.since(older)
        rows, rows_of_newer = iter(difference), iter(newer)
        next(rows)
        next(rows_of_newer)
        query.collect(newer)
        self.refused("CLOSED", next, rows)
        self.refused("CLOSED", next, rows_of_newer)
        self.refused("CLOSED", iter, difference)
        self.assertEqual(len(difference.cooked), 2)  # of the moment when it was made
        older.close()
        self.refused("CLOSED", newer.since, older)

    def test_says_what_a_path_does_not_match(self):
        query = self.query("venues/eu/acepted", "nothing")
        self.assertEqual([(u.path, u.part) for u in query.unmatched],
                         [("venues/eu/acepted", "counter"), ("nothing", "counterset")])
        self.assertEqual(query.unmatched[0].suggestion, "accepted")
        self.assertEqual(len(query.collect()), 0)
        self.assertEqual(list(memoryview(query.collect())), [])
        self.assertEqual(query.collect().paths, ())
        self.refused("BAD_PATH", self.query, "\\Venues(")
        excluding = self.query(excluded="venues/us/*")
        self.assertEqual({row.instance for row in excluding.collect()}, {"eu"})

    def test_shows_the_last_values_of_the_dead(self):
        query = self.query("venues/eu/accepted")
        self.eu.add("accepted", 3)
        sample = query.collect()
        self.assertEqual(sample.not_fresh, 0)
        self.eu.close()
        query.collect(sample)
        self.assertEqual(sample.not_fresh, 1)
        self.assertTrue(sample.is_stale)
        self.assertNotEqual([row.status for row in sample], ["fresh"])

    def test_makes_cuts(self):
        cuts = self.provider("cuts").add(name="Cuts", symbol="cuts", cuts=True,
                                         counters=[dict(name="A", symbol="a")])
        kept = [cuts.create(name) for name in "ab"]
        query = self.query("cuts/*/*")
        self.assertEqual(query.collect(cut="try").cut, "exact")
        self.assertIn(query.collect(cut="epoch").cut, ("cut", "exact"))
        self.assertEqual(query.collect().cut, "per_block")
        del kept


if __name__ == "__main__":
    support.main()
