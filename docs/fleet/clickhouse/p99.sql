-- SPDX-License-Identifier: Apache-2.0
-- The 99th percentile of all nodes over the last five minutes. The bounds of buckets are the same on every node,
-- so buckets are added first, and the percentile is that of the sum. It is taken in the middle of its bucket, where
-- the error is the same on both sides: at most `error` of `meterbank get -f json`, 2.2 % at scale 4.
SELECT
    arraySort(bucket -> bucket.1, groupArray((low, high, orders))) AS sorted,
    arrayCumSum(arrayMap(bucket -> bucket.3, sorted)) AS up_to,
    arrayFirstIndex(number -> number * 100 >= 99 * sum(orders), up_to) AS place,
    sorted[place].1 AS bucket_low,
    sorted[place].2 AS bucket_high,
    if(bucket_low = bucket_high, bucket_low, 2 * bucket_low * bucket_high / (bucket_low + bucket_high)) AS p99
FROM
(
    SELECT low, high, sum(n) AS orders
    FROM meterbank_samples
    ARRAY JOIN buckets.low AS low, buckets.high AS high, buckets.count AS n
    WHERE counterset = 'demo_orders' AND counter = 'latency' AND time > now() - 300
    GROUP BY low, high
)
