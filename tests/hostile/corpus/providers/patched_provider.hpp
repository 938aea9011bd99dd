// SPDX-License-Identifier: Apache-2.0
//
// Two ways to publish what no library would: an honest provider whose memory is written over, and
// memory made by hand with a record that points at it.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../beside/healthy.hpp"
#include "attack.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::hostile {

// Three rows of two counters.
inline constexpr CountersetSpec kAttacked{.name = "Attacked Set",
                                          .symbol = "attacked_set",
                                          .help = "What an attack publishes.",
                                          .label = "row",
                                          .counters = kLevelCounters};
inline constexpr std::string_view kAttackerName = "attacker";

class PatchedProvider {
 public:
  explicit PatchedProvider(const Stage& stage, const CountersetSpec& spec = kAttacked,
                           const std::vector<std::string>& rows = {"one", "two", "three"},
                           std::string_view name = kAttackerName);

  [[nodiscard]] Provider& provider() noexcept { return provider_; }
  [[nodiscard]] const Registration& set() const noexcept { return set_; }
  [[nodiscard]] std::vector<Instance>& rows() noexcept { return rows_; }

  // Places in its memory, to be written over.
  [[nodiscard]] std::byte* at(Ref ref) const;
  [[nodiscard]] SegmentHeader& header() const;
  [[nodiscard]] std::uint32_t bytes() const noexcept { return bytes_; }  // of extent 0
  [[nodiscard]] RegistrationRecord& registration(std::size_t index = 0) const;
  [[nodiscard]] SchemaHeader& schema() const;
  [[nodiscard]] CounterRecord& counter(std::size_t index) const;
  [[nodiscard]] Ref group_ref() const;
  [[nodiscard]] GroupHeader& group() const;
  [[nodiscard]] BlockForm form() const;
  [[nodiscard]] BlockParts<SharedWord> block(std::uint32_t slot, std::uint32_t shard = 0) const;
  [[nodiscard]] SlotDescriptor& descriptor(std::uint32_t slot) const;
  // Another text for the schema. The first one moves the schema to where there is room.
  void put(TextRef SchemaHeader::*text, std::string_view with);
  void put(std::size_t counter, TextRef CounterRecord::*text, std::string_view with);
  void put_name(std::uint32_t slot, std::string_view with);
  // Says that the directory has changed.
  void announce() const;
  [[nodiscard]] PointerRecord record() const;

 private:
  TextRef keep(std::string_view text);

  Provider provider_;
  Registration set_;
  std::vector<Instance> rows_;
  std::byte* memory_ = nullptr;
  std::uint32_t bytes_ = 0;
  std::uint32_t schema_room_ = 0;  // offset of what is free behind the moved schema; 0: not moved
  std::uint32_t names_ = 0;        // long names are kept here
};

// Memory made by hand.
struct ForgedMemory {
  std::uint64_t bytes = 64 * 1024;
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | 0x0010;  // F_SEAL_FUTURE_WRITE
  std::uint64_t allocated = ~std::uint64_t{0};  // from the beginning; the rest is a hole
  std::uint64_t beyond = 0;                     // allocated behind the end
  unsigned flags = 0;                           // of memfd_create, more than the usual ones
};
// A memfd of this process that begins with `content`.
[[nodiscard]] int forge_memory(const ForgedMemory& options, std::span<const std::byte> content);
// The memory of an honest provider with three rows, with another id.
[[nodiscard]] std::vector<std::byte> honest_image(const Stage& stage,
                                                  const CountersetSpec& spec = kAttacked);
// A record of this process for one of its descriptors.
[[nodiscard]] PointerRecord record_for(int descriptor, std::string_view name = kAttackerName);
void publish(const Stage& stage, const PointerRecord& record);
// A file as it stands. Returns its path.
std::string write_file(const Stage& stage, std::string_view name, std::string_view text);

// Numbers without a pattern, the same in every run.
[[nodiscard]] std::uint64_t any_number();

// Runs `body` in a child, which must call Stage::ready() of the stage it is given and stay; returns
// its pid once it has.
pid_t in_child(const Stage& stage, const std::function<void(const Stage&)>& body);

}  // namespace meterbank::hostile
