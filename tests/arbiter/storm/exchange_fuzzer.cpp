// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>

#include "exchange_script.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  meterbank::test::ExchangeScript script;
  script.play({data, size});
  script.finish();
  return 0;
}
