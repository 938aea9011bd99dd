// SPDX-License-Identifier: Apache-2.0
#include "host/probe/network.hpp"

namespace meterbank::host {
namespace {

constexpr std::size_t kColumns = 16;
constexpr std::uint64_t kBitsPerMegabit = 1'000'000;

PathText interface_path(const InterfaceReading& interface, std::string_view rest) noexcept {
  return PathText("sys/class/net/").append(interface.name.view()).append(rest);
}

}  // namespace

std::optional<InterfaceReading> parse_interface_line(std::string_view line) noexcept {
  // The last colon: old kernels allowed colons in names, and a number may follow without a blank.
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = trim(line.substr(0, colon));
  InterfaceReading interface;
  interface.name.append(name);
  if (!is_path_component(name) || interface.name.is_cut()) return std::nullopt;
  FieldScanner fields(line.substr(colon + 1));
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto value = fields.next_u64();
    if (!value) return std::nullopt;
    interface.values.set(static_cast<NetworkField>(i), *value);
  }
  return interface;
}

void parse_net_dev(std::string_view text, std::vector<InterfaceReading>& interfaces) {
  interfaces.clear();
  LineScanner lines(text);
  std::string_view line;
  while (interfaces.size() < kInterfacesMax && lines.next(line)) {
    if (const auto interface = parse_interface_line(line)) interfaces.push_back(*interface);
  }
}

// Without a link the kernel answers -1 or refuses; neither is a number, so the field stays away.
void NetworkReader::read_levels(InterfaceReading& interface) {
  interface.life = files_.read_u64(interface_path(interface, "/ifindex").view()).value_or(0);
  const auto megabits = files_.read_u64(interface_path(interface, "/speed").view());
  // Some drivers show the unknown speed as the largest 32-bit number instead.
  if (megabits && *megabits < 0xFFFF'FFFF) {
    interface.values.set(NetworkField::kBitsPerSecond,
                         multiply_saturated(*megabits, kBitsPerMegabit));
  }
  interface.values.set(NetworkField::kTransmitQueueLimit,
                       files_.read_u64(interface_path(interface, "/tx_queue_len").view()));
  interface.values.set(NetworkField::kHardwareType,
                       files_.read_u64(interface_path(interface, "/type").view()));
}

bool NetworkReader::sample() {
  const auto text = files_.read("proc/net/dev");
  if (!text) return false;
  parse_net_dev(*text, interfaces_);
  for (InterfaceReading& interface : interfaces_) read_levels(interface);
  return true;
}

}  // namespace meterbank::host
