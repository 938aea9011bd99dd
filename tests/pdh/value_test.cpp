// SPDX-License-Identifier: Apache-2.0
//
// Values: formats, statuses, arrays, and that they are the reader's own.
#include <cstdint>
#include <limits>

#include "meterbank/reader.hpp"
#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

class PdhValues : public DisksTest {};

LONGLONG time_of(PDH_HCOUNTER counter) { return raw(counter).SecondValue; }

TEST_F(PdhValues, HaveNoRateAfterTheFirstCollection) {
  OpenQuery query;
  const PDH_HCOUNTER reads = query.add("\\Test Disks(sda)\\Reads/sec");
  const PDH_HCOUNTER queue = query.add("\\Test Disks(sda)\\Queue Length");
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(reads).result, PDH_INVALID_DATA);
  EXPECT_EQ(formatted(reads).status, PDH_CSTATUS_INVALID_DATA);
  EXPECT_EQ(raw(reads).CStatus, PDH_CSTATUS_NEW_DATA);
  EXPECT_EQ(formatted(queue).result, kDone);
}

// What `meterbank get` shows comes from a Query, too. It collects the very moments here, while
// nothing changes.
TEST_F(PdhValues, AreThoseOfTheReaderForTheSameTwoSamples) {
  OpenQuery query;
  std::map<std::string, PDH_HCOUNTER> counters;
  for (const char* const name : {"Reads/sec", "Queue Length", "Avg. Bytes/Read", "% Busy"}) {
    counters[name] = query.add((std::string("\\Test Disks(*)\\") + name).c_str());
  }
  const PDH_HCOUNTER clock = query.add("\\Test Disks(sda)\\Reads/sec");
  const Catalog catalog = *Catalog::open({.directory = directory_.path()});
  Query same = *Query::compile(catalog, {"\\Test Disks(*)\\*"});
  Sample older, newer;
  const auto collect = [&](Sample& sample) {
    ASSERT_EQ(query.collect(), kDone);
    same.collect(sample, Timestamp{static_cast<std::uint64_t>(time_of(clock)), 0});
  };
  count(sda_, 100, 4);
  collect(older);
  count(sda_, 350, 2);
  count(sdb_, 7);
  sda_.update([](Values& values) noexcept { values.set(Disk::kBusy, 1); });
  collect(newer);
  std::size_t compared = 0;
  for (const Row& row : newer.since(older)) {
    for (const Value& value : row) {
      if (!counters.contains(value.name())) continue;
      const Formatted seen = array_of(counters[value.name()])[std::string(row.name())];
      EXPECT_EQ(seen.status == PDH_CSTATUS_NEW_DATA || seen.status == PDH_CSTATUS_VALID_DATA,
                has_value(value.cooked.status))
          << value.path();
      EXPECT_EQ(seen.value, value.cooked.value) << value.path();
      ++compared;
    }
  }
  EXPECT_EQ(compared, 8U);
}

TEST_F(PdhValues, TellNewFromUnchangedData) {
  OpenQuery query;
  const PDH_HCOUNTER reads = query.add("\\Test Disks(sda)\\Reads/sec");
  const PDH_HCOUNTER queue = query.add("\\Test Disks(sda)\\Queue Length");
  count(sda_, 1, 1);
  ASSERT_EQ(query.collect(), kDone);
  count(sda_, 2, 1);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(reads).status, PDH_CSTATUS_NEW_DATA);
  EXPECT_EQ(formatted(queue).status, PDH_CSTATUS_VALID_DATA);
}

TEST_F(PdhValues, NameWhatWentBackwards) {
  OpenQuery query;
  const PDH_HCOUNTER reads = query.add("\\Test Disks(sda)\\Reads/sec");
  count(sda_, 10);
  ASSERT_EQ(query.collect(), kDone);
  count(sda_, 9);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(reads).result, PDH_CALC_NEGATIVE_VALUE);
  EXPECT_EQ(formatted(reads).status, PDH_CALC_NEGATIVE_VALUE);
}

