#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results_test.py METERBANK-BENCH

The files of meterbank_bench: what --json writes, and what --compare says about two of them.
"""
import copy
import json
import math
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
NAME = "snapshot of one warm block of 8 (limit: the copy alone)"


def run(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **options)


def limit_files():
    """In a child: no file can be longer than a byte, which is like a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))


def span(median):
    return {"p10": median * 0.9, "median": median, "p90": median * 1.1}


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "results.json"


class File(Results):
    def test_has_the_rows_and_the_head_of_the_table(self):
        printed = run("--quick", "snapshot", "setup", "--json", self.file)

        results = json.loads(self.file.read_text())

        self.assertEqual(printed.returncode, 0, printed.stderr)
        lines = printed.stdout.splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("row "))
        self.assertEqual(len(results["rows"]), len(lines) - begin - 2)
        for line, row in zip(lines[begin + 1:], results["rows"]):
            self.assertTrue(line.startswith(row["name"]), line)
            self.assertTrue(line.endswith(row["verdict"]), line)
        self.assertEqual({row["group"] for row in results["rows"]}, {"snapshot", "setup"})
        for key in ("date", "kernel", "compiler", "build", "processor"):
            self.assertIn(results["conditions"][key], "\n".join(lines[:begin]))

    def test_gives_rounds_the_limit_and_the_figure_of_a_row(self):
        run("--quick", "snapshot", "--json", self.file)

        row = json.loads(self.file.read_text())["rows"][0]

        self.assertEqual((row["group"], row["name"], row["unit"]), ("snapshot", NAME, "ns"))
        for part in ("measured", "limit", "ratio"):
            self.assertLessEqual(0, row[part]["p10"])
            self.assertLessEqual(row[part]["p10"], row[part]["median"])
            self.assertLessEqual(row[part]["median"], row[part]["p90"])
        self.assertEqual((row["hold"], row["hold_is_ratio"]), (4.0, False))
        # Not every machine can count them.
        self.assertTrue(row["instructions"] is None or 1 < row["instructions"] < 1000)

    def test_is_whole_or_not_there(self):
        run("--quick", "snapshot", "--json", self.file)
        self.assertEqual([each.name for each in self.folder.iterdir()], ["results.json"])

        before = self.file.read_text()
        (self.folder / "results.json.tmp").mkdir()
        refused = run("--quick", "snapshot", "--json", self.file)

        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"cannot write {self.file}: Is a directory", refused.stderr)
        self.assertEqual(self.file.read_text(), before)

    def test_stays_what_it_was_when_the_disk_is_full(self):
        self.file.write_text("earlier results")

        refused = run("--quick", "admission", "--json", self.file, preexec_fn=limit_files)

        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"cannot write {self.file}: File too large", refused.stderr)
        self.assertEqual(self.file.read_text(), "earlier results")
        self.assertEqual([each.name for each in self.folder.iterdir()], ["results.json"])

    def test_is_refused_before_anything_is_measured(self):
        for path in (self.folder / "no" / "results.json", self.folder):
            with self.subTest(path=path):
                refused = run("--quick", "snapshot", "--json", path)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertIn(f"cannot write {path}: ", refused.stderr)


def slope(points):
    """Of the straight line through points with the least squares."""
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    return (sum((x - x_mean) * (y - y_mean) for x, y in points) /
            sum((x - x_mean) ** 2 for x, _ in points))


