// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/guid.hpp"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <cstdio>

namespace meterbank {

std::string Guid::text() const {
  char text[39] = {};
  std::snprintf(text, sizeof text, "{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}", part1,
                part2, part3, part4[0], part4[1], part4[2], part4[3], part4[4], part4[5], part4[6],
                part4[7]);
  return text;
}

Guid Guid::from_name(std::string_view provider, std::string_view set) {
  // A namespace of our own, so that no other user of version 5 names collides with us.
  constexpr boost::uuids::uuid kNamespace = {{0x8d, 0x1c, 0x0f, 0x5e, 0x2b, 0x6a, 0x4c, 0x33, 0x9e,
                                              0x57, 0x6d, 0x65, 0x74, 0x65, 0x72, 0x73}};
  std::string name(provider);
  name += '\0';
  name += set;
  const boost::uuids::uuid uuid =
      boost::uuids::name_generator_sha1(kNamespace)(name.data(), name.size());
  Guid guid;
  for (std::size_t i = 0; i < 4; ++i) guid.part1 = (guid.part1 << 8) | uuid.data[i];
  guid.part2 = static_cast<std::uint16_t>((uuid.data[4] << 8) | uuid.data[5]);
  guid.part3 = static_cast<std::uint16_t>((uuid.data[6] << 8) | uuid.data[7]);
  for (std::size_t i = 0; i < 8; ++i) guid.part4[i] = uuid.data[8 + i];
  return guid;
}

}  // namespace meterbank
