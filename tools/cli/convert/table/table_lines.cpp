// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/table/table_lines.hpp"

#include <fstream>
#include <string_view>
#include <utility>

#include "cli/convert/table/csv_lines.hpp"
#include "cli/convert/table/pdh_lines.hpp"

namespace meterbank::cli {

Result<std::unique_ptr<TableLines>> open_table(const std::string& path) {
  constexpr std::string_view kPdhBegin = "\"(PDH-";
  std::string begin(kPdhBegin.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), std::ssize(begin));
  if (begin == kPdhBegin) return PdhLines::open(path);
  auto lines = CsvLines::open(path);
  if (!lines) return tl::make_unexpected(std::move(lines.error()));
  return std::make_unique<CsvLines>(*std::move(lines));
}

}  // namespace meterbank::cli
