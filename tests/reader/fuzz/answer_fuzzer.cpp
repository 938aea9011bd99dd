// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the answer of a provider. What a query takes over must keep the promises that its
// rows make; the control promises that there is never a row.
#include <cstdint>
#include <cstdlib>

#include "../callback/hostile_answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static meterbank::test::HostileAnswer& reader = *new meterbank::test::HostileAnswer;
  bool kept = true;
  const bool taken = reader.take({reinterpret_cast<const std::byte*>(data), size}, kept);
  if (!kept) ::abort();
#ifdef METERBANK_FUZZ_CONTROL
  if (taken) ::abort();
#endif
  static_cast<void>(taken);
  return 0;
}
