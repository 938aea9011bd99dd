// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/crc32.hpp"

#include <boost/crc.hpp>

namespace meterbank {

std::uint32_t crc32(std::span<const std::byte> bytes) noexcept {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

}  // namespace meterbank
