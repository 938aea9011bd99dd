// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a segment. Inputs that do not begin like one are laid over a real image, so that the
// fuzzer starts behind the first check.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "image.hpp"
#include "meterbank/shm/segment_layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank;
  static const std::vector<std::byte> original = test::real_image();
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::uint64_t magic = 0;
  if (size >= sizeof magic) std::memcpy(&magic, data, sizeof magic);
  if (magic == kSegmentMagic) {
    test::ExactCopy copy({bytes, size});
    static_cast<void>(test::walk(copy.data(), copy.size()));
    return 0;
  }
  // (offset, length, bytes...) patches of the real image.
  test::ExactCopy copy(original);
  while (size >= 3) {
    const std::size_t at = (std::size_t{data[0]} << 8 | data[1]) % copy.size();
    std::size_t length = data[2] % 17;
    data += 3;
    size -= 3;
    length = std::min({length, size, copy.size() - at});
    std::memcpy(copy.data() + at, data, length);
    data += length;
    size -= length;
  }
  static_cast<void>(test::walk(copy.data(), copy.size()));
  return 0;
}