TEST_F(PdhValues, AreAbsentWhereABaseDidNotMove) {
  OpenQuery query;
  const PDH_HCOUNTER bytes = query.add("\\Test Disks(sda)\\Avg. Bytes/Read");
  ASSERT_EQ(query.collect(), kDone);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(bytes).result, PDH_INVALID_DATA);
  EXPECT_EQ(formatted(bytes).status, PDH_CSTATUS_INVALID_DATA);
}

PDH_FMT_COUNTERVALUE in(PDH_HCOUNTER counter, DWORD format) {
  PDH_FMT_COUNTERVALUE value{};
  EXPECT_EQ(PdhGetFormattedCounterValue(counter, format, nullptr, &value), kDone);
  return value;
}

TEST_F(PdhValues, ComeInEachFormat) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  clock_.update([](Values& values) noexcept { values.set(0, 12'345); });
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(in(ticks, PDH_FMT_LONG).longValue, 12'345);
  EXPECT_EQ(in(ticks, PDH_FMT_LARGE).largeValue, 12'345);
  EXPECT_EQ(in(ticks, PDH_FMT_DOUBLE).doubleValue, 12'345.0);
  EXPECT_EQ(in(ticks, PDH_FMT_LARGE | PDH_FMT_1000).largeValue, 12'345'000);
  EXPECT_EQ(in(ticks, PDH_FMT_LARGE | PDH_FMT_NODATA).largeValue, 0);
  EXPECT_EQ(in(ticks, PDH_FMT_LARGE | PDH_FMT_NODATA).CStatus, PDH_CSTATUS_NEW_DATA);
  ASSERT_EQ(PdhSetCounterScaleFactor(ticks, -2), kDone);
  EXPECT_EQ(in(ticks, PDH_FMT_LONG).longValue, 123);
  EXPECT_EQ(in(ticks, PDH_FMT_DOUBLE).doubleValue, 123.45);
  EXPECT_EQ(in(ticks, PDH_FMT_LONG | PDH_FMT_NOSCALE).longValue, 12'345);
}

TEST_F(PdhValues, EndAtTheRangeOfTheirFormat) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  clock_.update([](Values& values) noexcept { values.set(0, ~std::uint64_t{0}); });
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(in(ticks, PDH_FMT_LONG).longValue, std::numeric_limits<LONG>::max());
  EXPECT_EQ(in(ticks, PDH_FMT_LARGE).largeValue, std::numeric_limits<LONGLONG>::max());
}

TEST_F(PdhValues, RefuseUnknownFormats) {
  OpenQuery query;
  const PDH_HCOUNTER ticks = query.add("\\Test Clock\\Ticks");
  ASSERT_EQ(query.collect(), kDone);
  for (const DWORD format : {DWORD{0}, PDH_FMT_RAW, PDH_FMT_ANSI, PDH_FMT_UNICODE, PDH_FMT_NOSCALE,
                             PDH_FMT_LONG | PDH_FMT_DOUBLE, PDH_FMT_LONG | DWORD{1}}) {
    EXPECT_EQ(formatted(ticks, format).result, PDH_INVALID_ARGUMENT) << format;
    DWORD bytes = 0, count = 0;
    EXPECT_EQ(PdhGetFormattedCounterArrayA(ticks, format, &bytes, &count, nullptr),
              PDH_INVALID_ARGUMENT);
  }
}

TEST_F(PdhValues, AreCappedAtAHundredPerCentUnlessToldNotTo) {
  OpenQuery query;
  const PDH_HCOUNTER busy = query.add("\\Test Disks(sda)\\% Busy");
  ASSERT_EQ(query.collect(), kDone);
  sda_.update([](Values& values) noexcept { values.set(Disk::kBusy, std::uint64_t{1} << 60); });
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(busy).value, 100.0);
  EXPECT_GT(formatted(busy, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100).value, 100.0);
}

TEST_F(PdhValues, KeepTheirSign) {
  OpenQuery query;
  const PDH_HCOUNTER temperature = query.add("\\Test Disks(sda)\\Temperature");
  sda_.update([](Values& values) noexcept {
    values.set(Disk::kTemperature, static_cast<std::uint64_t>(-20));
  });
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(in(temperature, PDH_FMT_LONG).longValue, -20);
  EXPECT_EQ(raw(temperature).FirstValue, -20);
}

TEST_F(PdhValues, AreOneAWildcardOnlyInArrays) {
  OpenQuery query;
  const PDH_HCOUNTER all = query.add("\\Test Disks(*)\\Queue Length");
  const PDH_HCOUNTER one = query.add("\\Test Disks(sdb)\\Queue Length");
  const PDH_HCOUNTER single = query.add("\\Test Clock\\Ticks");
  count(sda_, 0, 1);
  count(sdb_, 0, 2);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(all).result, PDH_INVALID_ARGUMENT);
  PDH_RAW_COUNTER value{};
  EXPECT_EQ(PdhGetRawCounterValue(all, nullptr, &value), PDH_INVALID_ARGUMENT);
  const auto both = array_of(all);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both.at("sda").value, 1.0);
  EXPECT_EQ(both.at("sdb").value, 2.0);
  EXPECT_EQ(array_of(one).at("sdb").value, 2.0);
  EXPECT_EQ(array_of(single).at("").value, 0.0);
}

TEST_F(PdhValues, OfArraysNeedRoomForAllOfThem) {
  OpenQuery query;
  const PDH_HCOUNTER all = query.add("\\Test Disks(*)\\Queue Length");
  DWORD bytes = 0, count = 0;
  EXPECT_EQ(PdhGetRawCounterArrayA(all, &bytes, &count, nullptr), PDH_INVALID_DATA);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(PdhGetRawCounterArrayA(all, nullptr, &count, nullptr), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhGetRawCounterArrayA(all, &bytes, nullptr, nullptr), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhGetRawCounterArrayA(all, &bytes, &count, nullptr), PDH_MORE_DATA);
  EXPECT_EQ(bytes, 2 * sizeof(PDH_RAW_COUNTER_ITEM_A) + 2 * sizeof("sda"));
  EXPECT_EQ(count, 2U);
  DWORD too_few = bytes - 1;
  std::vector<std::max_align_t> room(bytes);
  auto* const items = reinterpret_cast<PDH_RAW_COUNTER_ITEM_A*>(room.data());
  EXPECT_EQ(PdhGetRawCounterArrayA(all, &too_few, &count, items), PDH_MORE_DATA);
  EXPECT_EQ(items[0].szName, nullptr);
  EXPECT_EQ(too_few, bytes);
  EXPECT_EQ(PdhGetRawCounterArrayA(all, &bytes, &count, items), kDone);
  EXPECT_STREQ(items[1].szName, "sdb");
  EXPECT_EQ(PdhGetRawCounterArrayA(all, &bytes, &count, nullptr), PDH_INVALID_ARGUMENT);
}

TEST_F(PdhValues, OfArraysWithoutInstancesAreNoData) {
  OpenQuery query;
  const PDH_HCOUNTER none = query.add("\\Test Disks(x*)\\Queue Length");
  static_cast<void>(query.add("\\Test Clock\\Ticks"));
  ASSERT_EQ(query.collect(), kDone);
  DWORD bytes = 0, count = 0;
  EXPECT_EQ(PdhGetFormattedCounterArrayA(none, PDH_FMT_LONG, &bytes, &count, nullptr), PDH_NO_DATA);
}

TEST_F(PdhValues, OfOneNameAreToldApartByTheirPosition) {
  Provider other = provider("more disks");
  Registration more = *other.add(kDisks);
  Instance namesake = *more.create_instance("sda");
  Instance marked = *more.create_instance("sdb#1");
  count(sda_, 0, 1);
  count(namesake, 0, 2);
  count(marked, 0, 3);
  OpenQuery query;
  const PDH_HCOUNTER all = query.add("\\Test Disks(*)\\Queue Length");
  const PDH_HCOUNTER first = query.add("\\Test Disks(sda)\\Queue Length");
  const PDH_HCOUNTER second = query.add("\\Test Disks(sda#1)\\Queue Length");
  const PDH_HCOUNTER third = query.add("\\Test Disks(sda#2)\\Queue Length");
  const PDH_HCOUNTER every = query.add("\\Test Disks(sda#*)\\Queue Length");
  const PDH_HCOUNTER called_so = query.add("\\Test Disks(sdb#1)\\Queue Length");
  ASSERT_EQ(query.collect(), kDone);
  const auto values = array_of(all);
  EXPECT_EQ(values.at("sda").value + values.at("sda#1").value, 3.0);
  EXPECT_EQ(formatted(first).value, values.at("sda").value);
  EXPECT_EQ(formatted(second).value, values.at("sda#1").value);
  EXPECT_EQ(formatted(third).status, PDH_CSTATUS_NO_INSTANCE);
  EXPECT_EQ(array_of(every).size(), 2U);
  EXPECT_EQ(formatted(called_so).value, 3.0);
}

TEST_F(PdhValues, OfOneNameInOneProviderAreCountedByTheirIds) {
  CountersetSpec spec = kClock;
  spec.name = "Test Waves";
  spec.symbol = "test_waves";
  spec.guid = "{9f0f6f0e-30d1-4c5e-8f8e-0c6f3a1c2b03}"_guid;
  spec.instances = InstanceKind::kMultiple;
  spec.identity = InstanceIdentity::kNameAndId;
  const Registration waves = *provider_.add(spec);
  std::vector<Instance> instances;
  for (const std::uint32_t id : {9U, 5U, 3U}) {
    instances.push_back(*waves.create_instance("wave", {.id = id}));
    instances.back().update([id](Values& values) noexcept { values.set(0, id); });
  }
  OpenQuery query;
  const PDH_HCOUNTER all = query.add("\\Test Waves(*)\\Ticks");
  const PDH_HCOUNTER first = query.add("\\Test Waves(wave)\\Ticks");
  const PDH_HCOUNTER second = query.add("\\Test Waves(wave#1)\\Ticks");
  const PDH_HCOUNTER third = query.add("\\Test Waves(wave#2)\\Ticks");
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(first).value, 3.0);
  EXPECT_EQ(formatted(second).value, 5.0);
  EXPECT_EQ(formatted(third).value, 9.0);
  const auto values = array_of(all);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values.at("wave").value, 3.0);
  EXPECT_EQ(values.at("wave#1").value, 5.0);
  EXPECT_EQ(values.at("wave#2").value, 9.0);
}

