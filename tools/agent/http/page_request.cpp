// SPDX-License-Identifier: Apache-2.0
#include "agent/http/page_request.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace meterbank::agent {
namespace {

using exposition::PageOptions;

constexpr std::size_t kPatternsMax = 256;
constexpr std::size_t kPatternBytesMax = 1024;
constexpr std::uint32_t kShardsMax = 10'000;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  Number number{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = end.ec == std::errc() && end.ptr == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

tl::unexpected<Error> refuse(const std::string& name, std::string_view value,
                             std::string_view remedy) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid {}: {}", name, value),
              std::string(remedy));
}

Result<void> add_pattern(std::vector<Glob>& patterns, const std::string& name,
                         const std::string& value) {
  if (value.size() > kPatternBytesMax) {
    return refuse(name, fmt::format("{} bytes", value.size()),
                  fmt::format("a pattern of at most {} bytes", kPatternBytesMax));
  }
  if (patterns.size() == kPatternsMax) {
    return refuse(name, "too many", fmt::format("at most {} patterns", kPatternsMax));
  }
  patterns.emplace_back(value);
  return {};
}

Result<void> read_shard(PageOptions& options, const std::string& value) {
  const std::size_t slash = value.find('/');
  const std::string_view text = value;
  const auto shard = parse_number<std::uint32_t>(text.substr(0, slash));
  const auto shards = slash == std::string::npos
                          ? std::nullopt
                          : parse_number<std::uint32_t>(text.substr(slash + 1));
  if (!shard || !shards || *shard >= *shards || *shards > kShardsMax) {
    return refuse("shard", value, "I/N, with I from 0 to N-1: shard=0/4");
  }
  options.shard = *shard;
  options.shards = *shards;
  return {};
}

Result<void> read_buckets(PageOptions& options, const std::string& value) {
  auto buckets = exposition::parse_buckets(value);
  if (!buckets) {
    return refuse("buckets", value, "ascending positive numbers: buckets=0.001,0.01,0.1");
  }
  options.buckets = *std::move(buckets);
  return {};
}

Result<void> read_parameter(PageOptions& options, const std::string& name,
                            const std::string& value) {
  if (name == "set") return add_pattern(options.sets, name, value);
  if (name == "instance") return add_pattern(options.instances, name, value);
  if (name == "provider") return add_pattern(options.providers, name, value);
  if (name == "name[]") return add_pattern(options.names, name, value);
  if (name == "shard") return read_shard(options, value);
  if (name == "buckets") return read_buckets(options, value);
  return fail(ErrorCode::kInvalidArgument, fmt::format("unknown parameter {}", name),
              "set, instance, provider, name[], shard or buckets");
}

}  // namespace

Result<PageOptions> parse_page_request(const Parameters& parameters) {
  PageOptions options;
  for (const auto& [name, value] : parameters) {
    if (auto read = read_parameter(options, name, value); !read) {
      return tl::make_unexpected(read.error());
    }
  }
  return options;
}

Result<PageOptions> parse_set_request(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    if (name == "set" || name == "provider") continue;
    return fail(ErrorCode::kInvalidArgument, fmt::format("unknown parameter {}", name),
                "set or provider");
  }
  return parse_page_request(parameters);
}

}  // namespace meterbank::agent
