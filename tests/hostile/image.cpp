// SPDX-License-Identifier: Apache-2.0
#include "image.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::test {

ExactCopy::ExactCopy(std::span<const std::byte> bytes)
    : bytes_(new (std::align_val_t{64}) std::byte[bytes.size()]), size_(bytes.size()) {
  if (!bytes.empty()) std::memcpy(bytes_.get(), bytes.data(), bytes.size());
}

namespace {

// Two images of one size have the same hash only by an accident of one in 2^64, and then one of
// them goes uncounted.
std::uint64_t hash_of(std::span<const std::byte> image) {
  std::uint64_t hash = image.size();
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  std::size_t at = 0;
  for (; at + 8 <= image.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, image.data() + at, 8);
    mix(word);
  }
  for (; at < image.size(); ++at) mix(std::to_integer<std::uint64_t>(image[at]));
  return hash;
}

}  // namespace

DistinctImages::DistinctImages(std::span<const std::byte> undamaged)
    : undamaged_(hash_of(undamaged)) {}

void DistinctImages::note(std::span<const std::byte> image) {
  if (const std::uint64_t hash = hash_of(image); hash != undamaged_) hashes_.push_back(hash);
}

std::size_t DistinctImages::count() {
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  return hashes_.size();
}

std::vector<std::byte> real_image() {
  const TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "image", .directory = directory.path()});
  CountersetSpec line = kOrders;
  CountersetSpec tile = kOrders;
  tile.name = "Tiles";
  tile.symbol = "tiles";
  tile.guid = {};
  tile.many = true;
  CountersetSpec independent = kOrders;
  independent.name = "Independent";
  independent.symbol = "independent";
  independent.guid = {};
  independent.consistency = Consistency::kIndependent;
  auto counters = kVenueCounters;
  counters[2].aggregate = kAggregateSum;
  CountersetSpec sharded = kOrders;
  sharded.name = "Sharded";
  sharded.symbol = "sharded";
  sharded.guid = {};
  sharded.shards = 2;
  sharded.counters = counters;
  const Registration shards = *provider.add(sharded);
  std::vector<ShardedInstance> kept_shards;
  for (const std::string& name : {std::string("eu"), std::string(200, 'n'), std::string("us")}) {
    ShardedInstance instance = *shards.create_sharded_instance(name);
    const auto count = [&instance] {
      for (int i = 0; i < 2000; ++i) instance.add(Venue::kAccepted, 1);
    };
    count();
    std::thread(count).join();
    instance.update([&](ShardValues&) { count(); });  // into the shared block
    kept_shards.push_back(std::move(instance));
  }
  static_cast<void>(shards.create_sharded_instance("closed"));
  std::vector<Instance> kept;
  for (const CountersetSpec& spec : {line, tile, independent}) {
    const Registration set = *provider.add(spec);
    for (const std::string& name : {std::string("eu"), std::string(200, 'n'), std::string("us")}) {
      Instance instance = *set.create_instance(name);
      for (int i = 0; i < 2000; ++i) instance.add(Venue::kAccepted, 1);
      kept.push_back(std::move(instance));
    }
    static_cast<void>(set.create_instance("closed"));
  }
  std::ifstream file(provider.record());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const PointerRecord record = *PointerRecord::parse(text);
  std::vector<std::byte> image(record.bytes);
  const auto count = ::pread(static_cast<int>(record.descriptor), image.data(), image.size(), 0);
  image.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!image.empty() && image.back() == std::byte{0}) image.pop_back();
  image.resize((image.size() + 63) / 64 * 64);
  return image;
}

}  // namespace meterbank::test
