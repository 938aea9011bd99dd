# SPDX-License-Identifier: Apache-2.0
"""Conversions of a recording, as the programs that they are for read them.

real_conversions.py METERBANK
"""
import datetime
import importlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
COUNTER, INSTANT = 4, 3
NO_UNIT, COUNT = 0, 2


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


def stored(meterbank, recording, path):
    """Moment by moment: (provider, set/instance/counter) -> stored value."""
    moments = []
    for line in run(meterbank, "log", "convert", recording, "-f", "jsonl", "--raw", path).splitlines():
        moment = json.loads(line)
        moments.append((moment["time"], {(row["provider"], f"{row['set']}/{row['instance']}/{row['counter']}"):
                                         row["value"] for row in moment["samples"]}))
    return moments


def decode(path, folder):
    """A trace, by the code that protoc makes."""
    run("protoc", f"--proto_path={HERE}", f"--python_out={folder}", os.path.join(HERE, "trace.proto"))
    sys.path.insert(0, folder)
    trace = importlib.import_module("trace_pb2").Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    for packet in trace.packet:
        check(not packet.FindInitializationErrors() and packet.ByteSize() > 0, "each packet has something")
    return trace


def check_perfetto(meterbank, recording, folder):
    """Each value of the recording is in a track of its provider, at its time."""
    path = os.path.join(folder, "demo.pftrace")
    run(meterbank, "log", "convert", recording, "-f", "perfetto", "-o", path)
    trace = decode(path, folder)
    clocks = {clock.clock_id: clock.timestamp for packet in trace.packet[:1]
              for clock in packet.clock_snapshot.clocks}
    check(set(clocks) == {1, 3} and trace.packet[0].clock_snapshot.primary_trace_clock == 3,
          "the trace begins with both clocks")
    tracks, events = {}, {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            check(packet.track_descriptor.uuid not in tracks, "a track is described once")
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            event = packet.track_event
            check(event.track_uuid in tracks, "a track is described before its values")
            check(packet.timestamp_clock_id == 3, "times are of CLOCK_MONOTONIC")
            wall = packet.timestamp - clocks[3] + clocks[1]
            value = (event.name if event.type == INSTANT else event.counter_value
                     if event.HasField("counter_value") else event.double_counter_value)
            events.setdefault(event.track_uuid, []).append((wall // 1_000_000, value))
    shown, pids = {}, []
    for uuid, track in tracks.items():
        if not track.parent_uuid:
            # The demo is two providers in one process, which has one track of that kind.
            pids.append(track.process.pid)
            check(track.process.process_name in ("", track.name), "a provider is a process")
            continue
        key = (tracks[track.parent_uuid].name, track.name)
        check(key not in shown, f"{key} is one track")
        shown[key] = events.get(uuid, [])
    check(len(pids) == 4 and len([pid for pid in pids if pid]) == 2, f"each process has a track: {pids}")
    units = {track.name: (track.counter.unit, track.counter.unit_name) for track in tracks.values()}
    for name, unit in (("accepted", (COUNT, "{order}")), ("latency sum", (NO_UNIT, "s")),
                       ("latency count", (COUNT, "1"))):
        told = units[f"demo_orders/eu/{name}"]
        check(told == unit, f"units are told: {name}, {told}")
    compared = 0
    for time, values in stored(meterbank, recording, "demo_orders/*/accepted"):
        clock = datetime.datetime.fromisoformat(time.replace("Z", "+00:00"))
        wall = round(clock.timestamp() * 1000)
        for key, value in values.items():
            # A track keeps its value until the next one.
            until = [one for at, one in shown[key] if at <= wall + 1]
            check(until and int(value) in until[-2:], f"{key} is {value} at {time} ({wall}): {until[-2:]}, {shown[key][:3]}")
            compared += 1
    check(compared > 100, f"{compared} values were compared")
    again = subprocess.run([meterbank, "log", "convert", recording, "-f", "perfetto", "-o", path],
                           capture_output=True, check=False)
    check(again.returncode != 0, "a file is not replaced")


def check_sqlite(meterbank, recording, folder):
    """Each value that get shows is in the database, and no other."""
    path = os.path.join(folder, "demo.db")
    run(meterbank, "log", "convert", recording, "-f", "sqlite", "-o", path)
    database = sqlite3.connect(path)
    names = database.execute("""
      SELECT sample.time_ns / 1000000, provider.name || '@' || provider.pid, counterset.symbol, instance.name,
        counter.symbol, one.value FROM (SELECT sample, instance, counter, value FROM value
          UNION ALL SELECT sample, instance, counter, value FROM text) AS one
      JOIN sample ON sample.id = one.sample JOIN instance ON instance.id = one.instance
      JOIN counter ON counter.id = one.counter JOIN counterset ON counterset.id = counter.counterset
      JOIN provider ON provider.id = instance.provider""")
    stored_values = {row[:5]: row[5] for row in names}
    shown = {}
    for line in run(meterbank, "log", "convert", recording, "-f", "jsonl", "--raw").splitlines():
        moment = json.loads(line)
        wall = round(datetime.datetime.fromisoformat(moment["time"].replace("Z", "+00:00")).timestamp() * 1000)
        for row in moment["samples"]:
            # A total is of all providers, and a row of none.
            if row["provider"]:
                shown[(wall, row["provider"], row["set"], row["instance"] or "", row["counter"])] = \
                    row["value"] if row.get("text") is None else row["text"]
    shown = {key: value for key, value in shown.items() if value is not None}
    missing = [(key, value) for key, value in shown.items() if stored_values.get(key) != value]
    check(len(shown) > 5000 and not missing, f"{len(shown)} values are in the database: {missing[:3]}")
    more = [key for key in stored_values if key not in shown and "_Total" not in key[3]]
    check(not more, f"the database has no others: {more[:3]}")
    rates = database.execute("""SELECT time, instance, rate FROM rate WHERE counterset = 'demo_orders'
      AND counter = 'accepted' ORDER BY time, instance""").fetchall()
    check(len(rates) > 100 and all(rate[2] is None or 0 <= rate[2] < 1e7 for rate in rates), f"rates: {rates[:3]}")
    totals = database.execute("""SELECT sum(bucket.count), value.value, distribution.below + distribution.above
      FROM bucket JOIN value USING (sample, instance, counter) JOIN distribution USING (sample, instance, counter)
      GROUP BY sample, instance, counter""").fetchall()
    check(totals and all(row[0] + row[2] == row[1] for row in totals), "buckets add up to the count")
    check(database.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the database is whole")


def archived(path):
    """(milliseconds, metric, instance) -> value, as PCP's library reads the archive."""
    lines = run("/usr/bin/python3", "-B", os.path.join(HERE, "read_archive.py"), path).splitlines()
    values = {}
    for line in lines:
        time, metric, rest = line.split(" ", 2)
        instance, value = rest.rsplit(" ", 1)
        values[(int(time) // 1000, metric, instance.strip("'"))] = value.strip("'")
    return values


def not_archived(shown, values):
    """What the archive does not have as the recording has it. A provider whose name was taken has its pid."""
    missing = []
    for (wall, provider, instance, counter), value in shown.items():
        metric = f"meterbank.demo_orders.{counter}"
        plain = f"{provider.split('@')[0]}/{instance}"
        full = f"{provider}/{instance}"
        found = values.get((wall, metric, full), values.get((wall, metric, plain)))
        if found != str(value):
            missing.append((wall, provider, instance, counter, value, found))
    return missing


def check_pcp(meterbank, recording, folder):
    """Each number and text of the orders is in the archive, at its time."""
    known = subprocess.run(["/usr/bin/python3", "-c", "from pcp import pmapi"], capture_output=True, check=False)
    if known.returncode != 0:
        print("not compared: archives of PCP, which need the package python3-pcp")
        return
    path = os.path.join(folder, "demo")
    run(meterbank, "log", "convert", recording, "-f", "pcp", "-o", path)
    values = archived(path)
    shown = {}
    for line in run(meterbank, "log", "convert", recording, "-f", "jsonl", "--raw",
                    *[f"demo_orders/*/{name}" for name in ("accepted", "rejected", "queue_depth", "state")]).splitlines():
        moment = json.loads(line)
        wall = round(datetime.datetime.fromisoformat(moment["time"].replace("Z", "+00:00")).timestamp() * 1000)
        for row in moment["samples"]:
            value = row["value"] if row.get("text") is None else row["text"]
            # A provider that has ended is in no archive, and a total is of no provider.
            if row["provider"] and value is not None and row["status"] not in ("dead", "gone"):
                shown[(wall, row["provider"], row["instance"], row["counter"])] = value
    missing = not_archived(shown, values)
    check(len(shown) > 500 and not missing, f"{len(shown)} values are in the archive: {missing[:3]}")
    # The control: a value that was not recorded is not found.
    key = next(key for key, value in shown.items() if isinstance(value, int))
    check(len(not_archived({**shown, key: shown[key] + 1}, values)) == 1, "another value is told")


def main():
    meterbank = sys.argv[1]
    if shutil.which("promtool") is None or shutil.which("protoc") is None:
        print("skipped: needs the packages prometheus and protobuf-compiler")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        recording = record(meterbank, folder)
        check_prometheus(meterbank, recording, folder)
        check_perfetto(meterbank, recording, folder)
        check_sqlite(meterbank, recording, folder)
        check_pcp(meterbank, recording, folder)
    print("conversions are read by the programs that they are for")


if __name__ == "__main__":
    main()
