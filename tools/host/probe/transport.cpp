// SPDX-License-Identifier: Apache-2.0
#include "host/probe/transport.hpp"

#include <array>

namespace meterbank::host {
namespace {

template <typename Field>
struct NamedField {
  std::string_view name;
  Field field;
};

constexpr std::array<NamedField<TcpField>, 8> kTcpNames = {{
    {"ActiveOpens", TcpField::kActiveOpens},
    {"PassiveOpens", TcpField::kPassiveOpens},
    {"AttemptFails", TcpField::kAttemptsFailed},
    {"EstabResets", TcpField::kResets},
    {"CurrEstab", TcpField::kEstablished},
    {"InSegs", TcpField::kReceivedSegments},
    {"OutSegs", TcpField::kSentSegments},
    {"RetransSegs", TcpField::kRepeatedSegments},
}};

constexpr std::array<NamedField<UdpField>, 4> kUdpNames = {{
    {"InDatagrams", UdpField::kReceived},
    {"NoPorts", UdpField::kNoPort},
    {"InErrors", UdpField::kReceivedErrors},
    {"OutDatagrams", UdpField::kSent},
}};

template <typename Names, typename Values>
void set_named(const Names& names, std::string_view name, std::string_view value, Values& target) {
  for (const auto& known : names) {
    if (known.name == name) target.set(known.field, parse_u64(value));
  }
}

template <typename Names, typename Values>
void take_pair(const Names& names, FieldScanner titles, FieldScanner numbers, Values& target) {
  for (std::string_view title = titles.next(); !title.empty(); title = titles.next()) {
    set_named(names, title, numbers.next(), target);
  }
}

}  // namespace

bool parse_snmp(std::string_view text, TcpValues& tcp, UdpValues& udp) noexcept {
  TcpValues found_tcp;
  UdpValues found_udp;
  LineScanner lines(text);
  std::string_view title_line;
  std::string_view number_line;
  while (lines.next(title_line) && lines.next(number_line)) {
    FieldScanner titles(title_line);
    FieldScanner numbers(number_line);
    const std::string_view protocol = titles.next();
    if (numbers.next() != protocol) break;
    if (protocol == "Tcp:") take_pair(kTcpNames, titles, numbers, found_tcp);
    if (protocol == "Udp:") take_pair(kUdpNames, titles, numbers, found_udp);
  }
  tcp.merge(found_tcp);
  udp.merge(found_udp);
  return (found_tcp.present() | found_udp.present()) != 0;
}

bool parse_snmp6(std::string_view text, UdpValues& udp) noexcept {
  constexpr std::string_view kPrefix = "Udp6";
  UdpValues found;
  LineScanner lines(text);
  std::string_view line;
  while (lines.next(line)) {
    FieldScanner fields(line);
    const std::string_view name = fields.next();
    if (name.substr(0, kPrefix.size()) != kPrefix) continue;
    set_named(kUdpNames, name.substr(kPrefix.size()), fields.next(), found);
  }
  udp.merge(found);
  return found.present() != 0;
}

bool TransportReader::sample() {
  bool has_any = false;
  if (const auto text = files_.read("proc/net/snmp")) has_any |= parse_snmp(*text, tcp_, udp4_);
  if (const auto text = files_.read("proc/net/snmp6")) has_any |= parse_snmp6(*text, udp6_);
  return has_any;
}

}  // namespace meterbank::host
