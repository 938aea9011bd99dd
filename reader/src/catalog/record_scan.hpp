// SPDX-License-Identifier: Apache-2.0
//
// Finds the pointer records of a runtime directory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank {

struct FoundRecord {
  std::string path;
  std::uint64_t file_inode = 0;
  std::uint32_t owner = 0;              // uid of the file
  std::optional<PointerRecord> record;  // nothing: the caller knows this file
};

struct RecordScan {
  std::vector<FoundRecord> found;
  std::uint64_t skipped = 0;  // what was no pointer record, or was left out by policy
};

using KnowsRecord = std::function<bool(const std::string& path, std::uint64_t file_inode)>;

// Reads the records that `knows` does not know: a record never changes under its name and inode.
// Opens nothing that could block or act, and follows no link. Errors: kNoDirectory.
[[nodiscard]] Result<RecordScan> scan_records(const std::string& directory, UserPolicy users,
                                              const KnowsRecord& knows);

}  // namespace meterbank
