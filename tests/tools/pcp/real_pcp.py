#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Performance Co-Pilot reads through pmdameterbank what `meterbank get --raw` prints: a pmcd of the test's
own, pminfo, pmval, pmrep, pmlogger and dbpmda.

usage: real_pcp.py FOLDER-OF-PROGRAMS
"""

import contextlib
import csv
import fcntl
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "agent"))
from pcp_client import LABEL_CHANGE, NAMES_CHANGE, Client  # noqa: E402
from private_pcp import DOMAIN, PrivatePcp, has_pcp  # noqa: E402
from real_prometheus import AISLES, SKIPPED, SOLD, check, free_port, running, wait_for  # noqa: E402

# External names: PCP compares names up to the first space.
EXTERNAL = {aisle: "shop/" + aisle.replace(" ", "_") for aisle in AISLES}
# What pminfo says of each metric: type, semantics, units, one line of help.
DESCRIBED = {
    "sold": ("64-bit unsigned int", "counter", "count", "Items sold."),
    "stock": ("64-bit unsigned int", "instant", "none", "Items in the shop."),
    "label_bytes": ("64-bit unsigned int", "counter", "Kbyte",
                    'Size of the "labels" \\ that were printed.'),
    "state": ("string", "discrete", "none", "Open or closed."),
    "serving_time.count": ("64-bit unsigned int", "counter", "count",
                           "Number of values: Time of one customer."),
    "serving_time.sum": ("double", "counter", "sec", "Sum of all values: Time of one customer."),
    "serving_time.p99": ("double", "instant", "sec",
                         "Not exceeded by 99 % of the recent values: Time of one customer."),
    "serving_time.max": ("double", "instant", "sec", "Greatest value so far: Time of one customer.")}


class Place:
    """A directory of providers, the programs that fill it, and the pmcd that reads it."""

    def __init__(self, stack, programs):
        self.stack, self.programs = stack, programs
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["METERBANK_DIR"] = os.path.join(self.folder, "run")
        os.mkdir(os.environ["METERBANK_DIR"], 0o700)

    def program(self, name):
        return os.path.join(self.programs, name)

    def provider(self, name, *arguments):
        process = self.stack.enter_context(running(
            [self.program(name), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True))
        check(process.stdout.readline() == "ready\n", f"{name} is ready")
        return process

    def shop(self):
        process = self.provider("meterbank_still_shop")
        sell(process, SOLD)
        return process

    def pmcd(self, name="pcp", options=()):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        pcp = PrivatePcp(folder, free_port(), self.program("pmdameterbank"), options)
        self.stack.enter_context(pcp)
        wait_for("metric", pcp.is_ready)
        return pcp


def sell(shop, items):
    shop.stdin.write(f"sell {items}\n")
    shop.stdin.flush()
    shop.stdout.readline()


def raw_values(place, paths="still_shop/*/*"):
    """What `meterbank get --raw` prints, by counter and instance."""
    rows = json.loads(subprocess.run(
        [place.program("meterbank"), "get", "--raw", "-n", "1", "-f", "json", paths],
        text=True, capture_output=True, check=True).stdout)
    return {(row["counter"], row["instance"]): row["value"] for row in rows["samples"]}


def values_of(text):
    """Values and numbers by external name, in what pminfo -f prints of one metric."""
    found = re.findall(r'^    inst \[(\d+) or "(.*)"\] value (.*)$', text, re.M)
    return {name: (int(number), value) for number, name, value in found}


def check_descriptions(pcp, place):
    raw = raw_values(place)
    compared = 0
    for metric, (kind, semantics, units, line) in DESCRIBED.items():
        text = pcp.run("pminfo", "-dftT", f"meterbank.still_shop.{metric}")
        check(f"meterbank.still_shop.{metric} [{line}]\n" in text, f"one line of {metric}: {text}")
        check(f"Data Type: {kind}  InDom: {DOMAIN}." in text and
              f"Semantics: {semantics}  Units: {units}\n" in text, f"description of {metric}: {text}")
        check(f"Help:\n{line}\n" in text, f"help of {metric}")
        values = values_of(text)
        check(set(values) == set(EXTERNAL.values()), f"instances of {metric}: {values}")
        for aisle, name in EXTERNAL.items():
            if (metric, aisle) in raw and metric != "state":
                check(int(values[name][1]) == int(raw[metric, aisle]), f"{metric} of {aisle}")
                compared += 1
    check(compared == 3 * len(AISLES), f"compared {compared} values with meterbank get")
    for part, expected in (("count", SOLD), ("sum", SOLD * (SOLD + 1) / 2000), ("max", SOLD / 1000)):
        text = pcp.run("pminfo", "-f", f"meterbank.still_shop.serving_time.{part}")
        for name, (_, value) in values_of(text).items():
            check(abs(float(value) - expected) < 1e-9, f"{part} of {name} is {value}")
    # Each value to SOLD milliseconds was recorded once; a bucket at scale 3 is 9 % wide.
    for part, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)):
        text = pcp.run("pminfo", "-f", f"meterbank.still_shop.serving_time.{part}")
        for name, (_, value) in values_of(text).items():
            check(abs(float(value) / (share * SOLD / 1000) - 1) < 2**(1 / 8) - 1,
                  f"{part} of {name} is {value}")
    state = pcp.run("pminfo", "-f", "meterbank.still_shop.state")
    check(state.count('value "open\n"now""') == len(AISLES), f"texts arrive as they are: {state}")


def check_labels(pcp, shop):
    text = pcp.run("pminfo", "-l", "meterbank.still_shop.sold")
    found = dict(re.findall(r'^    inst \[\d+ or "(.*)"\] labels (.*)$', text, re.M))
    for aisle, name in EXTERNAL.items():
        labels = json.loads(found[name])
        check(labels["provider"] == "shop" and labels["pid"] == shop.pid and
              labels["aisle"] == aisle and labels["uid"] == os.geteuid(), f"labels: {labels}")


def check_clients(pcp, place):
    raw = raw_values(place)
    text = pcp.run("pmval", "-r", "-s", "1", "-w", "24", "-i", EXTERNAL["fruit"],
                   "meterbank.still_shop.stock")
    check(text.split()[-1] == str(raw["stock", "fruit"]), f"pmval prints a gauge: {text}")
    text = pcp.run("pmval", "-r", "-s", "1", "meterbank.still_shop.sold")
    check(text.split()[-len(AISLES):] == [str(SOLD)] * len(AISLES), f"pmval prints counts: {text}")
    # pmrep has no raw counts: their rates are zero, because the shop stands still.
    text = pcp.run("pmrep", "-o", "csv", "-s", "2", "-t", "0.2", "meterbank.still_shop.stock",
                   "meterbank.still_shop.sold")
    head, *rows = list(csv.reader(io.StringIO(text)))
    check(len(head) == 1 + 2 * len(AISLES) and len(rows) == 2, f"pmrep prints a table: {text}")
    last = dict(zip(head, rows[-1]))
    for name, value in last.items():
        if name.startswith("meterbank.still_shop.stock"):
            check(int(value) == raw["stock", "fruit"], f"pmrep prints {value} for {name}")
        elif name.startswith("meterbank.still_shop.sold"):
            check(float(value) == 0, f"pmrep prints the rate {value} for {name}")


def check_logger(pcp, place, shop):
    """An archive that begins with one shop and ends with its successor."""
    archive = os.path.join(place.folder, "archive")
    config = pcp.write("logger.conf", "log mandatory on 100 msec { meterbank.still_shop }\n")
    logger = place.stack.enter_context(running(
        [pcp.programs["pmlogger"], "-h", pcp.host, "-c", config, "-l",
         os.path.join(place.folder, "logger.log"), archive],
        env=pcp.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def logged(metric):
        text = pcp.run("pmdumplog", archive, f"meterbank.still_shop.{metric}", check=False)
        return re.findall(r'inst \[(\d+) or "shop/fruit"\] value (\S+)', text)

    wait_for("value in the archive", lambda: logged("sold"))
    sell(shop, 1)
    wait_for("changed value", lambda: logged("sold")[-1][1] == str(SOLD + 1))
    shop.send_signal(signal.SIGKILL)
    shop.wait()
    wait_for("end of the values", lambda: "shop/fruit" not in pcp.run(
        "pminfo", "-f", "meterbank.still_shop.sold", check=False))
    check(logger.poll() is None, "pmlogger goes on without the provider")
    successor = place.shop()
    wait_for("values of the successor", lambda: logged("sold")[-1][1] == str(SOLD))
    logger.terminate()
    check(logger.wait(20) == 0, "pmlogger ends in order")
    numbers = {number for number, _ in logged("sold")}
    check(len(numbers) == 1, f"the instance keeps its number: {numbers}")
    check([value for _, value in logged("stock")][-1] == str(2**64 - 1), "the archive has the gauge")
    for option, expected in (("-d", "Semantics: counter  Units: Kbyte"), ("-h", "Items in the shop."),
                             ("-e", '"aisle":"fruit"')):
        text = pcp.run("pmdumplog", option, archive)
        check(expected in text, f"the archive has {expected}: {text[:2000]}")
    return successor


def identifiers(pcp):
    text = pcp.run("pminfo", "-m", "meterbank")
    return dict(re.findall(r"^(meterbank\S+) PMID: (\S+)", text, re.M))


def check_converted(pcp, place):
    """What a recording becomes is what the agent shows: names, identifiers, descriptions, help and values."""
    recording, archive = (os.path.join(place.folder, name) for name in ("still.mbr", "converted"))
    for words in (("record", "-o", recording, "-n", "1"), ("log", "convert", recording, "-f", "pcp", "-o", archive)):
        subprocess.run([place.program("meterbank"), *words], check=True, capture_output=True)

    def metrics(*options):
        blocks = pcp.run("pminfo", *options, "-dmfT", "meterbank.still_shop", live=not options).strip().split("\n\n")
        return sorted("\n".join(sorted(block.splitlines())) for block in blocks)

    live, converted = metrics(), metrics("-a", archive)
    check(len(live) > 5 and live == converted,
          f"the archive agrees: {[pair for pair in zip(live, converted) if pair[0] != pair[1]][:2]}")


def check_restarts(pcp, place):
    """Metrics and instances keep their numbers in another pmcd, which starts another agent."""
    before = identifiers(pcp), values_of(pcp.run("pminfo", "-f", "meterbank.still_shop.sold"))
    place.provider("meterbank_still_rows", "3")
    other = place.pmcd("other")
    wait_for("second set", lambda: "meterbank.still_rows.a" in identifiers(other))
    after = identifiers(other)
    check(before[0] and before[0].items() <= after.items(), "metrics keep their identifiers")
    check(values_of(other.run("pminfo", "-f", "meterbank.still_shop.sold")) == before[1],
          "instances keep their numbers")
    check(len(set(after.values())) == len(after), "no two metrics have one identifier")


def check_changes(pcp, place):
    """A client that keeps names learns that there are others."""
    client = Client(pcp)
    ids = client.identifiers(["meterbank.still_shop.sold"])
    client.fetch(ids)
    check(client.fetch(ids)[1:] == (len(AISLES), 0), "nothing changes while nothing happens")
    rows = place.provider("meterbank_still_rows", "1")
    _, values, changes = client.fetch(ids)
    check(values == len(AISLES) and changes == LABEL_CHANGE | NAMES_CHANGE, f"changes: {changes}")
    check(client.fetch(ids)[2] == 0, "they are told once")
    rows.kill()
    rows.wait()


@contextlib.contextmanager
def lying_provider(place):
    """A record like that of the shop, of memory that holds no segment: it is this process's own."""
    directory = os.environ["METERBANK_DIR"]
    memory = os.memfd_create("liar", os.MFD_ALLOW_SEALING)
    os.write(memory, os.urandom(65536))
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    [record] = [name for name in os.listdir(directory)
                if name.startswith("shop@") and name.endswith(".provider")]
    with open(os.path.join(directory, record), encoding="ascii") as file:
        text = file.read()
    with open("/proc/self/stat", encoding="utf-8") as file:
        start = file.read().rpartition(")")[2].split()[19]
    for name, value in (("name", "liar"), ("pid", os.getpid()), ("start", start),
                        ("descriptor", memory), ("inode", os.fstat(memory).st_ino),
                        ("bytes", 65536)):
        text = re.sub(f"^{name} .*$", f"{name} {value}", text, flags=re.M)
    text = re.sub(r"^(socket|door) .*\n?", "", text, flags=re.M)
    path = os.path.join(directory, f"liar@{os.getpid()}-1.provider")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o644)
    try:
        listed = subprocess.run([place.program("meterbank"), "list", "--providers"], text=True,
                                capture_output=True, check=False).stdout
        check(re.search(r"liar.*unreadable", listed), f"there is an unreadable provider: {listed}")
        yield
    finally:
        os.remove(path)
        os.close(memory)


