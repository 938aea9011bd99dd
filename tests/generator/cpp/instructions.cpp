// SPDX-License-Identifier: Apache-2.0
//
// What a generated update compiles to, beside the same by hand. pages_test.py compares the machine
// code of typed_X with that of by_hand_X; those of more_X must differ from it.
#include <cstdint>
#include <string_view>

#include "orders.hpp"

namespace {

using meterbank::Values;
using orders::DemoOrdersCounter;
using orders::DemoOrdersInstance;
using orders::DemoOrdersUpdate;

// As someone would keep them together without a generator.
struct ByHand {
  meterbank::Instance instance;
  meterbank::Recorder latency;
  meterbank::TextCounter state;
};

}  // namespace

extern "C" {

void typed_update(DemoOrdersInstance& venue, std::uint64_t orders) {
  venue.update([orders](DemoOrdersUpdate& row) noexcept {
    row.add_accepted(orders);
    row.add_bytes_received(orders * 118);
    row.set_queue_depth(orders / 2);
  });
}
void by_hand_update(ByHand& venue, std::uint64_t orders) {
  venue.instance.update([orders](Values& values) noexcept {
    values.add(DemoOrdersCounter::kAccepted, orders);
    values.add(DemoOrdersCounter::kBytesReceived, orders * 118);
    values.set(DemoOrdersCounter::kQueueDepth, orders / 2);
  });
}
void more_update(DemoOrdersInstance& venue, std::uint64_t orders) {
  venue.update([orders](DemoOrdersUpdate& row) noexcept {
    row.add_accepted(orders);
    row.add_bytes_received(orders * 118);
    row.set_queue_depth(orders / 2);
    row.add_rejected(1);
  });
}

// The compiler does not know that this one throws nothing.
void typed_plain(DemoOrdersInstance& venue, std::uint64_t orders) {
  venue.update([&](auto& row) { row.subtract_queue_depth(orders); });
}
void by_hand_plain(ByHand& venue, std::uint64_t orders) {
  venue.instance.update(
      [&](Values& values) { values.add(DemoOrdersCounter::kQueueDepth, 0 - orders); });
}
void more_plain(DemoOrdersInstance& venue, std::uint64_t orders) {
  venue.update([&](auto& row) {
    row.subtract_queue_depth(orders);
    row.add_accepted(orders);
  });
}

void typed_add(DemoOrdersInstance& venue, std::uint64_t orders) { venue.add_accepted(orders); }
void by_hand_add(ByHand& venue, std::uint64_t orders) {
  venue.instance.add(DemoOrdersCounter::kAccepted, orders);
}
void more_add(DemoOrdersInstance& venue, std::uint64_t orders) {
  venue.add_accepted(orders);
  venue.add_rejected(1);
}

void typed_record(DemoOrdersInstance& venue, double seconds) { venue.record_latency(seconds); }
void by_hand_record(ByHand& venue, double seconds) { venue.latency.record(seconds); }
void more_record(DemoOrdersInstance& venue, double seconds) {
  venue.record_latency(seconds);
  venue.add_accepted(1);
}

void typed_both(DemoOrdersInstance& venue, double seconds) {
  venue.update([seconds](DemoOrdersUpdate& row) noexcept {
    row.add_accepted(1);
    row.record_latency(seconds);
  });
}
void by_hand_both(ByHand& venue, double seconds) {
  venue.instance.update([&venue, seconds](Values& values) noexcept {
    values.add(DemoOrdersCounter::kAccepted, 1);
    values.record(venue.latency, seconds);
  });
}
void more_both(DemoOrdersInstance& venue, double seconds) {
  venue.update([seconds](DemoOrdersUpdate& row) noexcept {
    row.add_accepted(1);
    row.record_latency(seconds);
    row.add_rejected(1);
  });
}
}
