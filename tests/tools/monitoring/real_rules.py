#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules and a dashboard of a running provider in a real Prometheus: the agent makes the bytes that the generator
makes of the manifest, each recording and each panel has results, and alerts fire when the provider hangs and ends.

usage: real_rules.py PATH-OF-METERBANK-GEN PATH-OF-METERBANK-AGENT PATH-OF-BUSY-SHOP MANIFEST
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "agent"))
from real_prometheus import SKIPPED, check, free_port, running  # noqa: E402

WAIT_S = 90
SETS = "set=every_meaning&set=one_row"


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode("utf-8")


def wait_for(what, attempt):
    """What `attempt` returns, once that is true."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            if result := attempt():
                return result
        time.sleep(0.2)
    sys.exit(f"FAILED: no {what} within {WAIT_S} s")


class Prometheus:
    """A server that scrapes the agent and evaluates rules each second."""

    def __init__(self, stack, folder, target, rules):
        self.address = f"http://127.0.0.1:{free_port()}"
        # Alerts that fire after minutes fire after a second here; all else is as it was generated.
        quick, changed = re.subn(r"(?m)^        for: \w+$", "        for: 1s", rules)
        check(changed > 6, "alerts wait before they fire")
        rule_file = os.path.join(folder, "rules.yml")
        with open(rule_file, "w", encoding="utf-8") as file:
            file.write(quick)
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(
                "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
                f"rule_files: ['{rule_file}']\n"
                f"scrape_configs: [{{job_name: x, static_configs: [{{targets: ['{target}']}}]}}]\n")
        stack.enter_context(running(
            ["prometheus", f"--config.file={config}",
             f"--storage.tsdb.path={os.path.join(folder, 'data')}",
             f"--web.listen-address={self.address[7:]}", "--log.level=error",
             "--enable-feature=native-histograms"]))

    def get(self, path):
        return json.loads(fetch(self.address + path))["data"]

    def query(self, text):
        """The series of a query; an error of its syntax ends the test."""
        try:
            return self.get("/api/v1/query?" + urllib.parse.urlencode({"query": text}))["result"]
        except urllib.error.HTTPError as error:
            sys.exit(f"FAILED: {text}: {error.read().decode()}")

    def rules(self):
        return [rule for group in self.get("/api/v1/rules")["groups"] for rule in group["rules"]]

    def alerts(self, state):
        return [alert for alert in self.get("/api/v1/alerts")["alerts"] if alert["state"] == state]


def with_values(text):
    """A query of a dashboard as Grafana sends it when everything is chosen."""
    text = text.replace("$__rate_interval", "10s")
    text, _ = re.subn(r'=~"\$\w+"', '=~".+"', text)
    check("$" not in text, f"each variable is known: {text}")
    return text


def check_same_bytes(generator, agent, manifest):
    """Returns the rules and the dashboard of both sets."""
    made = []
    for kind, content_type in (("rules", "application/yaml"), ("dashboard", "application/json")):
        url = f"http://{agent}/schema/{kind}"
        with urllib.request.urlopen(f"{url}?{SETS}", timeout=10) as answer:
            served = answer.read().decode("utf-8")
            check(answer.headers["Content-Type"] == content_type, f"{kind}: Content-Type")
        generated = subprocess.run([generator, manifest, f"--{kind}", "-"], text=True,
                                   capture_output=True, check=True).stdout
        check(served == generated, f"the agent and the generator make the same {kind}")
        # The control: other sets are other bytes, and a set that is missing is refused.
        check(fetch(f"{url}?set=one_row") != generated, f"{kind} of one set are others")
        check(fetch(url) != generated, f"{kind} of all sets are others")
        try:
            fetch(f"{url}?set=no_such_set")
            check(False, f"{kind} of no set")
        except urllib.error.HTTPError as error:
            check(error.code == 404, f"{kind} of no set: {error.code}")
        made.append(generated)
    return made


def check_recordings(server):
    recordings = [rule for rule in server.rules() if rule["type"] == "recording"]
    check(len(recordings) > 30, f"{len(recordings)} recordings")
    for rule in recordings:
        wait_for(f"result of {rule['name']}",
                 lambda rule=rule: any(is_number(series["value"][1])
                                       for series in server.query(rule["name"])))
    values = {name: float(server.query(f'{name}')[0]["value"][1]) for name in (
        "provider:meterbank_every_meaning_hits:ratio_rate5m",
        "set:meterbank_every_meaning_items_per_customer:mean5m",
        "provider:meterbank_every_meaning_stock:sum",
        "set:meterbank_every_meaning_temperature_celsius:avg",
        "provider:meterbank_every_meaning:rows")}
    check(abs(values["provider:meterbank_every_meaning_hits:ratio_rate5m"] - 0.25) < 0.01 and
          abs(values["set:meterbank_every_meaning_items_per_customer:mean5m"] - 3) < 0.1 and
          values["provider:meterbank_every_meaning_stock:sum"] == 80 and
          values["set:meterbank_every_meaning_temperature_celsius:avg"] == 4.5 and
          values["provider:meterbank_every_meaning:rows"] == 2, f"values: {values}")
    # Half of the values are 0.5 ms, half 2 ms.
    p99 = server.query("set:meterbank_every_meaning_serving_time_milliseconds:p99_5m")
    check(abs(float(p99[0]["value"][1]) / 2 - 1) < 0.1, f"the percentile is {p99}")
    for rule in server.rules():
        check(rule["health"] == "ok", f"{rule['name']}: {rule.get('lastError')}")
    check(not server.query("provider:meterbank_every_meaning:no_such_recording"),
          "a recording that is missing has no result")
    return len(recordings)


def is_number(text):
    return text not in ("NaN", "+Inf", "-Inf")


def has_results(series):
    return any("histogram" in each or is_number(each["value"][1]) for each in series)


def check_panels(server, dashboard):
    queries = 0
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            text = with_values(target["expr"])
            wait_for(f"result of the panel {panel['title']}: {text}",
                     lambda text=text: has_results(server.query(text)))
            queries += 1
            if panel["type"] == "heatmap":
                check("histogram" in server.query(text)[0], "a heatmap shows native histograms")
            labels = set(server.query(text)[0]["metric"])
            for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
                check(label in labels, f"{panel['title']}: the legend has a label {label}")
    for variable in dashboard["templating"]["list"][1:]:
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
        found = {each["metric"].get(label) for each in
                 server.query(f"group by ({label}) ({with_values(series)})")}
        check(found and None not in found, f"the variable {variable['name']} has values: {found}")
    return queries


def firing(server, name):
    return [alert for alert in server.alerts("firing") if alert["labels"]["alertname"] == name and
            alert["labels"].get("counterset") == "every_meaning"]


def check_alerts(server, shop):
    check(not server.alerts("firing"), f"nothing fires while all is well: {server.alerts('firing')}")
    shop.send_signal(signal.SIGSTOP)
    alert = wait_for("alert about the hung provider",
                     lambda: firing(server, "MeterbankProviderHung"))[0]
    check(not firing(server, "MeterbankProviderEnded"), "a provider that hangs has not ended")
    shop.send_signal(signal.SIGCONT)
    wait_for("end of the alert", lambda: not firing(server, "MeterbankProviderHung"))
    shop.kill()
    shop.wait()
    alert = wait_for("alert about the provider that ended",
                     lambda: firing(server, "MeterbankProviderEnded"))[0]
    check(alert["labels"]["provider"] == "shop" and alert["labels"]["pid"] == str(shop.pid),
          f"labels: {alert['labels']}")
    check('Every "Meaning" {{ $labels.job }} \\ ü' in alert["annotations"]["description"],
          f"the name of the set is no template: {alert['annotations']}")
    wait_for("alert about the missing set", lambda: firing(server, "MeterbankSetMissing"))


def main():
    generator, agent, shop_program, manifest = sys.argv[1:]
    if shutil.which("prometheus") is None:
        print("skipped: no prometheus here")
        return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["METERBANK_DIR"] = os.path.join(folder, "run")
        os.mkdir(os.environ["METERBANK_DIR"], 0o700)
        shop = stack.enter_context(running([shop_program], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True))
        shop.stdout.readline()
        address = f"127.0.0.1:{free_port()}"
        stack.enter_context(running([agent, "--listen", address], stderr=subprocess.DEVNULL))
        wait_for("page", lambda: fetch(f"http://{address}/-/ready"))
        rules, dashboard = check_same_bytes(generator, address, manifest)
        server = Prometheus(stack, folder, address, rules)
        wait_for("rules", lambda: server.rules())
        recordings = check_recordings(server)
        queries = check_panels(server, json.loads(dashboard))
        check_alerts(server, shop)
    print(f"{recordings} recordings and {queries} queries of panels have results, and alerts fire")
    return 0


if __name__ == "__main__":
    sys.exit(main())
