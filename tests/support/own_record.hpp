// SPDX-License-Identifier: Apache-2.0
//
// The record of memory of this process, for tests that publish without the publisher library.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>

#include "meterbank/base/process_facts.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

[[nodiscard]] inline PointerRecord own_record(const std::string& name, const OwnedExtent& memory) {
  PointerRecord record;
  record.name = name;
  record.pid = static_cast<std::uint32_t>(::getpid());
  record.start_time = process_start_time(record.pid);
  record.boot_id = boot_id();
  record.descriptor = static_cast<std::uint32_t>(memory.descriptor());
  record.inode = memory.inode();
  record.bytes = memory.size();
  record.layout_major = kLayoutMajor;
  record.layout_minor = kLayoutMinor;
  record.pid_namespace = own_pid_namespace();
  record.time_namespace = own_time_namespace();
  return record;
}

}  // namespace meterbank::test
