#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/fleet/clickhouse: a ClickHouse that is filled with what meterbank get prints on a hundred simulated
nodes.

usage: clickhouse_recipe.py METERBANK METERBANK-AGENT SIMULATED-NODES DOCS-FLEET
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

from fleet import (ERROR, NODES, NUMBERS, SKIPPED, SLOW_NODES, Fleet, check, check_percentile,
                   check_wrong, free_port, make_orders, percentile, running, wait_for)

SERVER = "/usr/sbin/clickhouse-server"
CONFIG = """<yandex>
  <logger><level>error</level><console>1</console></logger>
  <tcp_port>{port}</tcp_port>
  <listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <users_config>{folder}/config.xml</users_config>
  <mark_cache_size>67108864</mark_cache_size>
  <users><default>
    <password></password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota>
  </default></users>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
</yandex>
"""
IN_TIME = "time > now() - 300"


class ClickHouse:
    def __init__(self, stack, folder):
        self.port = free_port()
        self.options = ["--host", "127.0.0.1", "--port", str(self.port)]
        config = os.path.join(folder, "config.xml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(port=self.port, folder=folder))
        self.process = stack.enter_context(running(
            [SERVER, f"--config-file={config}"], cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))
        wait_for("ClickHouse", lambda: self.run("SELECT 1") == "1\n")

    def run(self, statement, data=None):
        """What it answers, as lines with tabs; None if there is an error."""
        result = subprocess.run(["clickhouse-client", *self.options, "--query", statement],
                                input=data, text=True, capture_output=True, check=False)
        self.error = result.stderr
        return result.stdout if result.returncode == 0 else None

    def must(self, statement, data=None):
        answer = self.run(statement, data)
        check(answer is not None, f"ClickHouse takes {statement[:60]}: {self.error}")
        return answer


def read(recipe, name):
    with open(os.path.join(recipe, name), encoding="utf-8") as file:
        return file.read()


def load(server, recipe, names, lines):
    """The first node by load.sh, the others in one go by what load.sh does."""
    environment = {**os.environ, "NODE": names[0]}
    result = subprocess.run(["sh", os.path.join(recipe, "load.sh"), *server.options],
                            input="".join(lines[0]), text=True, capture_output=True, check=False,
                            env=environment)
    check(result.returncode == 0, f"load.sh: {result.stderr}")
    rows = [subprocess.run(["jq", "-c", "-f", os.path.join(recipe, "rows.jq")],
                           input="".join(of_node), text=True, capture_output=True, check=True,
                           env={**os.environ, "NODE": name}).stdout
            for name, of_node in zip(names[1:], lines[1:])]
    server.must("INSERT INTO meterbank_samples FORMAT JSONEachRow", "".join(rows))


def check_values(server, fleet):
    answer = server.must("SELECT node, instance, counter, argMax(raw, (time, ms)) "
                         "FROM meterbank_samples WHERE raw != '' GROUP BY node, instance, counter")
    stored = {}
    for line in answer.splitlines():
        node, venue, counter, raw = line.split("\t")
        stored[node, venue, counter] = int(raw)
    expected = fleet.raw_of_all()
    check(len(expected) == NODES * 2 * (len(NUMBERS) + 1), f"{len(expected)} values")
    wrong = [key for key, value in expected.items() if stored.get(key) != value]
    check(not wrong, f"all values are those of meterbank get --raw, to the last digit: {wrong[:3]}")


def p99(server, statement):
    return float(server.must(statement).split("\t")[-1])


def main():
    command_line, _, program, docs = sys.argv[1:]
    recipe = os.path.join(docs, "clickhouse")
    for needed in (SERVER, "clickhouse-client", "jq"):
        if shutil.which(needed) is None:
            print(f"skipped: no {needed} here")
            return SKIPPED
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        fleet = Fleet(stack, command_line, program, folder)
        server = ClickHouse(stack, folder)
        for _ in range(2):  # the second time, the table is there
            server.must(read(recipe, "schema.sql"))
        # What was there before belongs to the first sample of a run, and is not counted.
        fleet.take([(node, 0, 1.0) for node in range(NODES)])
        orders = make_orders()
        lines = fleet.lines_of(stack, orders)
        load(server, recipe, fleet.names, lines)
        check_values(server, fleet)
        latencies = [seconds for _, _, seconds in orders]
        statement = read(recipe, "p99.sql")
        answer = p99(server, statement)
        check_percentile(answer, latencies, "ClickHouse, merged buckets")
        check(abs(answer / percentile(latencies, 0.99) - 1) <= ERROR * (1 + 1e-9),
              f"within {ERROR:.4f} of it")
        check(IN_TIME in statement, "the statement has a condition that controls can add to")
        left_out = fleet.names[SLOW_NODES[0]]
        check_wrong(p99(server, statement.replace(IN_TIME, f"{IN_TIME} AND node != '{left_out}'")),
                    latencies, "one node left out")
        each = [p99(server, statement.replace(IN_TIME, f"{IN_TIME} AND node = '{name}'"))
                for name in (fleet.names[0], fleet.names[SLOW_NODES[0]])]
        check_wrong((each[0] * (NODES - 2) + each[1] * 2) / NODES, latencies,
                    "mean of the percentiles of nodes")
    print("the recipe for ClickHouse works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
