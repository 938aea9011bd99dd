// SPDX-License-Identifier: Apache-2.0
#include "host/process_names.hpp"

#include <utility>

namespace meterbank::host {

ProcessNames::Named ProcessNames::named(const ProcessReading& process) {
  Named fresh;
  fresh.pid = process.pid;
  fresh.start_ticks = process.start_ticks;
  fresh.program = process.name;
  fresh.name = displayable_name(process.name.view()).view();
  fresh.is_plain = !fresh.name.empty() && plain_.insert(fresh.name).second;
  if (!fresh.is_plain) fresh.name += ':' + std::to_string(process.pid);
  return fresh;
}

void ProcessNames::release(const Named& process) {
  if (process.is_plain) plain_.erase(process.name);
}

std::string_view ProcessNames::name_of(const ProcessReading& process) {
  while (position_ < before_.size() && before_[position_].pid < process.pid) {
    release(before_[position_++]);
  }
  if (position_ < before_.size() && before_[position_].pid == process.pid) {
    Named& old = before_[position_++];
    if (old.start_ticks == process.start_ticks && old.program.view() == process.name.view()) {
      now_.push_back(std::move(old));
      return now_.back().name;
    }
    release(old);
  }
  now_.push_back(named(process));
  return now_.back().name;
}

void ProcessNames::end_round() {
  while (position_ < before_.size()) release(before_[position_++]);
  std::swap(before_, now_);
  now_.clear();
  position_ = 0;
}

}  // namespace meterbank::host
