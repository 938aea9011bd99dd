// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an XML manifest.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: a reader that looks for the end
// of each reference, as if every & had one, goes beside the real one.
#include <cstdint>
#include <memory>

#include "manifest_fuzzer.hpp"

namespace meterbank::test {
namespace {

#ifdef METERBANK_FUZZ_CONTROL
// The fault: nothing but a semicolon ends it.
void find_ends_of_references(std::string_view text) {
  const auto copy = std::make_unique<char[]>(text.size());
  std::ranges::copy(text, copy.get());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (copy[i] != '&') continue;
    while (copy[i] != ';') ++i;
    bytes += i;
  }
  if (bytes == SIZE_MAX) ::abort();
}
#endif

}  // namespace
}  // namespace meterbank::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = meterbank::test::text_of(data, size);
  meterbank::test::read_and_check(text);
#ifdef METERBANK_FUZZ_CONTROL
  meterbank::test::find_ends_of_references(text);
#endif
  return 0;
}
