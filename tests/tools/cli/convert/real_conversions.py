# SPDX-License-Identifier: Apache-2.0
"""Conversions of a recording, as the programs that they are for read them.

real_conversions.py METERBANK
"""
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def check(is_so, what):
    if not is_so:
        sys.exit(f"not so: {what}")


def record(meterbank, folder):
    """A recording of the demo, which a second demo joins."""
    providers, path = os.path.join(folder, "run"), os.path.join(folder, "demo.mbr")
    os.mkdir(providers)
    demos = [subprocess.Popen([meterbank, "demo", "--dir", providers, "--for", span],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
             for span in ("8s", "3s")]
    try:
        run(meterbank, "record", "--dir", providers, "-o", path, "-i", "100ms", "--for", "4s")
    finally:
        for demo in demos:
            demo.terminate()
            demo.wait()
    return path


def text_samples(path):
    """(name, labels, milliseconds) -> value, of a text with times."""
    samples = {}
    with open(path, encoding="utf-8") as text:
        for line in text:
            if line.startswith("#"):
                continue
            series, value, time = line.rstrip("\n").rsplit(" ", 2)
            key = (series.replace("{}", ""), int(float(time) * 1000))
            check(key not in samples, f"one value of {key}")
            samples[key] = float(value)
    return samples


def check_prometheus(meterbank, recording, folder):
    """Prometheus' own tool makes blocks of the text, and they have its values."""
    text, database = os.path.join(folder, "demo.om"), os.path.join(folder, "tsdb")
    run(meterbank, "log", "convert", recording, "-f", "openmetrics", "-o", text, "--buckets", "0.001,0.01,0.1")
    run("promtool", "tsdb", "create-blocks-from", "openmetrics", text, database)
    os.makedirs(os.path.join(database, "wal"), exist_ok=True)
    expected = text_samples(text)
    count = 0
    for line in run("promtool", "tsdb", "dump", database).splitlines():
        labels, value, time = line.rsplit(" ", 2)
        name = labels.split('__name__="', 1)[1].split('"', 1)[0]
        pairs = labels.strip("{}").split(", ")
        rest = sorted(pair for pair in pairs if not pair.startswith("__name__="))
        count += 1
        found = [one for key, one in expected.items()
                 if key[1] == int(time) and key[0].split("{")[0] == name
                 and sorted(key[0].partition("{")[2].rstrip("}").replace('",', '"\n').split("\n")) == (rest or [""])] \
            if count % 200 == 1 else [float(value)]
        check(float(value) in found or float(value) != float(value), f"{line} is in the text: {found}")
    check(count == len(expected) and count > 1000, f"{count} samples of {len(expected)} are in the blocks")
    # The control: without its end it is no such text.
    with open(text, encoding="utf-8") as whole, open(text + ".cut", "w", encoding="utf-8") as cut:
        cut.write(whole.read().replace("# EOF\n", ""))
    refused = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", text + ".cut",
                              database + ".cut"], capture_output=True, check=False)
    check(refused.returncode != 0, "promtool refuses a text without its end")


def main():
    meterbank = sys.argv[1]
    if shutil.which("promtool") is None:
        print("skipped: needs the package prometheus")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        recording = record(meterbank, folder)
        check_prometheus(meterbank, recording, folder)
    print("conversions are read by the programs that they are for")


if __name__ == "__main__":
    main()
