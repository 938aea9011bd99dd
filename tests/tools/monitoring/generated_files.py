#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules and dashboards of every manifest of the tree, and of hostile sets, as promtool and the schema of
Grafana's dashboards see them; and alerts of rules under `promtool test rules`.

usage: generated_files.py PATH-OF-METERBANK-GEN PATH-OF-HOSTILE-SETS SOURCE-DIRECTORY
"""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

SKIPPED = 77
MANIFESTS_MIN = 20
# The name in every_meaning.toml.
HOSTILE_NAME = 'Every "Meaning" {{ $labels.job }} \\ ü'


def check(is_true, what):
    if not is_true:
        sys.exit(f"FAILED: {what}")


def run(*arguments, **options):
    return subprocess.run(arguments, text=True, capture_output=True, check=False, **options)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def manifests(source):
    """Those of the tree that describe a provider and are meant to be good."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in ("build", ".git", "bad", "shared")]
        for name in files:
            path = os.path.join(folder, name)
            if not name.endswith((".toml", ".man")):
                continue
            with open(path, "rb") as file:
                text = file.read()
            if re.search(rb"(?m)^\[provider\]|<(\w+:)?provider\b", text) or text[:2] == b"\xff\xfe":
                yield path


def check_rules(path):
    lint = run("promtool", "check", "rules", "--lint-fatal", path)
    check(lint.returncode == 0, f"promtool check rules {path}: {lint.stdout}{lint.stderr}")


def check_dashboard(text, validator, what):
    check(text.isascii() and "\x7f" not in text, f"the dashboard of {what} is printable ASCII")
    dashboard = json.loads(text)
    errors = sorted(validator.iter_errors(dashboard), key=str)
    check(not errors, f"dashboard of {what}: {[e.message for e in errors[:3]]}")
    ids = [panel["id"] for panel in dashboard["panels"]]
    check(ids == list(range(1, len(ids) + 1)), f"panels of {what} are numbered")
    cells = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        mine = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])}
        check(not mine & cells, f"panels of {what} do not overlap")
        check(place["x"] + place["w"] <= 24, f"panels of {what} fit")
        cells |= mine
    return dashboard


def check_schema_refuses(validator, dashboard):
    """The control: the schema finds what is wrong."""
    def breaks(what, change):
        broken = copy.deepcopy(dashboard)
        change(broken)
        check(list(validator.iter_errors(broken)), f"the schema refuses {what}")

    def first(broken, kind):
        return next(panel for panel in broken["panels"] if panel["type"] == kind)

    breaks("a uid of 41 characters", lambda d: d.update(uid="x" * 41))
    breaks("no title", lambda d: d.pop("title"))
    breaks("an unknown key", lambda d: d.update(rows=[]))
    breaks("an unknown panel", lambda d: first(d, "timeseries").update(type="graph"))
    breaks("an unknown unit",
           lambda d: first(d, "timeseries")["fieldConfig"]["defaults"].update(unit="orders"))
    breaks("a panel that is too wide", lambda d: first(d, "heatmap")["gridPos"].update(w=25))
    breaks("a query without text", lambda d: first(d, "table")["targets"][0].pop("expr"))
    breaks("a heatmap of lines", lambda d: first(d, "heatmap")["targets"][0].update(format="table"))
    breaks("a variable of no kind", lambda d: d["templating"]["list"][1].update(type="list"))


def check_promtool_refuses(folder, rules):
    """The control: promtool finds what is wrong."""
    path = os.path.join(folder, "broken.yml")
    for what, old, new in (("a query", "rate(", "rat("), ("a template", "{{ $labels", "{{ labels"),
                           ("YAML", "groups:", "groups: ["), ("a duration", "for: 1m", "for: soon")):
        check(old in rules, f"there is {what} to break")
        write(path, rules.replace(old, new, 1))
        check(run("promtool", "check", "rules", path).returncode != 0, f"promtool refuses {what}")


def check_hostile(folder, program, validator):
    rules = run(program, "rules")
    check(rules.returncode == 0, f"hostile rules: {rules.stderr}")
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\u202e\ufffe]", rules.stdout),
          "hostile rules have no hidden characters")
    path = os.path.join(folder, "hostile.yml")
    write(path, rules.stdout)
    check_rules(path)
    names = re.findall(r"(?m)^  - name: (.*)$", rules.stdout)
    check(len(names) == 11, f"each hostile set has one group: {names}")
    check_dashboard(run(program, "dashboard").stdout, validator, "hostile sets")


PROMTOOL_TEST = """
rule_files: [{rules}]
evaluation_interval: 1m
tests:
{tests}
"""


def alert_test(name, series, at, alerts):
    lines = [f"  - name: {name}", "    interval: 1m", "    input_series:"]
    for labels, values in series:
        lines += [f"      - series: '{labels}'", f"        values: '{values}'"]
    lines.append("    alert_rule_test:")
    for alert in ("MeterbankProviderEnded", "MeterbankProviderHung", "MeterbankSetMissing",
                  "MeterbankAgentDown"):
        lines += [f"      - eval_time: {at}", f"        alertname: {alert}"]
        found = [each for each in alerts if each[0] == alert]
        lines.append("        exp_alerts:" if found else "        exp_alerts: []")
        for _, labels, summary, description in found:
            lines += [f"          - exp_labels: {json.dumps(labels)}",
                      f"            exp_annotations: {json.dumps({'summary': summary, 'description': description})}"]
    return "\n".join(lines)


