// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a manifest in TOML.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: a reader that remembers the open
// brackets of a line, and believes that there are few, goes beside the real one.
#include <array>
#include <cstdint>

#include "manifest_fuzzer.hpp"

namespace meterbank::test {
namespace {

#ifdef METERBANK_FUZZ_CONTROL
// The fault: the depth has no limit, the memory for it has.
void remember_brackets(std::string_view text) {
  std::array<std::size_t, 8> open{};
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') open[depth++] = i;
    if (text[i] == ']' && depth > 0) --depth;
    if (text[i] == '\n') depth = 0;
  }
  if (open[0] == SIZE_MAX) ::abort();
}
#endif

}  // namespace
}  // namespace meterbank::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = meterbank::test::text_of(data, size);
  meterbank::test::read_and_check(text);
#ifdef METERBANK_FUZZ_CONTROL
  meterbank::test::remember_brackets(text);
#endif
  return 0;
}
