// SPDX-License-Identifier: Apache-2.0
#include "provider_facts.hpp"

#include <algorithm>

#include "directory_events.hpp"

namespace meterbank::recording {
namespace {

constexpr std::size_t kErrorsMax = 64;

void append_error(const Error& error, ByteWriter& out) {
  out.number(static_cast<std::uint64_t>(error.code));
  out.signed_number(error.system_error);
  out.text(std::string_view(error.what).substr(0, kFactBytesMax));
  out.text(std::string_view(error.remedy).substr(0, kFactBytesMax));
}

Error read_error(ByteReader& in) {
  Error error;
  error.code =
      static_cast<ErrorCode>(in.number_below(static_cast<std::uint64_t>(ErrorCode::kSystem) + 1));
  error.system_error = static_cast<int>(in.signed_number());
  error.what = in.text(kFactBytesMax);
  error.remedy = in.text(kFactBytesMax);
  return error;
}

std::uint32_t read_u32(ByteReader& in) noexcept {
  return static_cast<std::uint32_t>(in.number_below(std::uint64_t{1} << 32U));
}

}  // namespace

MovingFacts moving_facts_of(const ProviderView& provider) noexcept {
  return {provider.directory_version, provider.heartbeat_age_ns()};
}

void append_facts(const ProviderView& provider, const MovingFacts& moving, ByteWriter& out) {
  out.text(provider.name);
  out.number(provider.pid);
  out.number(provider.pid_here);
  out.number(provider.uid);
  out.number(provider.start_time);
  out.number(provider.segment_id[0]);
  out.number(static_cast<std::uint64_t>(provider.state));
  out.number(provider.segment != nullptr ? 1 : 0);
  out.text(provider.record);
  out.text(provider.socket);
  out.number(provider.record_file[0]);
  out.number(provider.record_file[1]);
  out.number(provider.created_realtime_ns);
  out.number(provider.bytes);
  out.number(moving.directory_version);
  out.number(moving.heartbeat_age_ns);
  out.number(provider.refused());
  out.number(provider.outside.pid);
  out.text(provider.outside.cgroup);
  out.text(provider.outside.container);
  out.text(provider.outside.pod);
  out.text(provider.outside.unit);
  out.number(static_cast<std::uint64_t>(provider.limited_by));
  append_error(provider.error, out);
  const std::size_t errors = std::min(provider.errors.size(), kErrorsMax);
  out.number(errors);
  for (std::size_t index = 0; index < errors; ++index) append_error(provider.errors[index], out);
  // Since version 1.1, in recordings of several machines.
  if (!provider.outside.host.empty()) out.text(provider.outside.host);
}

RecordedFacts read_facts(ByteReader& in) {
  RecordedFacts facts;
  ReplayedProvider& provider = facts.provider;
  provider.name = in.text(kFactBytesMax);
  provider.pid = read_u32(in);
  provider.pid_here = read_u32(in);
  provider.uid = read_u32(in);
  provider.start_time = in.number();
  provider.segment_id[0] = in.number();
  provider.state = static_cast<ProviderState>(
      in.number_below(static_cast<std::uint64_t>(ProviderState::kForeign) + 1));
  provider.has_segment = in.number_below(2) != 0;
  provider.record = in.text(kFactBytesMax);
  provider.socket = in.text(kFactBytesMax);
  provider.record_file = {in.number(), in.number()};
  provider.created_realtime_ns = in.number();
  provider.bytes = in.number();
  provider.directory_version = in.number();
  facts.heartbeat_age_ns = in.number();
  facts.refused = in.number();
  provider.outside.pid = read_u32(in);
  provider.outside.cgroup = in.text(kFactBytesMax);
  provider.outside.container = in.text(kFactBytesMax);
  provider.outside.pod = in.text(kFactBytesMax);
  provider.outside.unit = in.text(kFactBytesMax);
  provider.limited_by = static_cast<ReadLimit>(
      in.number_below(static_cast<std::uint64_t>(ReadLimit::kOpenFiles) + 1));
  provider.error = read_error(in);
  const std::uint64_t errors = in.number_below(kErrorsMax + 1);
  for (std::uint64_t index = 0; index < errors && !in.failed(); ++index) {
    provider.errors.push_back(read_error(in));
  }
  if (!in.failed() && !in.is_at_end()) provider.outside.host = in.text(kFactBytesMax);
  return facts;
}

}  // namespace meterbank::recording
