# SPDX-License-Identifier: Apache-2.0
"""What docs/examples/read_recording.py reads of a recording is what `meterbank get --log` reads of it.

    read_recording_test.py READ_RECORDING METERBANK RECORDED_CHANGES GOLDEN
"""

import collections
import json
import math
import pathlib
import subprocess
import sys
import tempfile


def printed_value(sample):
    if "text" in sample:
        return json.dumps(sample["text"], ensure_ascii=False)
    return without_zeros(str(sample["raw"]))


def without_zeros(value):
    """JSON has no `.0` behind a real that is whole."""
    return value.removesuffix(".0")


class Totals:
    """Distributions since their beginning: `get` prints what came between two samples."""

    def __init__(self):
        self.known, self.latest = {}, {}

    def value(self, key, shown):
        total = self.known.get(key, collections.Counter())
        total["count"] += shown["count"]
        for _, high, count in shown["buckets"]:
            total[round(math.log2(high) * 2**shown["scale"]) - 1] += count
        self.latest[key] = total
        buckets = sorted((bucket, count) for bucket, count in total.items() if bucket != "count" and count)
        return " ".join([str(total["count"])] + [f"{bucket}:{count}" for bucket, count in buckets])

    def next_sample(self):
        self.known, self.latest = self.latest, {}


def samples_of_get(lines):
    """A dictionary for each sample: (provider, path) to the values of all rows that are called so."""
    totals = Totals()
    for line in lines:
        values = collections.defaultdict(list)
        for sample in json.loads(line)["samples"]:
            path = "/".join(filter(None, (sample["set"], sample["instance"], sample["counter"])))
            key = sample["provider"], path
            if not sample["provider"] or sample["raw"] is None and "text" not in sample:
                continue  # a total, which the reader makes; a row without values
            shown = sample.get("distribution")
            life = *key, sample["instance_id"]
            values[key].append(totals.value(life, shown) if shown else printed_value(sample))
        totals.next_sample()
        yield values


def samples_of_script(lines):
    values, last = None, None
    for line in lines:
        time, provider, path, value = line.split("\t")
        if time != last:
            if values:
                yield values
            values, last = collections.defaultdict(list), time
        values[provider, path].append(without_zeros(value))
    yield values


def difference(printed, script):
    """The first value that differs, or None; and the number of values."""
    count = 0
    for number, (left, right) in enumerate(zip(printed, script, strict=True)):
        for key in left.keys() | right.keys():
            if key not in left and is_one_of_a_total(key):
                continue
            count += len(left[key])
            if sorted(left[key]) != sorted(right[key]):
                return f"sample {number}, {key}: get prints {left[key]}, the script {right[key]}", count
    return None, count


def is_one_of_a_total(key):
    """Of a set whose rows are shares of one row: `get` shows only that one."""
    return key[1].split("/")[0] in ("global", "history")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    script, meterbank, recorded_changes, golden = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        recording = pathlib.Path(directory, "changes.mbr")
        segments = pathlib.Path(directory, "segments")
        segments.mkdir()
        output_of(recorded_changes, segments, recording)
        printed = output_of(meterbank, "get", "--log", recording, "--from", "@0", "--raw", "--hist", "-f", "jsonl")
        lines = output_of(sys.executable, script, recording)
        found, count = difference(samples_of_get(printed), samples_of_script(lines))
        assert found is None, found
        assert len(printed) == 700 and count > 10_000, f"{len(printed)} samples, {count} values"

        # The checks find a value that is another one, and a script that does not read all.
        lines[-1] += "1"
        assert difference(samples_of_get(printed), samples_of_script(lines))[0] is not None
        data = bytearray(recording.read_bytes())
        data[len(data) // 2] ^= 1
        recording.write_bytes(data)
        assert 0 < len(output_of(sys.executable, script, recording)) < len(lines)
        print(f"{count} values of {len(printed)} samples are equal")
    read_golden(script, meterbank, pathlib.Path(golden))


def read_golden(script, meterbank, folder):
    """Its clock was set back, and still `get` prints all of it."""
    lines = output_of(sys.executable, script, folder / "v1.mbr")
    assert lines == (folder / "v1.tsv").read_text().splitlines()
    path = "golden_states/ratio"
    expected = [line.split("\t")[3] for line in lines if path in line]
    printed = output_of(meterbank, "get", "--log", folder / "v1.mbr", "--from", "@0", "--raw", "-f", "plain", path)
    values = [line.split("\t")[2] for line in printed]
    assert len(values) == 90 and [value for value in values if value != "-"] == expected, values


main()
