// SPDX-License-Identifier: Apache-2.0
#include "agent/receivers/push_once.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "meterbank/shm/utf8.hpp"
#include "push/delivery/outcome.hpp"
#include "push/delivery/pusher.hpp"

namespace meterbank::agent {
namespace {

using push::Batch;
using push::Outcome;
using push::Protocol;

struct Tally {
  std::uint64_t points = 0, bytes = 0, refused = 0;
  std::string reason;  // why the first batch was not taken as a whole; empty: all were
  bool is_older_receiver = false;
};

Tally push_all(const exposition::Snapshot& snapshot, const push::ReceiverOptions& receiver,
               Protocol protocol) {
  Tally result;
  auto post = push::HttpPost::open(receiver.url, headers_of(receiver, protocol), receiver.ca_file);
  if (!post) {
    result.reason = post.error().message();
    return result;
  }
  const auto encoder = make_encoder(receiver, protocol);
  push::Compressor compressor;
  encoder->encode(snapshot, [&](Batch batch) {
    if (result.is_older_receiver) return;
    const std::string body =
        compressor.compress(std::move(batch.body), coding_of(receiver, protocol));
    const Outcome outcome = judge(protocol, post->post(body, receiver.timeout));
    result.is_older_receiver = outcome.is_older_receiver;
    const std::uint64_t refused =
        outcome.kind == Outcome::Kind::kSent
            ? std::min<std::uint64_t>(batch.points, outcome.refused_points)
            : batch.points;
    result.points += batch.points - refused;
    result.refused += refused;
    if (outcome.kind == Outcome::Kind::kSent) result.bytes += body.size();
    if (refused != 0 && result.reason.empty()) result.reason = outcome.reason;
  });
  return result;
}

}  // namespace

bool push_once(exposition::Snapshots& snapshots,
               const std::vector<push::ReceiverOptions>& receivers, std::ostream& out) {
  const auto snapshot = snapshots.take();
  bool is_taken = true;
  for (const push::ReceiverOptions& receiver : receivers) {
    Tally result = push_all(*snapshot, receiver, receiver.protocol);
    if (result.is_older_receiver) {
      result = push_all(*snapshot, receiver, Protocol::kRemoteWrite1);
    }
    std::string line = fmt::format("{}: {} points, {} bytes", push::printable_url(receiver.url),
                                   result.points, result.bytes);
    if (!result.reason.empty()) {
      is_taken = false;
      line += fmt::format("; {} points not taken: {}", result.refused, result.reason);
    }
    out << escape_composed(line, Composed::kLine, charset_of(STDOUT_FILENO)) << '\n' << std::flush;
  }
  return is_taken;
}

}  // namespace meterbank::agent
