# SPDX-License-Identifier: Apache-2.0
"""Objects used after their end, wrong types, huge numbers, subclasses, any order of deletion."""

import gc
import itertools
import math
import unittest

import meterbank as mb
import support
from support import ORDERS


class Number:
    """Of another package."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Misuse(support.Case):
    def test_refuses_values_of_a_wrong_type(self):
        eu = self.provider().add(ORDERS).create("eu")
        update = eu.update()
        for counter, values in {
                "accepted": ["1", None, 1.5, b"1", [], object()],
                "depth": ["1", None, 1.5], "load": ["1", None], "latency": ["1", None],
                "state": [1, None, b"up", 1.5]}.items():
            change = {"latency": "record"}.get(counter, "set")
            for value in values:
                with self.subTest(counter=counter, value=value):
                    for target in (eu, update):
                        self.assertRaises(TypeError, getattr(target, change), counter, value)
                    self.assertRaises(TypeError, getattr(eu.counter(counter), change), value)
        for counter, change in (("accepted", "record"), ("latency", "add"), ("latency", "set"),
                                ("state", "add"), ("state", "record"), ("accepted", "raise_to"),
                                ("depth", "lower_to")):
            self.assertRaises(TypeError, getattr(eu, change), counter, 1)
            self.assertRaises(TypeError, getattr(eu.counter(counter), change), 1)
        for counter in ("latency", "state"):
            self.assertRaises(TypeError, eu.value, counter)
            self.assertRaises(TypeError, lambda: eu.counter(counter).value)
        for counter in (None, 1.0, b"accepted", ["accepted"]):
            self.assertRaises(TypeError, eu.add, counter, 1)
        for counter in (-1, 7, 2**70, "", "no", "\ud800"):
            self.refused("NOT_FOUND", eu.add, counter, 1)
            self.refused("NOT_FOUND", eu.counter, counter)
        for arguments in ((), ("accepted", 1, 2), ("accepted", 1, 2, 3)):
            self.assertRaises(TypeError, eu.add, *arguments)
            self.assertRaises(TypeError, update.add, *arguments)
        self.assertEqual(eu.value("accepted"), 0)

    def test_refuses_numbers_that_do_not_fit(self):
        eu = self.provider().add(ORDERS).create("eu")
        accepted = eu.counter("accepted")
        for value in (2**64, -2**63 - 1, 10**100, -10**100):
            self.assertRaises(OverflowError, accepted.add, value)
            self.assertRaises(OverflowError, eu.add, "accepted", value)
            self.assertRaises(OverflowError, eu.update().add, "accepted", value)
        self.assertRaises(OverflowError, accepted.set, -1)
        self.assertRaises(OverflowError, eu.set, "depth", 2**63)
        self.assertRaises(OverflowError, eu.set, "load", 10**400)
        accepted.add(Number(3))
        accepted.add(True)
        accepted.set(2**64 - 1)
        accepted.add(2)  # wraps, as in C
        self.assertEqual(accepted.value, 1)
        for value in (math.nan, math.inf, -math.inf, -1, 0, 1e300, 5e-324):
            eu.record("latency", value)
            eu.set("load", value)
        eu.set("state", "x" * 1000)
        eu.set("state", "")
        self.assertRaises(UnicodeEncodeError, eu.set, "state", "\ud800")
        self.assertRaises(OverflowError, self.provider("p", heartbeat_ms=0).add(
            ORDERS).create, "a", 2**32)

    def test_refuses_descriptions_that_are_not(self):
        add = self.provider().add
        counter = mb.Counter("A", symbol="a")
        for bad in (None, 5, "text", [], object(), {"name": "X"}, {}, {"nam": "X", "counters": []},
                    {"name": 5, "symbol": "x", "counters": [counter]},
                    {"name": "X", "symbol": "x", "counters": 5},
                    {"name": "X", "symbol": "x", "counters": [5]},
                    {"name": "X", "symbol": "x", "counters": [None]},
                    {"name": "X", "symbol": "x", "counters": [{"nam": "A"}]},
                    {"name": "X", "symbol": "x", "counters": [dict(name="A", symbol="a", id="1")]},
                    {"name": "X", "symbol": "x", "counters": [counter], "kind": 3},
                    {5: "X"}):
            self.assertRaises(TypeError, add, bad)
        for members in (dict(kind="nothing"), dict(instances="many"), dict(guid="0123"),
                        dict(guid="g" * 32), dict(guid=5),
                        dict(counters=[mb.Counter("A", "a", type="rate")]),
                        dict(counters=[mb.Counter("A", "a", base="b")]),
                        dict(counters=[counter] * 5000), dict(name="a\0b")):
            with self.subTest(members):
                self.assertRaises(ValueError, add, **{
                    "name": "X", "symbol": "x", "counters": [counter], **members})
        for members in (dict(shards=2**32), dict(counters=[mb.Counter("A", "a", id=2**32)]),
                        dict(counters=[mb.Counter("A", "a", scale=2**31)])):
            self.assertRaises(OverflowError, add, **{
                "name": "X", "symbol": "x", "counters": [counter], **members})
        self.assertRaises(UnicodeEncodeError, add, name="\ud800", symbol="x", counters=[counter])
        self.refused("INVALID_ARGUMENT", add, name="X", symbol="x", counters=[])
        self.refused("INVALID_ARGUMENT", add, name="X", symbol="x", counters=[counter, counter])
        self.assertRaises(TypeError, add, ORDERS, name="X")
        self.assertRaises(TypeError, add, ORDERS, ORDERS)
        self.assertRaises(TypeError, add)

    def test_survives_descriptions_that_raise(self):
        class Evil:
            def __getattr__(self, name):
                raise ZeroDivisionError

            def __index__(self):
                raise ZeroDivisionError

            def __iter__(self):
                raise ZeroDivisionError

            def __bool__(self):
                raise ZeroDivisionError

        add = self.provider().add
        self.assertRaises(ZeroDivisionError, add, Evil())
        for members in (dict(counters=Evil()), dict(counters=[Evil()]), dict(many=Evil()),
                        dict(counters=[mb.Counter("A", "a", id=Evil())])):
            self.assertRaises(ZeroDivisionError, add, **{"name": "X", "symbol": "x", **members})
        self.assertRaises(ZeroDivisionError, add, ORDERS, serial=Evil())

    def test_refuses_wrong_arguments_of_readers(self):
        self.provider().add(ORDERS)
        catalog = self.catalog()
        query = catalog.query()
        sample = query.collect()
        for call in (lambda: mb.Catalog(5), lambda: mb.Catalog(None),
                     lambda: mb.Catalog(self.directory, users=5),
                     lambda: mb.Catalog(self.directory, nothing=5), lambda: mb.Query(),
                     lambda: mb.Query(5), lambda: mb.Query(catalog, 5),
                     lambda: mb.Query(catalog, [5]), lambda: mb.Query(catalog, [None]),
                     lambda: catalog.query(5), lambda: catalog.query(excluded=5),
                     lambda: query.collect(5), lambda: query.collect(timeout="1"),
                     lambda: query.collect(cut=1), lambda: sample.since(None),
                     lambda: sample.since(sample), lambda: sample.rows(quantiles=5),
                     lambda: sample.rows(quantiles=["a"]), lambda: mb.Provider(),
                     lambda: mb.Provider(5), lambda: mb.Provider("p", directory=5)):
            self.assertRaises(TypeError, call)
        for call in (lambda: mb.Catalog(""), lambda: mb.Catalog("a\0b"),
                     lambda: mb.Catalog(self.directory, trust="all"),
                     lambda: catalog.query("a\0b"), lambda: query.collect(timeout=-1),
                     lambda: query.collect(timeout=math.nan), lambda: query.collect(cut="some"),
                     lambda: sample.rows(quantiles=[1.1]), lambda: sample.rows(quantiles=[math.nan]),
                     lambda: mb.Provider("a\0b")):
            self.assertRaises(ValueError, call)
        self.assertRaises(UnicodeEncodeError, catalog.query, "\ud800")
        self.assertEqual(len(query.collect(timeout=math.inf)), 0)
        self.refused("BAD_NAME", mb.Provider, "", directory=self.directory)

    def test_refuses_what_is_closed(self):
        provider = self.provider()
        venues = provider.add(ORDERS)
        eu = venues.create("eu")
        bound, update = eu.counter("accepted"), eu.update()
        catalog = self.catalog()
        query = catalog.query("venues/*/*")
        sample, other = query.collect(), query.collect()
        difference = sample.since(other)
        names = difference.paths
        for thing in (sample, query, catalog, venues, provider):
            thing.close()
            thing.close()
            self.assertTrue(thing.is_closed)
        for call in (lambda: provider.add(ORDERS), lambda: provider.record,
                     lambda: venues.create("us"), lambda: venues.find("eu"),
                     lambda: venues.is_wanted, lambda: venues.wants("bytes"), catalog.refresh,
                     lambda: catalog.providers, lambda: catalog.left_out, lambda: catalog.version,
                     lambda: catalog.query(), query.update, query.collect,
                     lambda: query.unmatched, lambda: list(sample), lambda: sample.since(other),
                     lambda: other.since(sample), lambda: sample.answers, lambda: sample.paths,
                     lambda: sample.raw, lambda: list(difference)):
            self.refused("CLOSED", call)
        self.assertEqual(difference.paths, names)
        self.assertEqual(len(other.paths), 7)
        self.assertFalse(provider.is_disabled)
        for count in (lambda: eu.add("accepted"), lambda: bound.add(1), bound.increment,
                      lambda: eu.record("latency", 1), lambda: eu.set("state", "up"),
                      lambda: eu.set("depth", 1), lambda: update.add("accepted"), update.commit,
                      eu.close, lambda: eu.counter("depth").set(5), lambda: eu.value("accepted")):
            count()

    def test_refuses_what_was_never_opened(self):
        for kind in (mb.Provider, mb.Catalog, mb.Query):
            class Lazy(kind):
                def __init__(self):
                    pass
            lazy = Lazy()
            self.assertTrue(lazy.is_closed)
            for name in ("close", "refresh", "update", "collect", "query", "add"):
                if name == "add" and kind is mb.Provider:
                    self.refused("CLOSED", lazy.add, ORDERS)
                elif name == "close":
                    lazy.close()
                elif hasattr(kind, name):
                    self.refused("CLOSED", getattr(lazy, name))
            for name in ("record", "providers", "left_out", "version", "unmatched", "catalog"):
                if hasattr(kind, name):
                    self.refused("CLOSED", getattr, lazy, name)
        catalog = self.catalog()
        self.assertRaises(RuntimeError, catalog.__init__)
        self.assertRaises(RuntimeError, self.provider().__init__, "twice")
        query = catalog.query()
        self.assertRaises(RuntimeError, query.__init__, catalog)

    def test_makes_no_objects_out_of_nothing(self):
        for kind in (mb.Registration, mb.Instance, mb.BoundCounter, mb.Update, mb.Request,
                     mb.Sample, mb.Difference, mb.Row):
            self.assertRaises(TypeError, kind)
            self.assertRaises(TypeError, kind.__new__, kind)
            self.assertRaises(TypeError, object.__new__, kind)
            self.assertRaises(TypeError, type, "Sub", (kind,), {})

    def test_serves_subclasses(self):
        class MyProvider(mb.Provider):
            def __init__(self, name, extra, **options):
                super().__init__(name, **options)
                self.extra = extra
                self.myself = self

        class MyCatalog(mb.Catalog):
            pass

        provider = MyProvider("orders", 5, directory=self.directory)
        kept = provider.add(ORDERS).create("eu")
        catalog = MyCatalog(self.directory)
        catalog.query_of_it = catalog.query("venues/*/*")
        self.assertEqual(len(catalog.query_of_it.collect()), 1)
        del provider, kept, catalog
        gc.collect()
        with self.catalog() as catalog:
            self.assertEqual(catalog.providers, [])

    def test_ends_in_any_order(self):
        for order in itertools.islice(itertools.permutations(range(9)), 0, None, 20011):
            provider = mb.Provider("orders", directory=self.directory)
            venues = provider.add(ORDERS)
            eu = venues.create("eu")
            catalog = mb.Catalog(self.directory)
            query = catalog.query("venues/*/*")
            older, newer = query.collect(), query.collect()
            rows = iter(newer.since(older))
            things = [provider, venues, eu, eu.counter("accepted"), catalog, query, older, newer,
                      rows]
            del provider, venues, eu, catalog, query, older, newer, rows
            for index in order:
                thing = things[index]
                if index % 2 and hasattr(thing, "close"):
                    thing.close()
                del thing
                things[index] = None
            gc.collect()

    def test_survives_changes_of_itself_while_it_reads_them(self):
        eu = self.provider().add(ORDERS).create("eu")
        update = eu.update()

        class Sneaky:
            def __index__(self):
                update.add("accepted", 1)
                if len(calls) < 100:
                    calls.append(1)
                    update.add("accepted", Sneaky())
                return 1
        calls = []
        update.add("accepted", Sneaky())
        update.commit()
        self.assertEqual(eu.value("accepted"), 202)

        class Closing:
            def __index__(self):
                eu.close()
                return 1
        eu.add("accepted", Closing())


if __name__ == "__main__":
    support.main()
