// SPDX-License-Identifier: Apache-2.0
//
// A snapshot in the form of a protocol that receivers are sent.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "exposition/snapshot/snapshot.hpp"
#include "push/batch/protocol.hpp"

namespace meterbank::push {

// What one request carries. Batches of one snapshot have the values of one moment.
struct Batch {
  std::string body;
  std::size_t points = 0;  // numbers, histograms and summaries in it
  Protocol protocol{};
};

// A batch ends behind the point with which it exceeds this. Receivers refuse bodies that are too
// large: the OpenTelemetry collector those of more than 20 MiB.
inline constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

class SnapshotEncoder {
 public:
  using Take = std::function<void(Batch)>;

  virtual ~SnapshotEncoder() = default;
  // One thread at a time. What the rows are called is kept from one snapshot to the next, as long
  // as the layout stays. May throw std::bad_alloc.
  virtual void encode(const exposition::Snapshot& snapshot, const Take& take) = 0;
};

}  // namespace meterbank::push
