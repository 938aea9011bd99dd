// SPDX-License-Identifier: Apache-2.0
//
//   meterbank_directory_seeds FOLDER
//
// Writes what the directory fuzzer starts from: a real image, the same cut short, and one patch of
// the real image for each kind of place that a directory has.
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

#include "image.hpp"
#include "meterbank/shm/schema_layout.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::test {
namespace {

bool write(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

// As directory_fuzzer.cpp reads it: offset, length, bytes.
std::vector<std::byte> patch(std::size_t at, std::uint8_t value) {
  return {static_cast<std::byte>(at >> 8), static_cast<std::byte>(at & 0xff), std::byte{1},
          static_cast<std::byte>(value)};
}

bool write_seeds(const std::string& folder) {
  const std::vector<std::byte> image = real_image();
  if (image.size() < sizeof(SegmentHeader)) return false;
  const auto* header = reinterpret_cast<const SegmentHeader*>(image.data());
  // relaxed, all: the bytes are a copy that does not change.
  const std::size_t record = offset_of(header->registrations[0].load(std::memory_order_relaxed));
  const auto* registration = reinterpret_cast<const RegistrationRecord*>(image.data() + record);
  const std::size_t group = offset_of(registration->first_group.load(std::memory_order_relaxed));
  const BlockForm form{.words = registration->words,
                       .lanes = registration->lanes,
                       .checkpoint = registration->checkpoint,
                       .cut_pair = registration->cut_pair,
                       .shards = registration->shards};
  const std::size_t descriptor = group + GroupLayout::of(form, kGroupSlotsFirst).descriptors;
  const std::size_t schema = offset_of(registration->schema);
  bool good = write(folder + "/whole", image) &&
              write(folder + "/cut", std::span(image).first(image.size() / 2));
  const std::size_t places[] = {
      offsetof(SegmentHeader, extents_count),
      offsetof(SegmentHeader, name_bytes),
      record + offsetof(RegistrationRecord, first_group),
      record + offsetof(RegistrationRecord, schema),
      record + offsetof(RegistrationRecord, words),
      record + offsetof(RegistrationRecord, shards),
      schema + offsetof(SchemaHeader, counters),
      schema + sizeof(SchemaHeader) + offsetof(CounterRecord, name),
      group + offsetof(GroupHeader, next),
      group + offsetof(GroupHeader, slots),
      descriptor + offsetof(SlotDescriptor, identity),
      descriptor + offsetof(SlotDescriptor, name),
  };
  for (const std::size_t place : places) {
    good = good && write(folder + "/patch-" + std::to_string(place), patch(place, 1));
  }
  return good;
}

}  // namespace
}  // namespace meterbank::test

int main(int argc, char** argv) {
  if (argc == 2 && meterbank::test::write_seeds(argv[1])) return 0;
  std::fputs("usage: meterbank_directory_seeds FOLDER\n", stderr);
  return 1;
}
