// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a segment. Inputs that do not begin like one are laid over a real image, so that the
// fuzzer starts behind the first check.
//
// Built with METERBANK_FUZZ_CONTROL, this is the negative control: a reader with one check too few
// walks beside the real one, and the fuzzer must find where it reads outside.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "image.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::test {
namespace {

void take(ExactCopy& copy) {
  static_cast<void>(walk(copy.data(), copy.size()));
#ifdef METERBANK_FUZZ_CONTROL
  if (copy.size() < sizeof(SegmentHeader)) return;
  // The fault: the count is believed.
  const auto* header = reinterpret_cast<const SegmentHeader*>(copy.data());
  std::uint64_t sum = 0;
  // relaxed, both: no process writes.
  const std::uint32_t count = header->registrations_count.load(std::memory_order_relaxed);
  const SharedWord* registration = header->registrations.data();
  for (std::uint32_t index = 0; index < count; ++index) {
    sum += registration[index].load(std::memory_order_relaxed);
  }
  // So that the sum is needed. No value of it may end the program: the fuzzer would look for that.
  asm volatile("" : : "r"(sum));
#endif
}

}  // namespace
}  // namespace meterbank::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meterbank;
  static const std::vector<std::byte> original = test::real_image();
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::uint64_t magic = 0;
  if (size >= sizeof magic) std::memcpy(&magic, data, sizeof magic);
  if (magic == kSegmentMagic) {
    test::ExactCopy copy({bytes, size});
    test::take(copy);
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
  test::take(copy);
  return 0;
}
