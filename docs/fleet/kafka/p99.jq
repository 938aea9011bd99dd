# SPDX-License-Identifier: Apache-2.0
# The 99th percentile of all nodes, from records as kcat -J prints them: buckets are added first, and the
# percentile is taken in the middle of its bucket.
def buckets: .distribution
  | ([0, 0, .below], .buckets[], [1.7976931348623157e308, 1.7976931348623157e308, .above])
  | {low: .[0], high: .[1], orders: (.[2] | tonumber)};

reduce (inputs.payload | fromjson | .samples[]
  # The first sample of a run has everything since the provider began.
  | select(.set == "demo_orders" and .counter == "latency" and .status == "ok") | buckets) as $bucket
  ({}; .["\($bucket.low)"] |= ($bucket + {orders: ($bucket.orders + (.orders // 0))}))
| [.[]] | sort_by(.low)
| (map(.orders) | add) as $all
| reduce .[] as $bucket ({up_to: 0};
    if .bucket == null then .up_to += $bucket.orders else . end
    | if .bucket == null and .up_to * 100 >= 99 * $all then .bucket = $bucket else . end)
| .bucket | {low, high, orders: $all, p99: (if .low == .high then .low else 2 * .low * .high / (.low + .high) end)}