class Scale(Results):
    def test_gives_the_growth_of_every_step(self):
        printed = run("--quick", "scale", "--json", self.file)
        self.assertEqual(printed.returncode, 0, printed.stderr)

        steps = {}
        for row in json.loads(self.file.read_text())["rows"]:
            step, size, of = re.fullmatch(r"(.*), (\d+) (.*)", row["name"]).groups()
            steps.setdefault((of, step), {})[int(size)] = row["measured"]["median"]

        tables = printed.stdout.split("\n\n")[2:]
        self.assertEqual(len(tables), 2)
        for of, sizes, table in zip(("instances of one provider", "providers of 10 instances"),
                                    ([16, 64, 256], [1, 3, 9]), tables):
            head, *lines = table.splitlines()
            self.assertEqual(head.split()[-6:-3], [str(size) for size in sizes])
            self.assertTrue(head.startswith(of))
            for step in (step for each, step in steps if each == of):
                line = next(line for line in lines if line.startswith(step + " "))
                costs = steps[of, step]
                self.assertEqual(sorted(costs), sizes)
                points = [(math.log(size), math.log(costs[size])) for size in sizes]
                growth, last = re.findall(r"n\^(\S+)", line)
                self.assertAlmostEqual(float(growth), slope(points), delta=0.006)
                self.assertAlmostEqual(float(last), slope(points[1:]), delta=0.006)
        self.assertEqual(len(steps), 20)

    def test_finds_memory_and_descriptors_of_each_provider(self):
        run("--quick", "scale", "--json", self.file)

        costs = {row["name"]: row["measured"]["median"]
                 for row in json.loads(self.file.read_text())["rows"]}

        for providers in (1, 3, 9):
            of = f"{providers} providers of 10 instances"
            self.assertEqual(costs[f"descriptors that it holds, {of}"], providers)
            self.assertGreater(costs[f"private memory of the reader, {of}"], providers * 10 * 8 * 8)
            self.assertGreaterEqual(costs[f"shared memory that it maps, {of}"], providers * 65536)


