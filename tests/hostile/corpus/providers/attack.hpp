// SPDX-License-Identifier: Apache-2.0
//
// An attack: a provider that breaks one rule, by name. The runner starts each beside a healthy
// provider and looks at both with every verb. For all of them the same must hold: no reader ends by
// a signal, hangs, takes more memory than the bound, or prints a control byte, and what the healthy
// provider publishes is there and right. What an attack adds to that is in its sentence.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::hostile {

// Where an attack takes place.
enum class Place : std::uint8_t {
  kOwnDirectory,        // the runtime directory of the healthy provider's user
  kSharedDirectory,     // a sticky one; the attacker is another user. Needs root
  kDefaultDirectories,  // METERBANK_DIR is not set, /dev/shm is empty; another user. Needs root
};

// What an attack is given.
class Stage {
 public:
  explicit Stage(std::string directory) : directory_(std::move(directory)) {}

  // Where records go.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  // Says that the fault is in place.
  void ready() const;
  // The same, and then stays until it is killed.
  [[noreturn]] void hold() const;
  // The same, calling `step` as often as possible.
  template <typename Step>
  [[noreturn]] void keep_on(Step&& step) const {
    step();
    ready();
    for (;;) step();
  }
  // The pid of the healthy provider, and the path and text of its record.
  [[nodiscard]] std::uint32_t healthy_pid() const;
  [[nodiscard]] std::string healthy_record_path() const;
  [[nodiscard]] std::string healthy_record() const;

 private:
  std::string directory_;
};

struct Attack {
  std::string_view name;
  std::string_view what;  // what it does, and what must hold
  void (*run)(const Stage& stage);
  // Words of small_reader's last line, any of which proves that the attack takes place, parted by
  // '|'. A word that ends in '>' wants a number greater than zero. Empty: readers cannot tell.
  std::string_view proof = "";
  Place place = Place::kOwnDirectory;
  // What rows that it publishes as any provider may can add to the total of the healthy venues.
  std::uint64_t adds = 0;
  // What readers may take twice besides what they map: what it sends in answers, and logs that hold
  // all rows of a sample.
  std::uint64_t answers = 0;
};

using Attacks = std::span<const Attack>;
[[nodiscard]] Attacks header_attacks();
[[nodiscard]] Attacks extent_attacks();
[[nodiscard]] Attacks directory_attacks();
[[nodiscard]] Attacks size_attacks();
[[nodiscard]] Attacks text_attacks();
[[nodiscard]] Attacks schema_attacks();
[[nodiscard]] Attacks identity_attacks();
[[nodiscard]] Attacks value_attacks();
[[nodiscard]] Attacks motion_attacks();
[[nodiscard]] Attacks liveness_attacks();
[[nodiscard]] Attacks record_attacks();
[[nodiscard]] Attacks channel_attacks();
[[nodiscard]] Attacks stranger_attacks();

// All of these, in this order.
[[nodiscard]] std::vector<Attack> all_attacks();

}  // namespace meterbank::hostile
