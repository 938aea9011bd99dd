# SPDX-License-Identifier: Apache-2.0
"""Rows that Python computes when a reader asks."""

import gc
import io
import sys
import threading
import unittest
import weakref

import meterbank as mb
import support

POOLS = mb.Counterset("Pools", symbol="pools", label="pool", counters=[
    mb.Counter("Used", symbol="used", type="large_raw_count"),
    mb.Counter("Change", symbol="change", form="signed"),
    mb.Counter("Load", symbol="load", form="real")])


class Callbacks(support.Case):
    def ask(self):
        with self.catalog() as catalog, catalog.query("pools/*/*") as query:
            sample = query.collect(timeout=30)
            rows = {row.instance: [value.raw for value in row] for row in sample}
            return rows, [answer.reason for answer in sample.answers]

    def unraisable(self):
        """Collects what callbacks raise, which goes to sys.unraisablehook."""
        raised = []
        hook = sys.unraisablehook
        self.addCleanup(setattr, sys, "unraisablehook", hook)
        sys.unraisablehook = lambda args: raised.append(args.exc_type)
        return raised

    def test_answer_with_rows(self):
        requests = []

        def answer(request):
            requests.append((request.reason, request.collects_many, request.instance_id,
                             request.instance_mask, request.wants("used"), request.is_cancelled,
                             request.deadline_ns > 0))
            self.assertTrue(request.add("a", [2**64 - 1, -1, 0.5]))
            request.add("b", {"load": 2, "Used": 7}, id=12)
            request.add("c", (0, 0, 0))

        self.provider().add(POOLS, callback=answer)
        rows, reasons = self.ask()
        self.assertEqual(rows, {"a": [2**64 - 1, -1, 0.5], "b": [7, 0, 2.0], "c": [0, 0, 0.0]})
        self.assertEqual(reasons, ["answered"])
        self.assertEqual(requests[-1], ("collect", True, None, "*", True, False, True))

    def test_give_an_error_that_readers_see(self):
        raised = self.unraisable()

        def answer(request):
            request.add("a", [1, 2, 3])
            raise ZeroDivisionError

        pools = self.provider().add(POOLS, callback=answer)
        rows, reasons = self.ask()
        self.assertEqual(rows, {"a": [1, 2, 3.0]})  # rows before are delivered
        self.assertEqual(reasons, ["the callback returned 4294967295"])
        self.assertEqual(raised, [ZeroDivisionError])
        for bad, wanted in ((SystemExit, 4294967295), (KeyboardInterrupt, 4294967295), (7, 7)):
            pools.close()

            def answer(request, bad=bad):
                if isinstance(bad, int):
                    return bad
                raise bad
            pools = mb.Provider("other", directory=self.directory).add(POOLS, callback=answer)
            with self.catalog() as catalog, catalog.query("pools/*/*") as query:
                reasons = [a.reason for a in query.collect(timeout=30).answers]
            self.assertIn("the callback returned %d" % wanted, reasons)
            pools.close()
        del pools

    def test_refuse_bad_rows(self):
        raised = self.unraisable()
        attempts = [
            (("a", [1]), ValueError), (("a", None), mb.Error), (("a", [1, 2]), ValueError),
            (("a", "abc"), TypeError), (("a", [-1, 0, 0]), OverflowError),
            (("a", [0, 2**63, 0]), OverflowError), (("a", [0.5, 0, 0]), TypeError),
            (("\ud800", [0, 0, 0]), UnicodeEncodeError), (("a\0b", [0, 0, 0]), ValueError),
            (("x" * 5000, [0, 0, 0]), mb.Error), (("", [0, 0, 0]), mb.Error),
            (("a", {"nope": 1}), mb.Error), (("a", 5), TypeError), ((None, [0, 0, 0]), TypeError),
            (("a", [0, 0, 0], 0xffffffff), mb.Error), (("a", [0, 0, 0], 2**32), OverflowError)]
        seen = []

        def answer(request):
            if request.reason != "collect":
                return
            for arguments, error in attempts:
                try:
                    request.add(*arguments)
                    seen.append((arguments, "added"))
                except error:
                    pass
            request.add("good", [1, 2, 3])

        self.provider().add(POOLS, callback=answer)
        rows, reasons = self.ask()
        self.assertEqual((rows, reasons, seen, raised),
                         ({"good": [1, 2, 3.0]}, ["answered"], [], []))

    def test_refuse_a_request_afterwards_and_elsewhere(self):
        kept, elsewhere = [], []

        def answer(request):
            kept.append(request)

            def use():
                try:
                    request.add("a", [1, 2, 3])
                except mb.Error as error:
                    elsewhere.append(error.code)
            thread = threading.Thread(target=use)
            thread.start()
            thread.join()

        self.provider().add(POOLS, callback=answer)
        self.ask()
        self.assertIn("INVALID_ARGUMENT", elsewhere)
        self.refused("CLOSED", kept[0].add, "a", [1, 2, 3])
        self.refused("CLOSED", lambda: kept[0].reason)

    def test_may_close_their_own_set_and_provider(self):
        for what in ("set", "provider"):
            provider = self.provider(what)
            registration = []

            def answer(request):
                (registration[0] if what == "set" else provider).close()
                request.add("a", [1, 2, 3])

            registration.append(provider.add(POOLS, callback=answer))
            self.ask()
            self.assertTrue(registration[0].is_closed)
            provider.close()

    def test_run_while_other_threads_wait_for_them(self):
        pools = self.provider().add(POOLS, callback=lambda request: request.add("a", [1, 2, 3]),
                                    serial=True)
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.ask()[0]))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [{"a": [1, 2, 3.0]}] * 4)
        del pools

    def test_have_ended_when_close_returns(self):
        inside, go_on = threading.Event(), threading.Event()
        ended = []

        def answer(request):
            inside.set()
            go_on.wait(30)
            ended.append(1)

        provider = self.provider()
        pools = provider.add(POOLS, callback=answer)
        asking = threading.Thread(target=self.ask)
        asking.start()
        self.assertTrue(inside.wait(30))
        closing = threading.Thread(target=pools.close)
        closing.start()
        go_on.set()
        closing.join()
        self.assertGreaterEqual(len(ended), 1)
        asking.join()
        provider.close()

    def test_are_collected_with_their_provider(self):
        class Owner:
            def __init__(self, directory):
                self.provider = mb.Provider("cycle", directory=directory)
                self.pools = self.provider.add(POOLS, callback=self.answer)

            def answer(self, request):
                request.add("a", [1, 2, 3])

        owner = Owner(self.directory)
        self.assertEqual(self.ask()[0], {"a": [1, 2, 3.0]})
        seen = weakref.ref(owner)
        del owner
        gc.collect()
        self.assertIsNone(seen())
        self.assertEqual(self.ask(), ({}, []))

    def test_tell_whether_readers_are_interested(self):
        pools = self.provider().add(POOLS, interest=True)
        self.assertFalse(pools.is_wanted)
        with self.catalog() as catalog, catalog.query("pools/*/used") as query:
            query.collect(timeout=30)
            support.wait_until(lambda: pools.is_wanted)
            self.assertTrue(pools.wants("used"))
            self.assertFalse(pools.wants("load"))
        self.assertRaises(TypeError, self.provider("p").add, POOLS, callback=5)


if __name__ == "__main__":
    support.main()
