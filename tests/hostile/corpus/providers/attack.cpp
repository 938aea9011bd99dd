// SPDX-License-Identifier: Apache-2.0
#include "attack.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::hostile {

void Stage::ready() const {
  constexpr std::string_view kWord = "ready\n";
  if (::write(STDOUT_FILENO, kWord.data(), kWord.size()) < 0) ::_exit(1);
}

void Stage::hold() const {
  ready();
  for (;;) ::pause();
}

std::string Stage::healthy_record_path() const {
  for (const auto& item : std::filesystem::directory_iterator(directory_)) {
    const std::string name = item.path().filename();
    if (name.starts_with("healthy@") && name.ends_with(kPointerRecordSuffix)) return item.path();
  }
  throw std::runtime_error("no healthy provider in " + directory_);
}

std::string Stage::healthy_record() const {
  std::ifstream file(healthy_record_path());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint32_t Stage::healthy_pid() const { return PointerRecord::parse(healthy_record())->pid; }

std::vector<Attack> all_attacks() {
  std::vector<Attack> all;
  for (const auto attacks :
       {header_attacks, extent_attacks, directory_attacks, size_attacks, text_attacks,
        schema_attacks, identity_attacks, value_attacks, motion_attacks, liveness_attacks,
        record_attacks, channel_attacks, stranger_attacks}) {
    all.insert(all.end(), attacks().begin(), attacks().end());
  }
  return all;
}

}  // namespace meterbank::hostile