def check_alerts(folder, rules_path, with_name=HOSTILE_NAME):
    """Whether promtool finds the alerts that are expected, with the text of the set as it is."""
    target = 'job="x", instance="a:1"'
    shop = f'{target}, provider="shop"'
    row = (f'meterbank_every_meaning_sold_total{{{shop}, aisle="fruit"}}', "0+1x5 stale")
    other = (f'meterbank_every_meaning_sold_total{{job="x", instance="b:1", provider="shop"}}',
             "0+1x60")
    door = ('meterbank_one_row_opened_total{job="x", instance="b:1", provider="shop"}', "0+1x60")
    dead = (f'meterbank_provider_info{{{shop}, pid="7", state="dead"}}', "_x6 1x5")
    down = (f'meterbank_provider_up{{{shop}, pid="7"}}', "1x5 0x5")
    successor = (f'meterbank_provider_up{{{shop}, pid="8"}}', "_x6 1x5")
    stranger = (f'meterbank_provider_info{{{target}, provider="else", pid="9", state="dead"}}', "1x20")
    hung = (f'meterbank_provider_info{{{shop}, pid="7", state="hung"}}', "_x6 1x9")
    labels = {"severity": "warning", "counterset": "every_meaning", "job": "x",
              "instance": "a:1", "provider": "shop", "pid": "7"}
    ended = ("MeterbankProviderEnded", labels, "Provider shop (7) on a:1 has ended.",
             f"The process ended without closing its counters of {with_name}, and no other provider has "
             "taken its name. The agent shows an ended provider for five minutes, so this alert ends by "
             "itself.")
    frozen = ("MeterbankProviderHung", labels, "Provider shop (7) on a:1 does not respond.",
              "The process runs, but its heartbeat has stopped: it may be stopped or frozen. Its "
              f"counters of {with_name} keep their last values.")
    missing = ("MeterbankSetMissing", {"severity": "warning", "counterset": "every_meaning"},
               f"No provider has counters of {with_name}.",
               "No page that Prometheus has scraped in the last ten minutes has a row of "
               f"{with_name}. Providers may have ended, or have no instance.")
    agent = ("MeterbankAgentDown", {"severity": "warning", "job": "x", "instance": "a:1"},
             "Prometheus cannot scrape meterbank-agent on a:1.",
             "There are no values of the providers of this machine. The services themselves do not need "
             "the agent.")
    scrapes = (f'up{{{target}}}', "1x5 0x20")
    skew = (f'meterbank_snapshot_skew_seconds{{{target}}}', "0x5 stale")
    tests = [
        alert_test("fires a minute after the provider ended", [row, other, door, dead, down], "8m", [ended]),
        alert_test("waits before it fires", [row, other, door, dead, down], "6m", []),
        alert_test("a successor ends it", [row, other, door, dead, down, successor], "8m", []),
        alert_test("a provider of other sets does not matter", [row, other, door, stranger], "20m", []),
        alert_test("a frozen provider", [row, other, door, hung], "9m", [frozen]),
        alert_test("no row anywhere", [row, door], "17m", [missing]),
        alert_test("an agent that is gone", [row, other, door, scrapes, skew], "12m", [agent]),
        alert_test("another target that is gone", [row, other, door, scrapes], "12m", []),
    ]
    path = os.path.join(folder, "alerts.yml")
    write(path, PROMTOOL_TEST.format(rules=rules_path, tests="\n".join(tests)))
    return run("promtool", "test", "rules", path)


def main():
    generator, hostile, source = sys.argv[1:]
    if shutil.which("promtool") is None or jsonschema is None:
        print("skipped: no promtool or no python3-jsonschema here")
        return SKIPPED
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "grafana_dashboard.schema.json"), encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "set.rules.yml")
        board = os.path.join(folder, "set.dashboard.json")
        count = 0
        for manifest in manifests(source):
            made = run(generator, manifest, "--rules", rules, "--dashboard", board)
            check(made.returncode == 0, f"{manifest}: {made.stderr}")
            check_rules(rules)
            with open(board, encoding="utf-8") as file:
                check_dashboard(file.read(), validator, manifest)
            again = run(generator, manifest, "--dashboard", "-")
            with open(board, encoding="utf-8") as file:
                check(again.stdout == file.read(), f"{manifest} gives the same bytes again")
            count += 1
        check(count >= MANIFESTS_MIN, f"found {count} manifests")
        check_hostile(folder, hostile, validator)
        meanings = os.path.join(here, "every_meaning.toml")
        run(generator, meanings, "--rules", rules, "--dashboard", board)
        with open(board, encoding="utf-8") as file:
            check_schema_refuses(validator, json.load(file))
        with open(rules, encoding="utf-8") as file:
            check_promtool_refuses(folder, file.read())
        # Alerts name counters of the agent: they are those of its manifest.
        run(generator, os.path.join(source, "tools", "agent", "agent.toml"), "--rules", rules)
        with open(rules, encoding="utf-8") as file:
            recordings = "\n".join(re.findall(r"- record: .*\n.*\n(.*)", agent_rules := file.read()))
        for name in re.findall(r"meterbank_agent_\w+", agent_rules.split("- name: meterbank_agent_")[0]):
            check(f"({name}[" in recordings, f"the agent counts {name}")
        run(generator, meanings, "--rules", rules)
        alerts = check_alerts(folder, rules)
        check(alerts.returncode == 0, f"promtool test rules: {alerts.stdout}{alerts.stderr}")
        # The control: another text is another alert.
        check(check_alerts(folder, rules, "Every").returncode != 0, "promtool compares the texts")
    print(f"rules and dashboards of {count} manifests are clean")
    return 0


if __name__ == "__main__":
    sys.exit(main())
