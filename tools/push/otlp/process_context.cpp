// SPDX-License-Identifier: Apache-2.0
#include "push/otlp/process_context.hpp"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <protozero/pbf_message.hpp>
#include <utility>

#include "exposition/page/labels.hpp"
#include "meterbank/base/process_facts.hpp"
#include "push/otlp/otlp_fields.hpp"

namespace meterbank::push::otlp {
namespace {

struct Header {
  std::array<char, 8> signature;
  std::uint32_t version;
  std::uint32_t payload_bytes;
  std::uint64_t published_ns;
  std::uint64_t payload;
};
static_assert(sizeof(Header) == 32 && offsetof(Header, published_ns) == 16);

constexpr std::string_view kName = "OTEL_CTX";
constexpr std::uint32_t kVersion = 2;

bool read_memory(std::uint32_t pid, std::uint64_t address, void* out, std::size_t bytes) noexcept {
  iovec here{out, bytes};
  iovec there{};
  // An address of another process.
  std::memcpy(&there.iov_base, &address, sizeof address);
  there.iov_len = bytes;
  const ssize_t count = ::process_vm_readv(static_cast<pid_t>(pid), &here, 1, &there, 1, 0);
  return count >= 0 && static_cast<std::size_t>(count) == bytes;
}

// Addresses of mappings that are called so.
std::vector<std::uint64_t> find_mappings(std::uint32_t pid) {
  constexpr std::size_t kLinesMax = 100'000, kMappingsMax = 4;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::vector<std::uint64_t> found;
  std::string line;
  for (std::size_t lines = 0;
       lines < kLinesMax && found.size() < kMappingsMax && std::getline(maps, line); ++lines) {
    const bool is_named = line.find(" /memfd:OTEL_CTX") != std::string::npos ||
                          line.find(" [anon_shmem:OTEL_CTX]") != std::string::npos ||
                          line.find(" [anon:OTEL_CTX]") != std::string::npos;
    std::uint64_t address = 0;
    const auto end = std::from_chars(line.data(), line.data() + line.size(), address, 16);
    if (is_named && end.ec == std::errc{}) found.push_back(address);
  }
  return found;
}

std::optional<std::string> read_payload(std::uint32_t pid, std::uint64_t address) {
  constexpr int kTriesMax = 3;
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    Header header{}, again{};
    if (!read_memory(pid, address, &header, sizeof header)) return std::nullopt;
    const std::string_view signature(header.signature.data(), header.signature.size());
    if (signature != kName || header.version != kVersion) return std::nullopt;
    if (header.payload_bytes > kContextBytesMax) return std::nullopt;
    if (header.published_ns == 0) continue;
    std::string payload(header.payload_bytes, '\0');
    // It may be freed while it is read: then the header has changed.
    const bool is_read = read_memory(pid, header.payload, payload.data(), payload.size());
    if (!read_memory(pid, address, &again, sizeof again)) return std::nullopt;
    if (again.published_ns != header.published_ns) continue;
    return is_read ? std::optional(std::move(payload)) : std::nullopt;
  }
  return std::nullopt;
}

using protozero::pbf_wire_type;

std::optional<decltype(Attribute::value)> parse_value(protozero::data_view bytes) {
  std::optional<decltype(Attribute::value)> value;
  protozero::pbf_message<AnyValue> any(bytes);
  while (any.next()) {
    switch (any.tag_and_type()) {
      case protozero::tag_and_type(AnyValue::kString, pbf_wire_type::length_delimited):
        value = exposition::clean_text(any.get_string());
        break;
      case protozero::tag_and_type(AnyValue::kBool, pbf_wire_type::varint):
        value = any.get_bool();
        break;
      case protozero::tag_and_type(AnyValue::kInt, pbf_wire_type::varint):
        value = any.get_int64();
        break;
      case protozero::tag_and_type(AnyValue::kDouble, pbf_wire_type::fixed64):
        value = any.get_double();
        break;
      default:
        any.skip();
    }
  }
  return value;
}

void add_attribute(std::vector<Attribute>& attributes, protozero::data_view bytes) {
  Attribute attribute;
  std::optional<decltype(Attribute::value)> value;
  protozero::pbf_message<KeyValue> pair(bytes);
  while (pair.next()) {
    switch (pair.tag_and_type()) {
      case protozero::tag_and_type(KeyValue::kKey, pbf_wire_type::length_delimited):
        attribute.key = exposition::clean_text(pair.get_string());
        break;
      case protozero::tag_and_type(KeyValue::kValue, pbf_wire_type::length_delimited):
        value = parse_value(pair.get_view());
        break;
      default:
        pair.skip();
    }
  }
  const bool is_known =
      std::any_of(attributes.begin(), attributes.end(),
                  [&](const Attribute& other) { return other.key == attribute.key; });
  if (attribute.key.empty() || !value || is_known) return;
  if (attributes.size() == kContextAttributesMax) return;
  attribute.value = *std::move(value);
  attributes.push_back(std::move(attribute));
}

// Only a KeyValue has a second field that is a message.
bool is_key_value(protozero::data_view bytes) {
  protozero::pbf_message<KeyValue> pair(bytes);
  bool is_pair = false;
  while (pair.next()) {
    is_pair |= pair.tag_and_type() ==
               protozero::tag_and_type(KeyValue::kValue, pbf_wire_type::length_delimited);
    pair.skip();
  }
  return is_pair;
}

void add_resource(std::vector<Attribute>& attributes, protozero::data_view bytes) {
  protozero::pbf_message<Resource> resource(bytes);
  while (resource.next(Resource::kAttributes, pbf_wire_type::length_delimited)) {
    add_attribute(attributes, resource.get_view());
  }
}

}  // namespace

