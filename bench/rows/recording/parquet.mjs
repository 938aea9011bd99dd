// SPDX-License-Identifier: Apache-2.0
//
// Question: how much smaller is a recording than a Parquet file with zstd of the same values?
// Budget: a third of it.
//
//   npm install --no-save parquet-wasm@0.8.0 apache-arrow@21
//   docs/examples/read_recording.py FILE.mbr > FILE.tsv; node bench/rows/recording/parquet.mjs FILE.tsv FILE.mbr
//
// A table has a row for each moment and a column for each counter of each instance, which is what
// suits Parquet best: one row group, pages as long as they may be. The script writes it with
// dictionaries and with differences (DELTA_BINARY_PACKED) and prints the sizes of both. Of
// distributions, the table has what read_recording.py prints, which is less than the recording.
import { readFileSync, statSync } from "node:fs";
import * as arrow from "apache-arrow";
import { Compression, Encoding, Table, WriterPropertiesBuilder, writeParquet } from "parquet-wasm";

const MOST_SIGNED = 2n ** 63n;
const WHOLE = /^-?\d+$/;

function columnsOf(path) {
  const moments = new Map(), columns = new Map();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const [time, provider, name, value] = line.split("\t");
    if (value === undefined) continue;
    if (!moments.has(time)) moments.set(time, moments.size);
    const key = `${provider}:${name}`;
    if (!columns.has(key)) columns.set(key, []);
    columns.get(key)[moments.get(time)] = value;
  }
  return { moments, columns };
}

// The narrowest type that has all of the values; a moment without one is null.
function vectorOf(values, count) {
  const all = Array.from({ length: count }, (_, index) => values[index] ?? null);
  const known = all.filter((value) => value !== null);
  if (known.every((value) => WHOLE.test(value))) {
    const numbers = all.map((value) => (value === null ? null : BigInt(value)));
    const isUnsigned = numbers.some((value) => value !== null && value >= MOST_SIGNED);
    return arrow.vectorFromArray(numbers, isUnsigned ? new arrow.Uint64() : new arrow.Int64());
  }
  if (known.every((value) => value !== "" && !Number.isNaN(Number(value)))) {
    return arrow.vectorFromArray(all.map((value) => (value === null ? null : Number(value))), new arrow.Float64());
  }
  return arrow.vectorFromArray(all, new arrow.Utf8());
}

function sizeOf(table, encoding) {
  const bytes = arrow.tableToIPC(table, "stream");
  let writer = new WriterPropertiesBuilder().setCompression(Compression.ZSTD).setMaxRowGroupSize(1 << 24);
  if (encoding !== undefined) {
    writer = writer.setDictionaryEnabled(false);
    for (const field of table.schema.fields) {
      const isWhole = arrow.DataType.isInt(field.type);
      writer = writer.setColumnEncoding(field.name, isWhole ? encoding : Encoding.PLAIN);
    }
  }
  return writeParquet(Table.fromIPCStream(bytes), writer.build()).length;
}

const [text, recording] = process.argv.slice(2);
const { moments, columns } = columnsOf(text);
const vectors = { time: arrow.vectorFromArray([...moments.keys()].map((time) => BigInt(time.replace(".", ""))), new arrow.Int64()) };
let number = 0;
for (const values of columns.values()) vectors[`c${number++}`] = vectorOf(values, moments.size);
const table = new arrow.Table(vectors);
const ours = statSync(recording).size;
const dictionaries = sizeOf(table), differences = sizeOf(table, Encoding.DELTA_BINARY_PACKED);
console.log(`${moments.size} moments of ${columns.size} columns`);
for (const [name, bytes] of [["recording", ours], ["Parquet, dictionaries, zstd", dictionaries],
  ["Parquet, differences, zstd", differences]]) {
  console.log(`${name.padEnd(28)} ${String(bytes).padStart(10)} bytes  ${(bytes / ours).toFixed(2)}`);
}
