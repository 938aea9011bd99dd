# SPDX-License-Identifier: Apache-2.0
"""Recordings, against what another reader printed of the same file."""

import collections
import json
import os
import shutil

import meterbank as mb
import support

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "recording", "golden")


def printed(value):
    """As docs/examples/read_recording.py prints it."""
    if value.distribution is not None:
        shown = value.distribution
        buckets = [f"{shown.first + at}:{count}" for at, count in enumerate(shown.buckets) if count]
        return " ".join([str(shown.count), *buckets])
    if value.text is not None:
        return json.dumps(value.text, ensure_ascii=False)
    return repr(value.raw).removesuffix(".0")


def printed_by_script():
    """{time in nanoseconds: Counter of (provider, path, value)}"""
    moments = collections.defaultdict(collections.Counter)
    with open(os.path.join(GOLDEN, "v1.tsv"), encoding="utf-8") as lines:
        for line in lines:
            time, provider, path, value = line.rstrip("\n").split("\t")
            time_ns = int(time.replace(".", ""))
            moments[time_ns][provider, path, value.removesuffix(".0")] += 1
    return moments


class Recording(support.Case):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.directory, "v1.mbr")
        shutil.copy(os.path.join(GOLDEN, "v1.mbr"), self.path)

    def recording(self, path=None, **options):
        recording = mb.Recording(path or self.path, **options)
        self.addCleanup(recording.close)
        return recording

    def test_shows_what_another_reader_prints(self):
        recording = self.recording()
        query = recording.query()
        expected = printed_by_script()
        coverages = collections.Counter()
        for moment in recording:
            query.update()
            shown = collections.Counter()
            sample = query.collect()
            for row in sample:
                for value in row:
                    if value.status == "no_value":
                        continue
                    path = "/".join(filter(None, (row.set_symbol, row.instance, value.symbol)))
                    shown[f"{row.provider}@{row.pid}", path, printed(value)] += 1
            # What was not sampled then, the script leaves out; the others are as they were.
            if sample.coverage == "all":
                self.assertEqual(shown, expected[moment], moment)
            self.assertEqual(expected[moment] - shown, collections.Counter(), moment)
            coverages[sample.coverage] += 1
        self.assertEqual(coverages, {"all": 45, "some": 45})

    def test_samples_have_the_time_of_the_moment(self):
        recording = self.recording()
        query = recording.query()
        self.assertIsNone(recording.moment_ns)
        self.assertEqual(recording.providers, [])
        first = next(recording)
        self.assertEqual(recording.moment_ns, first)
        query.update()
        before = query.collect()
        self.assertEqual(before.realtime_ns, first)
        self.assertIn("orders", [provider.name for provider in recording.providers])
        second = next(recording)
        query.update()
        after = query.collect()
        self.assertEqual(after.realtime_ns, second)
        self.assertEqual(before.coverage, "all")
        self.assertEqual(after.coverage, "some")  # one of its two rates is half of the other
        self.assertEqual(len(list(after.since(before))), len(after))

    def test_seeks(self):
        recording = self.recording()
        self.assertTrue(recording.seek(recording.last_ns))
        self.assertEqual(recording.moment_ns, recording.last_ns)
        self.assertFalse(recording.seek(1))
        self.assertEqual(recording.moment_ns, recording.last_ns)
        self.assertRaises(OverflowError, recording.seek, -1)
        self.assertRaises(TypeError, recording.seek, 1.5)
        self.assertTrue(recording.seek(2**64 - 1))

    def test_says_what_it_has(self):
        recording = self.recording(trust="everyone")
        self.assertEqual((recording.files, recording.host, recording.recorder),
                         (1, "golden", "meterbank golden"))
        self.assertEqual(recording.bytes, os.path.getsize(self.path))
        self.assertLess(recording.first_ns, recording.last_ns)
        self.assertEqual(recording.flaws, [])
        self.assertEqual(sum(1 for _ in recording), 90)
        self.assertEqual(recording.missed, 3)
        self.assertEqual([(flaw.reason, flaw.missed) for flaw in recording.flaws], [("late", 3)])

    def test_names_bytes_that_cannot_be_read(self):
        with open(self.path, "r+b") as file:
            file.seek(4000)
            file.write(b"\xff" * 8)
        recording = self.recording()
        self.assertLess(sum(1 for _ in recording), 90)
        damaged = [flaw for flaw in recording.flaws if flaw.bytes]
        self.assertEqual([flaw.path for flaw in damaged[:1]], [self.path])
        self.assertLessEqual(damaged[0].offset, 4000)

    def test_is_refused_with_a_reason(self):
        self.refused("NOT_FOUND", mb.Recording, os.path.join(self.directory, "missing.mbr"))
        error = self.refused("CORRUPT", mb.Recording, __file__)
        self.assertIn("meterbank record", error.try_)
        self.assertRaises(TypeError, mb.Recording)
        self.assertRaises(TypeError, mb.Recording, 5)
        self.assertRaises(ValueError, mb.Recording, "a\0b")
        self.assertRaises(ValueError, mb.Recording, self.path, users="some")

    def test_is_over_when_it_is_closed(self):
        recording = self.recording()
        query = recording.query()
        self.assertRaises(RuntimeError, recording.__init__, self.path)
        recording.close()
        self.assertTrue(recording.is_closed)
        for use in (lambda: next(recording), lambda: recording.seek(5), lambda: recording.flaws,
                    lambda: recording.first_ns, query.update):
            self.refused("CLOSED", use)

    def test_outlives_its_file_and_is_a_catalog(self):
        with self.recording() as recording:
            os.unlink(self.path)
            self.assertIsInstance(recording, mb.Catalog)
            self.assertEqual(sum(1 for _ in recording), 90)
            self.assertEqual(list(recording), [])
            recording.refresh()
            self.assertFalse(recording.is_stale)


if __name__ == "__main__":
    support.main()
