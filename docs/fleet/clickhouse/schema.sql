-- SPDX-License-Identifier: Apache-2.0
-- Rows of `meterbank get`, as rows.jq writes them. This works from version 18.16 of ClickHouse on, which has no
-- codecs and no DateTime64. Newer versions store less with LowCardinality(String) for the columns of type String
-- but `raw` and `text`, and with CODEC(Delta, ZSTD) for `time`.
CREATE TABLE IF NOT EXISTS meterbank_samples
(
    node String,
    time DateTime,
    ms UInt16,                  -- of the second
    provider String,
    counterset String,
    instance String,
    instance_id UInt32,
    counter String,
    kind String,
    unit String,
    value Nullable(Float64),    -- null: `status` has the reason
    raw String,                 -- the stored number with all its digits: toUInt64OrZero(raw)
    text String,
    status String,
    buckets Nested              -- of distributions: what was recorded since the last sample
    (
        low Float64,            -- 0 and 0: below the range of the distribution
        high Float64,           -- 1.7976931348623157e308 and the same: above it
        count UInt64
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(time)
ORDER BY (counterset, counter, node, instance, time)