class PdhTotals : public PdhTest {
 protected:
  static CountersetSpec spec() {
    CountersetSpec spec = kDisks;
    spec.instances = InstanceKind::kMultipleAggregate;
    return spec;
  }
  Provider provider_ = provider("disks");
  Registration disks_ = *provider_.add(spec());
  Instance sda_ = *disks_.create_instance("sda");
  Instance sdb_ = *disks_.create_instance("sdb");
};

TEST_F(PdhTotals, AreARowOfTheirOwn) {
  OpenQuery query;
  const PDH_HCOUNTER total = query.add("\\Test Disks(_Total)\\Queue Length");
  const PDH_HCOUNTER all = query.add("\\Test Disks(*)\\Queue Length");
  const PDH_HCOUNTER average = query.add("\\Test Disks(_Total)\\Avg. Bytes/Read");
  sda_.set(Disk::kQueue, 2);
  sdb_.set(Disk::kQueue, 3);
  ASSERT_EQ(query.collect(), kDone);
  EXPECT_EQ(formatted(total).value, 5.0);
  EXPECT_EQ(raw(total).FirstValue, 5);
  EXPECT_EQ(array_of(all).at("_Total").value, 5.0);
  EXPECT_EQ(raw(average).CStatus, PDH_CSTATUS_INVALID_DATA) << "a total has no base of its own";
}

}  // namespace
}  // namespace meterbank::test