std::vector<Attribute> parse_process_context(std::string_view payload) {
  std::vector<Attribute> attributes;
  try {
    // The first field of a ProcessContext is a Resource, that of a Resource a KeyValue.
    protozero::pbf_message<Resource> message(payload.data(), payload.size());
    while (message.next(Resource::kAttributes, pbf_wire_type::length_delimited)) {
      const protozero::data_view part = message.get_view();
      if (is_key_value(part)) {
        add_attribute(attributes, part);
      } else {
        add_resource(attributes, part);
      }
    }
  } catch (const protozero::exception&) {
    return {};
  }
  return attributes;
}

std::vector<Attribute> read_process_context(std::uint32_t pid) {
  for (const std::uint64_t address : find_mappings(pid)) {
    if (const auto payload = read_payload(pid, address)) return parse_process_context(*payload);
  }
  return {};
}

bool ProcessContexts::look(const std::vector<exposition::PageProvider>& providers,
                           std::uint64_t now_ns) {
  bool has_changed = false;
  for (auto& [segment, known] : known_) known.is_used = false;
  for (const exposition::PageProvider& provider : providers) {
    Known& known = known_[provider.segment_id];
    known.is_used = true;
    if (known.looked_ns != 0 && now_ns - known.looked_ns < kAgainNs) continue;
    known.looked_ns = now_ns;
    // Another process may have the number by now.
    const bool is_same =
        provider.pid_here != 0 && process_start_time(provider.pid_here) == provider.start_time;
    if (!is_same) continue;
    std::vector<Attribute> attributes = read_process_context(provider.pid_here);
    // What was published once stays true while it is being changed.
    if (attributes.empty() || attributes == known.attributes) continue;
    known.attributes = std::move(attributes);
    has_changed = true;
  }
  std::erase_if(known_, [](const auto& entry) { return !entry.second.is_used; });
  return has_changed;
}

const std::vector<Attribute>& ProcessContexts::of(const exposition::PageProvider& provider) const {
  static const std::vector<Attribute> no_attributes;
  const auto known = known_.find(provider.segment_id);
  return known == known_.end() ? no_attributes : known->second.attributes;
}

}  // namespace meterbank::push::otlp
