# SPDX-License-Identifier: Apache-2.0
"""Publishes two counters and a distribution, and reads them back."""

import meterbank

VENUES = meterbank.Counterset(
    "Python Venues", symbol="python_venues", label="venue",
    counters=[
        meterbank.Counter("Accepted/sec", symbol="accepted", unit="{order}"),
        meterbank.Counter("Bytes/sec", symbol="bytes", unit="By"),
        meterbank.Counter("Latency", symbol="latency", unit="s", form="distribution",
                          bucket_least=1e-6, bucket_most=10),
    ])

with meterbank.Provider("orders") as provider:
    eu = provider.add(VENUES).create("eu")
    accepted = eu.counter("accepted")
    for _ in range(1000):
        accepted.increment()
    with eu.update() as update:  # one commit; an exception inside leaves the values as they were
        update.add("bytes", 4096)
        update.record("latency", 0.002)

    query = meterbank.Catalog().query("python_venues/eu/*")
    for row in query.collect():
        for value in row:
            if value.distribution is None:
                print(f"{value.path} = {value.raw} {value.unit}")
            else:
                print(f"{value.path}: {value.distribution.count} recorded")