def check_faulty_neighbours(pcp, place, shop):
    """Providers that hang, do not answer or cannot be read cost their own rows."""
    expected = pcp.run("pminfo", "-f", "meterbank.still_shop.sold")
    check(expected.count(f"value {SOLD}\n") == len(AISLES), expected)
    with lying_provider(place):
        wait_for("the next look", lambda: time.sleep(1.1) or True)
        check(pcp.run("pminfo", "-f", "meterbank.still_shop.sold") == expected,
              "values stay beside a provider that lies")
    silent = place.provider("meterbank_still_rows", "2", "silent")
    wait_for("silent provider", lambda: "meterbank.still_rows.a" in identifiers(pcp))
    for process in (silent, shop):
        process.send_signal(signal.SIGSTOP)
        for _ in range(3):
            check(pcp.run("pminfo", "-f", "meterbank.still_shop.sold") == expected,
                  "values of the others stay")
    for process in (silent, shop):
        process.send_signal(signal.SIGCONT)
    silent.kill()
    silent.wait()


def check_hostile_names(pcp, place):
    hostile = place.provider("meterbank_hostile_shop")
    wait_for("hostile metrics", lambda: len(identifiers(pcp)) > 10_500)
    ids = identifiers(pcp)
    check(len(set(ids.values())) == len(ids), "each metric has an identifier of its own")
    check(all(re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+", name) for name in ids),
          "the names are those of PCP")
    text = pcp.run("pminfo", "-f", "meterbank")
    crowd = text.split("meterbank.crowd.quotes\n")[1].split("\n\n")[0]
    values = values_of(crowd)
    check(len(values) == 10_002, f"{len(values)} instances with names of their own")
    check(len({number for number, _ in values.values()}) == len(values), "and numbers")
    check({int(value) for _, value in values.values()} == set(range(10_000)), "and their values")
    check("\x1b" not in text and "\udcff" not in text, "no control character, no invalid UTF-8")
    pcp.run("pminfo", "-dtTl", "meterbank.crowd")
    archive = os.path.join(place.folder, "hostile")
    config = pcp.write("hostile.conf", "log mandatory on once { meterbank.crowd }\n")
    subprocess.run([pcp.programs["pmlogger"], "-h", pcp.host, "-c", config, "-s", "1", "-l",
                    os.path.join(place.folder, "hostile.log"), archive], env=pcp.environment,
                   check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    check("value 9999" in pcp.run("pmdumplog", archive, "meterbank.crowd.quotes"),
          "pmlogger writes hostile names")
    shop = pcp.run("pminfo", "-f", "meterbank.still_shop.sold")
    check(shop.count(f"value {SOLD}\n") == len(AISLES), f"the shop is still there: {shop}")
    hostile.kill()
    hostile.wait()
    wait_for("end of the hostile metrics", lambda: len(identifiers(pcp)) < 100)


def check_dbpmda(pcp):
    """What pmcd asks, by hand."""
    namespace = os.path.join(pcp.folder, "pmns")
    commands = (f"open pipe {' '.join(pcp.pmda)}\ngetdesc on\nchildren meterbank\n"
                "pmid meterbank.still_shop.sold\nclose\nquit\n")
    text = pcp.run("dbpmda", "-n", namespace, "-e", stdin=commands, check=False)
    check("non-leaf still_shop" in text, f"dbpmda lists the set: {text}")
    check(re.search(rf"^\s*{DOMAIN}\.\d+\.\d+$", text, re.M), f"dbpmda finds the metric: {text}")


def check_exit_codes(place):
    """Faults are told on standard error, or in the log once there is one."""
    log = os.path.join(place.folder, "by_hand.log")
    for options, code, expected in (
            (["--trust", "us"], 2, "invalid trust: us; try: own, root or everyone"),
            (["-l", log, "-U", "no_such_user"], 3, "no user no_such_user; try:"),
            (["-l", log, "--dir", os.path.join(place.folder, "no_such_directory")], 3, "try:")):
        ended = subprocess.run([place.program("pmdameterbank"), *options], stdin=subprocess.DEVNULL,
                               text=True, capture_output=True, check=False, timeout=30)
        text = ended.stderr
        if code == 3:
            with open(log, encoding="utf-8") as file:
                text += file.read()
        check(ended.returncode == code and "pmdameterbank: " in text and expected in text,
              f"{options}: {ended.returncode} {text}")


def main():
    programs = os.path.abspath(sys.argv[1])
    if not has_pcp():
        print("skipped: no pmcd here; METERBANK_PCP_ROOT says where the package pcp was unpacked")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        place = Place(stack, programs)
        shop = place.shop()
        pcp = place.pmcd()
        try:
            check_descriptions(pcp, place)
            check_labels(pcp, shop)
            check_exit_codes(place)
            check_clients(pcp, place)
            check_dbpmda(pcp)
            check_changes(pcp, place)
            check_converted(pcp, place)
            shop = check_logger(pcp, place, shop)
            check_restarts(pcp, place)
            check_faulty_neighbours(pcp, place, shop)
            check_hostile_names(pcp, place)
            agents = subprocess.run(["ps", "-o", "args=", "--ppid", str(pcp.process.pid)], text=True,
                                    capture_output=True, check=True).stdout
            check("pmdameterbank" in agents, f"pmcd did not give the agent up: {agents}")
        except BaseException:
            print(pcp.logs())
            raise
    print("Performance Co-Pilot reads what meterbank get prints")
    return 0


if __name__ == "__main__":
    sys.exit(main())
