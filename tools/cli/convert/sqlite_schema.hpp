// SPDX-License-Identifier: Apache-2.0
//
// The tables and views that docs/conversions.md describes.
#pragma once

namespace meterbank::cli {

inline constexpr const char* kSqliteTables = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA application_id = 1296187985;
PRAGMA user_version = 1;
BEGIN;
CREATE TABLE host (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE provider (id INTEGER PRIMARY KEY, host INTEGER NOT NULL REFERENCES host, name TEXT NOT NULL,
  pid INTEGER NOT NULL, uid INTEGER NOT NULL, container TEXT, pod TEXT, unit TEXT);
CREATE TABLE counterset (id INTEGER PRIMARY KEY, guid TEXT NOT NULL, symbol TEXT NOT NULL, name TEXT NOT NULL,
  help TEXT NOT NULL);
CREATE TABLE instance (id INTEGER PRIMARY KEY, provider INTEGER NOT NULL REFERENCES provider,
  counterset INTEGER NOT NULL REFERENCES counterset, name TEXT NOT NULL, number INTEGER NOT NULL);
CREATE TABLE counter (id INTEGER PRIMARY KEY, counterset INTEGER NOT NULL REFERENCES counterset,
  number INTEGER NOT NULL, symbol TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL,
  unit TEXT NOT NULL, help TEXT NOT NULL);
CREATE TABLE sample (id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, monotonic_ns INTEGER NOT NULL,
  window_ns INTEGER NOT NULL);
CREATE TABLE value (sample INTEGER NOT NULL REFERENCES sample, instance INTEGER NOT NULL REFERENCES instance,
  counter INTEGER NOT NULL REFERENCES counter, value, base, PRIMARY KEY (sample, instance, counter)) WITHOUT ROWID;
CREATE TABLE text (sample INTEGER NOT NULL REFERENCES sample, instance INTEGER NOT NULL REFERENCES instance,
  counter INTEGER NOT NULL REFERENCES counter, value TEXT NOT NULL,
  PRIMARY KEY (sample, instance, counter)) WITHOUT ROWID;
CREATE TABLE distribution (sample INTEGER NOT NULL REFERENCES sample,
  instance INTEGER NOT NULL REFERENCES instance, counter INTEGER NOT NULL REFERENCES counter, sum REAL, least REAL,
  most REAL, below INTEGER NOT NULL, above INTEGER NOT NULL, refused INTEGER NOT NULL,
  PRIMARY KEY (sample, instance, counter)) WITHOUT ROWID;
CREATE TABLE bucket (sample INTEGER NOT NULL REFERENCES sample, instance INTEGER NOT NULL REFERENCES instance,
  counter INTEGER NOT NULL REFERENCES counter, low REAL NOT NULL, high REAL NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (sample, instance, counter, low)) WITHOUT ROWID;
CREATE TABLE status (sample INTEGER NOT NULL REFERENCES sample, instance INTEGER NOT NULL REFERENCES instance,
  status TEXT NOT NULL, PRIMARY KEY (sample, instance)) WITHOUT ROWID;
CREATE VIEW reading AS
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', sample.time_ns / 1000000 / 1e3, 'unixepoch') AS time, sample.time_ns,
    host.name AS host, provider.name AS provider, provider.pid, counterset.symbol AS counterset,
    instance.name AS instance, counter.symbol AS counter, value.value, counter.unit
  FROM value JOIN sample ON sample.id = value.sample JOIN instance ON instance.id = value.instance
    JOIN counter ON counter.id = value.counter JOIN counterset ON counterset.id = counter.counterset
    JOIN provider ON provider.id = instance.provider JOIN host ON host.id = provider.host;
CREATE VIEW rate AS
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', sample.time_ns / 1000000 / 1e3, 'unixepoch') AS time, sample.time_ns,
    host.name AS host, provider.name AS provider, provider.pid, counterset.symbol AS counterset,
    instance.name AS instance, counter.symbol AS counter,
    CASE WHEN value.value >= before.value AND sample.monotonic_ns > earlier.monotonic_ns
      AND NOT EXISTS (SELECT 1 FROM status WHERE status.sample = value.sample
        AND status.instance = value.instance AND status.status = 'dead')
      THEN (value.value - before.value) * 1e9 / (sample.monotonic_ns - earlier.monotonic_ns) END AS rate,
    counter.unit || '/s' AS unit
  FROM counter JOIN counterset ON counterset.id = counter.counterset JOIN value ON value.counter = counter.id
    JOIN value AS before ON before.counter = value.counter AND before.instance = value.instance
      AND before.sample = (SELECT max(older.sample) FROM value AS older WHERE older.counter = value.counter
        AND older.instance = value.instance AND older.sample < value.sample)
    JOIN sample ON sample.id = value.sample JOIN sample AS earlier ON earlier.id = before.sample
    JOIN instance ON instance.id = value.instance JOIN provider ON provider.id = instance.provider
    JOIN host ON host.id = provider.host;
)";

inline constexpr const char* kSqliteEnd = R"(
CREATE INDEX value_by_counter ON value (counter, instance, sample);
COMMIT;
)";

}  // namespace meterbank::cli
