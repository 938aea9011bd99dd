# SPDX-License-Identifier: Apache-2.0
"""Children of fork(), and interpreters that end with live objects and callbacks."""

import os
import unittest

import meterbank as mb
import support
from support import ORDERS

PROVIDER = """
pools = dict(name="Pools", symbol="pools", counters=[
    dict(name="A", symbol="a", type="large_raw_count")])
provider = mb.Provider("ending", directory=directory)
"""


def in_child(function):
    """What it raises in a child, as text; empty: nothing."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        text = "crashed"
        try:
            function()
            text = ""
        except BaseException as error:
            text = repr(error)
        finally:
            os.write(writer, text.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    _, status = os.waitpid(pid, 0)
    return text if status == 0 else "status %d %s" % (status, text)


class Fork(support.Case):
    def test_children_count_into_nothing_and_are_refused(self):
        provider = self.provider()
        venues = provider.add(ORDERS)
        called = provider.add(name="Called", symbol="called", callback=lambda r: None,
                              counters=[mb.Counter("A", "a")])
        eu = venues.create("eu")
        accepted, latency, update = eu.counter("accepted"), eu.counter("latency"), eu.update()
        update.add("accepted", 1)
        catalog = self.catalog()
        query = catalog.query("venues/*/*")
        sample = query.collect()

        def child():
            accepted.add(5)
            latency.record(1)
            eu.add("accepted", 5)
            eu.record("latency", 1)
            eu.set("state", "up")
            update.commit()
            for call in (lambda: provider.add(ORDERS), lambda: venues.create("us"),
                         lambda: venues.find("eu"), catalog.refresh, query.collect, query.update,
                         lambda: catalog.providers, lambda: list(sample), lambda: sample.raw):
                try:
                    call()
                except mb.Error as error:
                    assert error.code == "FORKED", error
                else:
                    assert False, "not refused"
            for thing in (called, eu, venues, provider, sample, query, catalog):
                thing.close()
            with mb.Provider("child", directory=self.directory) as mine:
                own = mine.add(ORDERS).create("eu")
                own.add("accepted", 3)
                with mb.Catalog(self.directory) as look:
                    raw = [v.raw for row in look.query("\\\\child@*\\Order Venues(*)\\Accepted/sec")
                           .collect() for v in row] or list(look.query("venues/*/accepted")
                                                            .collect().raw)
                    assert 3 in raw, raw
        self.assertEqual(in_child(child), "")
        accepted.add(1)
        self.assertEqual(self.raw("venues/eu/accepted"), {"venues/eu/accepted": 1})

    def test_children_have_the_turns_of_threads_that_are_not_there(self):
        import threading
        inside, go_on = threading.Event(), threading.Event()

        def answer(request):
            inside.set()
            go_on.wait(60)
        called = self.provider().add(name="Called", symbol="called", callback=answer,
                                     counters=[mb.Counter("A", "a")])
        catalog = self.catalog()
        query = catalog.query("called/*/*")
        asking = threading.Thread(target=lambda: query.collect(timeout=60))
        asking.start()
        self.assertTrue(inside.wait(60))

        def child():  # the parent's thread has the turn of the query for ever
            try:
                query.update()
            except mb.Error as error:
                assert error.code == "FORKED", error
            from meterbank import _meterbank
            _meterbank._end()  # waits for callbacks, which no thread runs here
        self.assertEqual(in_child(child), "")
        go_on.set()
        asking.join()
        called.close()


class End(support.Case):
    def ends_well(self, script, wanted_errors=""):
        code, out, err = support.run(PROVIDER + script, self.directory)
        self.assertEqual((code, err), (0, wanted_errors), out)
        self.assertEqual(os.listdir(self.directory), [])

    def test_closes_live_objects(self):
        self.ends_well("""
venues = provider.add(pools)
instance = venues.create("eu")
bound = instance.counter("a")
update = instance.update()
catalog = mb.Catalog(directory)
query = catalog.query("pools/*/*")
sample, older = query.collect(), query.collect()
rows, view = iter(sample.since(older)), memoryview(sample)
called = provider.add(name="Called", symbol="called", counters=pools["counters"],
                      callback=lambda request: request.add("a", [1]))
class Late:
    def __del__(self):
        bound.add(1)
        instance.add("a", 1)
        catalog.close()
late = Late()
sys.modules["kept"] = late
""")

    def test_waits_for_callbacks_that_run(self):
        for _ in range(3):
            self.ends_well("""
called = provider.add(pools, callback=lambda request: request.add("a", [1]))
began = threading.Event()
def ask():
    with mb.Catalog(directory) as catalog, catalog.query("pools/*/*") as query:
        while True:
            query.collect(timeout=5)
            began.set()
for _ in range(3):
    threading.Thread(target=ask, daemon=True).start()
began.wait(30)
""")

    def test_waits_for_a_callback_that_closed_its_set(self):
        self.ends_well("""
inside = threading.Event()
def answer(request):
    called.close()
    inside.set()
    time.sleep(0.05)
    request.add("a", [1])
called = provider.add(pools, callback=answer)
def ask():
    with mb.Catalog(directory) as catalog, catalog.query("pools/*/*") as query:
        query.collect(timeout=5)
threading.Thread(target=ask, daemon=True).start()
inside.wait(30)
""")

    def test_refuses_new_providers(self):
        self.ends_well("""
import atexit
class Late:
    def __del__(self):
        for call in (lambda: mb.Provider("late", directory=directory), lambda: provider.add(pools)):
            try:
                call()
            except mb.Error as error:
                assert error.code == "CLOSED"
            else:
                os._exit(9)
sys.modules["kept"] = Late()
""")

    def test_ends_well_after_an_exception(self):
        code, _, err = support.run(PROVIDER + """
with provider.add(pools).create("eu").update() as update:
    update.add("a", 1)
    raise ValueError("mine")
""", self.directory)
        self.assertEqual(code, 1)
        self.assertIn("ValueError: mine", err)
        self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    support.main()
