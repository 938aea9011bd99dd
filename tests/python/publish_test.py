# SPDX-License-Identifier: Apache-2.0
"""Publishing, as a reader sees it."""

import os
import pathlib
import stat
import unittest
import uuid

import meterbank as mb
import support
from support import ORDERS


class Publish(support.Case):
    def test_shows_each_form_of_counter(self):
        eu = self.provider().add(ORDERS).create("eu")
        eu.add("accepted")
        eu.add("Accepted/sec", 4)
        eu.add(1, 512)
        eu.record("latency", 0.25)
        eu.record("latency", 4)
        eu.set("state", "draining")
        eu.set("depth", -7)
        eu.add("depth", 2)
        eu.set("load", 0.5)
        eu.add("load", 1)
        eu.set("size", 2**64 - 1)
        eu.add("size", -1)
        self.assertEqual(eu.value("accepted"), 5)
        self.assertEqual(eu.value("depth"), -5)
        self.assertEqual(eu.value("load"), 1.5)
        seen = self.read("venues/eu/*")
        self.assertEqual({path.split("/")[2]: value.raw for path, value in seen.items()},
                         {"accepted": 5, "bytes": 512, "latency": 2, "state": 8, "depth": -5,
                          "load": 1.5, "size": 2**64 - 2})
        self.assertEqual(seen["venues/eu/state"].text, "draining")
        self.assertGreater(seen["venues/eu/depth"].set_ns, 0)
        distribution = seen["venues/eu/latency"].distribution
        self.assertEqual((distribution.count, distribution.sum, distribution.least,
                          distribution.most), (2, 4.25, 0.25, 4))
        self.assertEqual(sum(distribution.buckets), 2)

    def test_counts_by_bound_counters(self):
        eu = self.provider().add(ORDERS).create("eu")
        accepted = eu.counter("accepted")
        accepted.add(41)
        accepted.increment()
        eu.counter("latency").record(1)
        eu.counter("state").set("up")
        eu.counter("depth").set(-3)
        eu.counter("depth").increment()
        eu.counter("load").add(2.5)
        self.assertEqual(accepted.value, 42)
        self.assertIs(accepted.instance, eu)
        seen = self.read("venues/eu/*")
        self.assertEqual([seen["venues/eu/" + name].raw for name in
                          ("accepted", "latency", "depth", "load")], [42, 1, -2, 2.5])
        self.assertEqual(seen["venues/eu/state"].text, "up")

    def test_commits_an_update_at_its_end(self):
        eu = self.provider().add(ORDERS).create("eu")
        with eu.update() as update:
            update.add("accepted", 2)
            update.add("accepted")
            update.add("bytes", 100)
            update.record("latency", 0.5)
            update.set("state", "busy")
            update.set("depth", 8)
            update.add("depth", -10)
            update.set("load", 1)
            update.add("load", 0.25)
            self.assertEqual(self.raw("venues/eu/accepted"), {"venues/eu/accepted": 0})
        seen = self.read("venues/eu/*")
        self.assertEqual([seen["venues/eu/" + name].raw for name in
                          ("accepted", "bytes", "latency", "depth", "load")],
                         [3, 100, 1, -2, 1.25])
        self.assertEqual(seen["venues/eu/state"].text, "busy")

    def test_aborts_an_update_on_an_exception(self):
        eu = self.provider().add(ORDERS).create("eu")
        update = eu.update()
        with self.assertRaises(KeyError):
            with update:
                update.add("accepted", 2)
                raise KeyError
        update.abort()
        update.commit()
        self.assertEqual(eu.value("accepted"), 0)
        with update:  # it can be used again
            update.add("accepted", 1)
        self.assertEqual(eu.value("accepted"), 1)

    def test_publishes_sets_of_each_kind(self):
        provider = self.provider()
        for kind in ("block", "independent", "sharded", "sharded_independent"):
            with self.subTest(kind):
                instance = provider.add(
                    name="Set " + kind, symbol=kind, kind=kind,
                    counters=[dict(name="A", symbol="a"), {"name": "B", "symbol": "b"}]).create("i")
                instance.add("a", 3)
                instance.counter("b").add(4)
                with instance.update() as update:
                    for _ in range(20):
                        update.add("a", 1)
                    update.add("b", 1)
                self.assertEqual(self.raw(kind + "/*/*"),
                                 {kind + "/i/a": 23, kind + "/i/b": 5})

    def test_records_and_raises_in_sharded_sets(self):
        instance = self.provider().add(
            name="Shards", symbol="shards", kind="sharded", counters=[
                mb.Counter("Time", symbol="time", form="distribution", bucket_least=1e-3,
                           bucket_most=10),
                mb.Counter("Peak", symbol="peak", type="large_raw_count", aggregate="maximum"),
                mb.Counter("Low", symbol="low", type="large_raw_count", aggregate="minimum")],
        ).create("i")
        instance.record("time", 1)
        instance.raise_to("peak", 5)
        instance.raise_to("peak", 3)
        instance.lower_to("low", 9)
        instance.counter("low").lower_to(4)
        with instance.update() as update:
            update.record("time", 2)
            update.raise_to("peak", 6)
            update.lower_to("low", 5)
        self.assertEqual(self.raw("shards/i/*"),
                         {"shards/i/time": 2, "shards/i/peak": 6, "shards/i/low": 4})

    def test_stamps_sets_that_are_stamped(self):
        instance = self.provider().add(
            name="Stamped", symbol="stamped", stamped=True,
            counters=[dict(name="A", symbol="a")]).create("i")
        with instance.update() as update:
            update.add("a", 1)
            update.stamp(12345)
        with self.catalog() as catalog, catalog.query("stamped/*/*") as query:
            self.assertEqual([row.time_ns for row in query.collect()], [12345])
        plain = self.provider("plain").add(ORDERS).create("eu")
        with self.assertRaises(TypeError):
            plain.update().stamp(1)

    def test_links_counters_by_symbol(self):
        instance = self.provider().add(
            name="Ratios", symbol="ratios", counters=[
                mb.Counter("Share", symbol="share", type="large_raw_fraction", base="whole"),
                mb.Counter("Whole", symbol="whole", type="large_raw_base")]).create("i")
        instance.set("share", 1)
        instance.set("whole", 4)
        self.assertEqual(self.read("ratios/i/share")["ratios/i/share"].cooked, 25)

    def test_declares_guid_instances_and_ids(self):
        provider = self.provider()
        guid = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")
        one = provider.add(name="One", symbol="one", guid=guid, instances="single",
                           counters=[mb.Counter("A", symbol="a", id=7)]).create()
        one.add("a", 1)
        self.refused("EXISTS", provider.add, name="Other", symbol="other", guid="{" + str(guid).upper() + "}",
                     counters=[mb.Counter("A", "a")])
        self.assertEqual(self.read("one/*")["one/a"].id, 7)
        venues = provider.add(ORDERS)
        self.assertEqual(venues.create("eu", id=77).id, 77)
        self.assertEqual(venues.name, "Order Venues")

    def test_lets_names_and_ids_repeat_where_the_set_says_so(self):
        waves = self.provider().add({"name": "Waves", "symbol": "waves", "name_and_id": True,
                                     "counters": [{"name": "Height", "symbol": "height",
                                                   "type": "large_raw_count"}]})
        kept = []
        for name, number in (("wave", 1), ("wave", 2), ("other", 1)):
            kept.append(waves.create(name, id=number))
            kept[-1].set("height", 10 * len(kept))
        with self.assertRaises(mb.Error) as raised:
            waves.create("WAVE", id=2)
        self.assertEqual(raised.exception.code, "EXISTS")
        self.assertEqual({path: value.raw for path, value in self.read("waves").items()},
                         {"waves/wave#1/height": 10, "waves/wave#2/height": 20,
                          "waves/other/height": 30})

    def test_writes_to_instances_that_it_finds(self):
        venues = self.provider().add(ORDERS)
        eu = venues.create("eu")
        found = venues.find("eu")
        found.add("accepted", 2)
        found.close()
        del found
        self.assertEqual(eu.value("accepted"), 2)
        self.assertEqual(self.raw("venues/eu/accepted"), {"venues/eu/accepted": 2})
        self.assertIn("us", self.refused("NOT_FOUND", venues.find, "us").what)

    def test_closes_what_is_not_referenced(self):
        venues = self.provider().add(ORDERS)
        venues.create("eu").add("accepted", 1)
        us = venues.create("us")
        self.assertEqual(list(self.raw("venues/*/accepted")), ["venues/us/accepted"])
        us.close()
        us.add("accepted", 1)  # harmless
        self.assertTrue(us.is_closed)
        self.assertEqual(self.raw("venues/*/accepted"), {})

    def test_keeps_the_provider_of_an_instance(self):
        eu = mb.Provider("orders", directory=self.directory).add(ORDERS).create("eu")
        eu.add("accepted", 3)
        self.assertEqual(self.raw("venues/eu/accepted"), {"venues/eu/accepted": 3})
        del eu
        self.assertEqual(os.listdir(self.directory), [])

    def test_removes_its_record_at_close(self):
        with self.provider() as provider:
            record = provider.record
            self.assertTrue(os.path.exists(record))
            with provider.add(ORDERS) as venues, venues.create("eu") as eu:
                eu.add("accepted")
            self.assertTrue(venues.is_closed)
            provider.add(ORDERS)  # the same again
        self.assertTrue(provider.is_closed)
        self.assertFalse(os.path.exists(record))

    def test_says_who_may_read(self):
        self.provider(readers="everyone")
        error = self.refused("INVALID_ARGUMENT", self.provider, readers="every one")
        self.assertIn("every one", error.what)

    def test_takes_options_and_paths(self):
        with mb.Provider("p", directory=pathlib.Path(self.directory), heartbeat_ms=0,
                         instances_max=2, bytes_max=1 << 20, quarantine_ms=0) as provider:
            venues = provider.add(ORDERS)
            kept = [venues.create("a"), venues.create("b")]
            error = self.refused("LIMIT", venues.create, "c")
            self.assertIn("instances_max", error.what + error.try_)
            self.assertEqual(len(kept), 2)
            self.assertTrue(stat.S_ISREG(os.stat(provider.record).st_mode))

    def test_leaves_its_record_behind_if_asked(self):
        for keeps in (False, True):
            with mb.Provider("p", directory=self.directory, keep_record=keeps) as provider:
                record = provider.record
            self.assertEqual(os.path.exists(record), keeps)

    def test_names_what_failed_and_what_to_try(self):
        error = self.refused("NO_DIRECTORY", mb.Provider, "p", directory="/nonexistent/folder")
        self.assertIn("/nonexistent/folder", error.what)
        self.assertNotEqual(error.try_, "")
        self.assertIn(error.what, str(error))
        self.assertEqual(error.system_error, 2)
        venues = self.provider().add(ORDERS)
        eu = venues.create("eu")
        self.refused("EXISTS", venues.create, "EU")
        error = self.refused("NOT_FOUND", eu.add, "acepted", 1)
        self.assertIn("accepted", error.try_)

    def test_counts_into_nothing_where_it_cannot_start(self):
        code, out, err = support.run("""
            provider = mb.Provider("p", directory="/nonexistent/folder", required=False)
            print(provider.is_disabled, repr(provider.record))
            for kind in ("block", "sharded"):
                venues = provider.add(name=kind, symbol=kind, kind=kind,
                                      counters=[dict(name="A", symbol="a")])
                with venues, venues.create("i") as instance:
                    instance.add("a", 1)
                    instance.counter("a").add(1)
                    with instance.update() as update:
                        update.add("a")
                    print(instance.id)
            stamped = provider.add(name="S", symbol="s", stamped=True, counters=[dict(name="A", symbol="a")])
            with stamped.create("i").update() as update:
                update.add("a")
                update.stamp(1)
            provider.add(name="C", symbol="c", counters=[dict(name="A", symbol="a")], callback=print).close()
            provider.close()
            """, self.directory)
        self.assertEqual((code, out), (0, "True ''\nNone\nNone\n"), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("/nonexistent/folder", err)


if __name__ == "__main__":
    support.main()
