# SPDX-License-Identifier: Apache-2.0
"""Performance counters in shared memory: publish them, and read those of other processes.

    import meterbank

    provider = meterbank.Provider("orders")
    venues = provider.add(meterbank.Counterset(
        "Order Venues", symbol="venues", label="venue", counters=[
            meterbank.Counter("Accepted/sec", symbol="accepted", unit="{order}"),
            meterbank.Counter("Latency", symbol="latency", unit="s", form="distribution",
                              bucket_least=1e-6, bucket_most=10)]))
    eu = venues.create("eu")
    with eu.update() as u:
        u.add("accepted", 1)
        u.record("latency", 0.002)

    catalog = meterbank.Catalog()
    query = catalog.query("venues/*/accepted")
    before, after = query.collect(), query.collect()
    for row in after.since(before):
        for value in row:
            print(value.path, value.cooked, value.unit)

    recording = meterbank.Recording("today.mbr")   # what `meterbank record` has kept
    query = recording.query("venues/*/accepted")
    for moment in recording:
        query.update()
        sample = query.collect()

All objects may be used by several threads. Set-up and reading raise meterbank.Error; counting
raises TypeError, ValueError or OverflowError for a value that does not fit, and nothing else.
"""

from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

from ._meterbank import (
    VALUE_STATUSES,
    Answer,
    BoundCounter,
    Catalog,
    Difference,
    Distribution,
    Error,
    Flaw,
    Instance,
    LeftOut,
    ListedProvider,
    Mark,
    Provider,
    Query,
    Recording,
    Registration,
    Request,
    Row,
    Sample,
    Unmatched,
    Update,
    Value,
    version,
)

__all__ = [
    "VALUE_STATUSES", "Answer", "BoundCounter", "Catalog", "Counter", "Counterset", "Difference",
    "Distribution", "Error", "Flaw", "Instance", "LeftOut", "ListedProvider", "Mark", "Provider",
    "Query", "Recording", "Registration", "Request", "Row", "Sample", "Unmatched", "Update",
    "Value", "version",
]

__version__ = version()


@dataclass
class Counter:
    """What one counter of a set is; a dict of the same members does as well. None: the default.

    type       how readers make a number of it: 'bulk_count' (a rate), 'large_raw_count' (a gauge),
               'text', ...: the names of mb_counter_type in lower case
    form       what is stored: 'unsigned', 'signed', 'real', 'text', 'distribution'
    aggregate  what readers make of several instances: 'sum', 'average', 'minimum', 'maximum'
    base, time, frequency, multi
               the counter that this one is linked to: its symbol, name or id
    bucket_*   of a distribution: the values that are told apart, in 2**bucket_scale buckets for
               each factor of two (default: 3)
    """

    name: str
    symbol: str
    unit: Optional[str] = None
    help: Optional[str] = None
    id: Optional[int] = None  # default: the position, from 1
    type: Optional[str] = None  # default: by form
    form: Optional[str] = None  # default: 'text' of that type, else 'unsigned'
    aggregate: Optional[str] = None
    scale: Optional[int] = None
    detail: Optional[int] = None
    attributes: Optional[int] = None
    timed: bool = False  # keeps when it was set; gauges and texts
    text_bytes: Optional[int] = None  # default: 64
    bucket_least: Optional[float] = None
    bucket_most: Optional[float] = None
    bucket_scale: Optional[int] = None
    base: Union[str, int, None] = None
    time: Union[str, int, None] = None
    frequency: Union[str, int, None] = None
    multi: Union[str, int, None] = None


@dataclass
class Counterset:
    """What one set is; a dict of the same members does as well.

    kind       'block' (an update of several counters is one commit), 'independent' (each counter
               by itself), 'sharded' (threads of other languages count it, too; no gauges or
               texts), 'sharded_independent'
    instances  'multiple', 'single', 'global_aggregate', 'multiple_aggregate',
               'global_aggregate_history'
    guid       text form or uuid.UUID; default: made of the names of provider and set
    """

    name: str
    symbol: str
    counters: Sequence[Any] = ()
    help: Optional[str] = None
    label: Optional[str] = None  # what one instance is: 'venue'
    kind: str = "block"
    instances: str = "multiple"
    guid: Any = None
    provider_guid: Any = None
    many: bool = False  # many instances, written by one thread
    no_checkpoint: bool = False
    stamped: bool = False  # Update.stamp() says when the values were true
    cuts: bool = False  # readers can have all instances as of one moment
    by_processor: bool = False
    name_and_id: bool = False  # names and ids may repeat; only both together are new
    shards: Optional[int] = None
