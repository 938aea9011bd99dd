# SPDX-License-Identifier: Apache-2.0
# Lines of `meterbank get -f jsonl --hist --json-int=string` as rows of schema.sql. The node is that of the
# environment (NODE), or the key of a record that kcat -J prints.
(if has("payload") then {node: .key, sample: (.payload | fromjson)} else {node: env.NODE, sample: .} end)
| .node as $node
| .sample.samples[]
# The first sample of a run has everything since the provider began, and would count that twice.
| select(.kind != "distribution" or .status == "ok")
| (.distribution // {} | [
    (select((.below // "0" | tonumber) > 0) | [0, 0, .below]),
    .buckets[]?,
    (select((.above // "0" | tonumber) > 0) | [1.7976931348623157e308, 1.7976931348623157e308, .above])
  ]) as $buckets
| {
    node: $node,
    time: (.time[0:19] + "Z" | fromdate),
    ms: (.time[20:23] | tonumber),
    provider, counterset: .set, instance, instance_id, counter, kind, unit, value,
    raw: (.raw // "" | tostring),
    text: (.text // ""),
    status,
    "buckets.low": ($buckets | map(.[0])),
    "buckets.high": ($buckets | map(.[1])),
    "buckets.count": ($buckets | map(.[2]))
  }
