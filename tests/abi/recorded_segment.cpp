// SPDX-License-Identifier: Apache-2.0
#include "recorded_segment.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <ios>
#include <iterator>

#include "../support/own_record.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::test {
namespace {

enum class Venue : std::uint32_t { kAccepted, kFill, kLatency, kState };

constexpr std::array kVenueCounters{
    CounterSpec{.id = 1,
                .name = "Accepted",
                .symbol = "accepted",
                .type = CounterType::kLargeRawCount,
                .unit = "{order}",
                .help = "Orders accepted."},
    CounterSpec{.id = 2,
                .name = "Fill",
                .symbol = "fill",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kReal},
    CounterSpec{.id = 3,
                .name = "Latency",
                .symbol = "latency",
                .type = CounterType::kLargeRawCount,
                .unit = "s",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 0, .least = 0.001, .most = 1}},
    CounterSpec{.id = 4,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .text_bytes = 16},
};
constexpr CountersetSpec kVenues{.name = "Recorded",
                                 .symbol = "recorded",
                                 .help = "What readers of later versions must understand.",
                                 .label = "venue",
                                 .counters = kVenueCounters};

constexpr std::array kWaveCounters{CounterSpec{
    .id = 1, .name = "Height", .symbol = "height", .type = CounterType::kLargeRawCount}};
constexpr CountersetSpec kWaves{.name = "Recorded Waves",
                                .symbol = "recorded_waves",
                                .identity = InstanceIdentity::kNameAndId,
                                .counters = kWaveCounters};

}  // namespace

SegmentWords read_words(std::istream& text) {
  std::uint64_t position = 0, value = 0;
  text >> std::hex >> position;
  SegmentWords words(position);
  while (text >> position >> value) words.at(position) = value;
  return words;
}

SegmentWords record_provider() {
  const TemporaryDirectory directory;
  // Without a heartbeat, or it would be hung when it is published again.
  auto provider =
      *Provider::create({.name = kRecordedName, .directory = directory.path(), .heartbeat = {}});
  const Registration venues = *provider.add(kVenues);
  Instance eu = *venues.create_instance("eu");
  eu.add(Venue::kAccepted, 1000);
  eu.gauge(Venue::kFill).set(-2.5);
  eu.recorder(Venue::kLatency).record(0.01);
  eu.recorder(Venue::kLatency).record(0.02);
  eu.text(Venue::kState).set(kRecordedText);
  Instance us = *venues.create_instance("us");
  us.add(Venue::kAccepted, 1);
  us.gauge(Venue::kFill).set(0.5);
  us.recorder(Venue::kLatency).record(2);
  const Registration waves = *provider.add(kWaves);
  Instance one = *waves.create_instance("wave", {.id = 1});
  one.set(0, 10);
  Instance two = *waves.create_instance("wave", {.id = 2});
  two.set(0, 20);
  std::ifstream file(provider.record());
  const PointerRecord record =
      *PointerRecord::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  SegmentWords words(record.bytes / sizeof(std::uint64_t));
  const auto read = ::pread(static_cast<int>(record.descriptor), words.data(), record.bytes, 0);
  if (read != static_cast<::ssize_t>(record.bytes)) words.clear();
  return words;
}

RecordedProvider::RecordedProvider(const SegmentWords& words, std::uint16_t layout_minor,
                                   std::optional<std::uint32_t> header_bytes)
    : layout_minor_(layout_minor),
      extent_(*OwnedExtent::create(kRecordedName, words.size() * sizeof(std::uint64_t))) {
  // All but the magic word, which comes last.
  std::memcpy(extent_.data() + sizeof(std::uint64_t), words.data() + 1,
              (words.size() - 1) * sizeof(std::uint64_t));
  auto* const header = reinterpret_cast<SegmentHeader*>(extent_.data());
  header->layout_minor = layout_minor;
  if (header_bytes) header->header_bytes = *header_bytes;
  header->pid = static_cast<std::uint32_t>(::getpid());
  header->start_time = own_start_time();
  header->boot_id = boot_id();
  header->time_namespace = own_time_namespace();
  header->uid = ::geteuid();
  std::fill(header->owner_mutex.begin(), header->owner_mutex.end(), 0);
  header->extents[0] = {extent_.size(), extent_.inode(),
                        static_cast<std::uint32_t>(extent_.descriptor()), 0};
  header->magic.store(words.front(), std::memory_order_release);  // [P1]
}

PointerRecord RecordedProvider::record() const {
  PointerRecord record = own_record(kRecordedName, extent_);
  record.layout_minor = layout_minor_;
  return record;
}

}  // namespace meterbank::test