class Compare(Results):
    def setUp(self):
        super().setUp()
        conditions = {"date": "2026-11-21T20:34:51Z", "processor": "P", "family": "1", "model": "2",
                      "processors": 2, "vector_bits": 64, "kernel": "K", "compiler": "C",
                      "build": "B"}
        rows = [{"group": "g", "name": name, "measured": span(10), "limit": span(5), "unit": "ns",
                 "ratio": span(2), "instructions": None, "hold": 3, "hold_is_ratio": True, "verdict": "holds"}
                for name in ("first", "second", "second")]
        rows.append({"group": "g", "name": "memory", "measured": {"median": 100}, "limit": None,
                     "unit": "B", "ratio": None, "instructions": None, "hold": None, "hold_is_ratio": False,
                     "verdict": "-"})
        self.before = {"format": "meterbank_bench 1", "quick": False, "conditions": conditions,
                       "rows": rows}
        self.after = copy.deepcopy(self.before)

    def compare(self):
        for name, results in (("old", self.before), ("new", self.after)):
            (self.folder / name).write_text(json.dumps(results))
        return run("--compare", self.folder / "old", self.folder / "new")

    def expect(self, code, first_line, *more):
        compared = self.compare()
        self.assertEqual((compared.returncode, compared.stderr), (code, ""), compared.stdout)
        self.assertEqual(compared.stdout.splitlines()[0], first_line)
        for text in more:
            self.assertIn(text, compared.stdout)

    def test_finds_a_slower_row(self):
        self.before["rows"][1]["instructions"] = 8.125
        self.after["rows"][1].update(measured=span(15), ratio=span(3), instructions=12)
        self.expect(1, "slower   g: second", "10.00 ns (9.00 ns-11.00 ns), ratio 2.00, 8.1 instructions -> 15.00 ns (",
                    "ratio 3.00, 12.0 instructions\n",
                    "1 slower, 3 unchanged")

    def test_finds_a_faster_row(self):
        self.after["rows"][0].update(measured=span(5), ratio=span(1))
        self.expect(0, "faster   g: first", "1 faster, 3 unchanged")

    def test_finds_a_larger_and_a_smaller_row(self):
        self.after["rows"][3].update(measured={"median": 111})
        self.expect(1, "larger   g: memory", "100 B -> 111 B")
        self.after["rows"][3].update(measured={"median": 90})
        self.expect(0, "smaller  g: memory", "100 B -> 90 B")

    def test_finds_new_and_gone_rows(self):
        self.after["rows"][0]["name"] = "third"
        del self.after["rows"][2]
        self.expect(0, "new      g: third", "gone     g: first", "gone     g: second",
                    "1 new, 2 gone, 2 unchanged")

    def test_is_silent_about_equal_files(self):
        self.expect(0, "4 unchanged")
        self.assertEqual(self.compare().stdout, "4 unchanged\n")

    def test_is_silent_about_noise(self):
        # The spans of the rounds meet.
        self.after["rows"][0].update(measured=span(12), ratio=span(2.4))
        self.expect(0, "4 unchanged")
        # They lie apart, by less than 10 %, or 25 % without a limit.
        for least, more in ((10.9, {}), (12.4, {"limit": None, "ratio": None})):
            for results, value in ((self.before, 10), (self.after, least)):
                point = {"p10": value, "median": value, "p90": value}
                results["rows"][0].update({"measured": point, "ratio": point} | more)
            self.expect(0, "4 unchanged")
        self.after["rows"][3].update(measured={"median": 109})
        self.expect(0, "4 unchanged")

    def test_takes_the_measured_cost_or_the_ratio_alone_for_unchanged(self):
        for part in ("measured", "ratio"):
            with self.subTest(part=part):
                self.after = copy.deepcopy(self.before)
                self.after["rows"][0][part] = span(100)
                self.expect(0, "4 unchanged", "of these, 1 changed in the measured cost or in the")

    def test_judges_rows_without_a_limit_by_their_cost(self):
        for results, cost in ((self.before, 10), (self.after, 15)):
            results["rows"][0].update(measured=span(cost), ratio=None, limit=None)
        self.expect(1, "slower   g: first")

    def test_counts_rows_that_have_no_rounds(self):
        for results, value in ((self.before, 10), (self.after, 100)):
            results["rows"][0].update(measured={"median": value}, unit="ppm", ratio=None)
            results["rows"][1].update(measured=None, ratio=None, verdict="not built")
        self.expect(0, "2 unchanged", "2 not compared")

    def test_says_what_differs_between_the_runs(self):
        self.after["conditions"].update(processor="Q", compiler="D", build="E", date="later")
        self.after["quick"] = True
        self.expect(0, "different processors: P, family 1, model 2, vectors of 64 bits -> Q, family 1, "
                       "model 2, vectors of 64 bits",
                    "different compilers: C -> D\n", "different builds: B -> E\n",
                    "different inputs: full -> --quick")

    def test_accepts_what_json_writes(self):
        run("--quick", "snapshot", "setup", "--json", self.file)
        compared = run("--compare", self.file, self.file)
        self.assertEqual((compared.returncode, compared.stderr), (0, ""))
        self.assertRegex(compared.stdout, r"^\d+ unchanged\n")


    def test_refuses_files_that_are_not_results(self):
        whole = json.dumps(self.before)
        for text, reason in (("", "parse error"), (whole[:-9], "parse error"), ("[]", "format"),
                             ("{}", "format"), (whole.replace("bench 1", "bench 2"), "format"),
                             (whole.replace('"compiler"', '"x"'), "key 'compiler' not found"),
                             (whole.replace('"first"', "7"), "row 1: type must be string"),
                             (whole.replace('"rows": [', '"rows": ["x", '), "row 1: cannot use at()"),
                             (whole.replace('"ns"', "null"), "row 1: type must be string"),
                             (whole.replace('"p10": 9.0', '"p10": "x"'), "row 1: type must be n")):
            with self.subTest(text=text[:20], reason=reason):
                (self.folder / "bad").write_text(text)
                (self.folder / "good").write_text(whole)
                for files in (("bad", "good"), ("good", "bad")):
                    refused = run("--compare", *(self.folder / name for name in files))
                    self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                    self.assertIn(f"meterbank_bench: cannot use {self.folder / 'bad'}: ",
                                  refused.stderr)
                    self.assertIn(reason, refused.stderr)
                    self.assertIn("; name a file that meterbank_bench --json wrote", refused.stderr)

    def test_refuses_files_that_cannot_be_read(self):
        for path, reason in ((self.folder / "no", "No such file or directory"),
                             (self.folder, "Is a directory")):
            refused = run("--compare", path, path)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn(f"cannot read {path}: {reason}; name a file", refused.stderr)

    def test_takes_two_files_and_nothing_else(self):
        for words in (("--compare", "a"), ("--compare", "a", "b", "publish"),
                      ("--compare", "a", "b", "--json", "c"), ("--json",), ("--no",)):
            refused = run(*words)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("usage: meterbank_bench", refused.stderr)


if __name__ == "__main__":
    unittest.main()
