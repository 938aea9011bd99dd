// SPDX-License-Identifier: Apache-2.0
#include "image.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::test {

ExactCopy::ExactCopy(std::span<const std::byte> bytes)
    : bytes_(new (std::align_val_t{64}) std::byte[bytes.size()]), size_(bytes.size()) {
  if (!bytes.empty()) std::memcpy(bytes_.get(), bytes.data(), bytes.size());
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
  std::vector<Instance> kept;
  for (const CountersetSpec& spec : {line, tile, independent}) {
    const Registration set = *provider.add(spec);
    for (const std::string& name : {std::string("eu"), std::string(200, 'n'), std::string("us")}) {
      Instance instance = *set.create_instance(name);
      for (int i = 0; i < 2000; ++i) instance.add(Venue::accepted, 1);
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
