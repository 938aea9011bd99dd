# SPDX-License-Identifier: Apache-2.0
"""Many threads that use the same objects."""

import random
import sys
import threading
import unittest

import meterbank as mb
import support
from support import ORDERS


def run_all(functions):
    """Runs each in a thread; the exceptions that they ended with."""
    raised = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            raised.append(error)
    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


class Threads(support.Case):
    def setUp(self):
        super().setUp()
        interval = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, interval)
        sys.setswitchinterval(1e-6)

    def test_lose_no_count(self):
        for kind in ("block", "independent", "sharded"):
            instance = self.provider(kind).add(
                name=kind, symbol=kind, kind=kind,
                counters=[mb.Counter("A", "a"), mb.Counter("B", "b")]).create("i")
            bound = instance.counter("a")

            def count():
                for _ in range(2000):
                    bound.add(1)
                    instance.add("a", 1)
                    with instance.update() as update:
                        update.add("a", 1)
                        update.add("b", 1)
            self.assertEqual(run_all([count] * 4), [])
            self.assertEqual(self.raw(kind + "/i/*"), {kind + "/i/a": 24000, kind + "/i/b": 8000})

    def look_while(self, change, end, enough=None):
        """The first pair of counters that a reader saw which should be equal and is not.

        Looks until then, or until it has seen so many different values."""
        torn, seen = [], set()
        with self.catalog() as catalog, catalog.query("pairs/i/*") as query:
            def look():
                sample = query.collect()
                while not end.is_set():
                    first, second = sample.raw
                    if first != second:
                        torn.append((first, second))
                    seen.add(first)
                    if torn or len(seen) == enough:
                        end.set()
                    query.collect(sample)

            def change_until_end():
                while not end.is_set():
                    change()
            errors = run_all([look, change_until_end, change_until_end])
        self.assertEqual(errors, [])
        return torn

    def pair(self):
        return self.provider().add(name="Pairs", symbol="pairs", counters=[
            mb.Counter("A", "a"), mb.Counter("B", "b")]).create("i")

    def test_show_no_half_of_an_update(self):
        pair, end = self.pair(), threading.Event()

        def change():
            with pair.update() as update:
                update.add("a", 1)
                update.add("b", 1)
        self.assertEqual(self.look_while(change, end, enough=200), [])

    def test_are_seen_in_between_without_an_update(self):  # the negative control
        pair, end = self.pair(), threading.Event()

        def change():
            pair.add("a", 1)
            pair.add("b", 1)
        self.assertNotEqual(self.look_while(change, end), [])

    def test_use_and_close_the_same_readers(self):
        venues = self.provider().add(ORDERS)
        kept = [venues.create(str(i)) for i in range(20)]
        expected = (mb.Error, BufferError)
        for _ in range(3):
            catalog = mb.Catalog(self.directory)
            query = catalog.query("venues/*/accepted")
            samples = [query.collect(), query.collect()]
            acts = [
                catalog.refresh, query.update, lambda: query.collect(samples[0]),
                lambda: query.collect(samples[1]), lambda: query.collect(timeout=0),
                lambda: list(samples[0]), lambda: samples[0].since(samples[1]).paths,
                lambda: list(samples[1].since(samples[0])), lambda: sum(samples[0].raw),
                lambda: memoryview(samples[1]).release(), lambda: catalog.providers,
                lambda: query.unmatched, lambda: catalog.query("*/*/*").close(),
                lambda: samples[0].paths, lambda: venues.create("extra").add("accepted")]

            def use(seed):
                chosen = random.Random(seed)
                for _ in range(150):
                    try:
                        chosen.choice(acts)()
                    except expected:
                        pass
                if seed == 0:
                    for thing in (samples[0], query, catalog):
                        try:
                            thing.close()
                        except expected:
                            pass
            self.assertEqual(run_all([lambda seed=seed: use(seed) for seed in range(6)]), [])
            query.close()
            catalog.close()
        del kept

    def test_use_and_close_the_same_providers(self):
        for round_ in range(5):
            provider = mb.Provider("shared", directory=self.directory)
            venues = provider.add(ORDERS)
            eu = venues.create("eu")
            update = eu.update()
            called = provider.add(name="Called", symbol="called", callback=lambda r: r.add("x", [1]),
                                  counters=[mb.Counter("A", "a", type="large_raw_count")])
            acts = [lambda: eu.add("accepted"), lambda: eu.set("state", "up"),
                    lambda: update.add("bytes", 1), update.commit, update.abort,
                    lambda: eu.counter("latency").record(1), lambda: venues.find("eu").close(),
                    lambda: venues.create("x"), lambda: provider.add(
                        name="More", symbol="more", counters=[mb.Counter("A", "a")]).close(),
                    lambda: self.raw("venues/*/*"), lambda: self.read("called/*/*", timeout=5),
                    lambda: provider.record]
            ends = [eu.close, venues.close, called.close, provider.close]

            def use(seed):
                chosen = random.Random(seed)
                for _ in range(40):
                    try:
                        chosen.choice(acts)()
                    except mb.Error:
                        pass
                ends[seed % 4]()
            self.assertEqual(run_all([lambda seed=seed: use(seed) for seed in range(8)]), [])
            self.assertTrue(provider.is_closed, round_)

    def test_wait_for_their_turn_without_the_interpreter(self):
        """A collection that waits for a callback lets other threads use the same query."""
        inside, go_on = threading.Event(), threading.Event()

        def answer(request):
            inside.set()
            go_on.wait(60)
            request.add("x", [1])
        called = self.provider().add(name="Called", symbol="called", callback=answer,
                                     counters=[mb.Counter("A", "a", type="large_raw_count")])
        with self.catalog() as catalog, catalog.query("called/*/*") as query:
            results = []
            asking = threading.Thread(
                target=lambda: results.append(list(query.collect(timeout=60).raw)))
            asking.start()
            self.assertTrue(inside.wait(60))
            waiting = threading.Thread(target=lambda: results.append(query.unmatched))
            waiting.start()
            go_on.set()
            asking.join()
            waiting.join()
            self.assertCountEqual(results, [[1], []])
        called.close()


if __name__ == "__main__":
    support.main()
