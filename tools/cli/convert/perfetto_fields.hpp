// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the fields of a Perfetto trace. Source: protos/perfetto/trace/ of Perfetto.
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

namespace meterbank::cli::perfetto {

using Tag = protozero::pbf_tag_type;

enum class Trace : Tag { kPacket = 1 };
enum class Packet : Tag {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kClock = 58,
  kTrackDescriptor = 60,
};
enum class ClockSnapshot : Tag { kClocks = 1, kPrimaryClock = 2 };
enum class ClockReading : Tag { kClock = 1, kTimestamp = 2 };
enum class Track : Tag { kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8 };
enum class Process : Tag { kPid = 1, kName = 6, kLabels = 8 };
enum class Counter : Tag { kUnit = 3, kUnitName = 6 };
enum class Event : Tag {
  kType = 9,
  kTrack = 11,
  kName = 23,
  kWhole = 30,
  kReal = 44,
};

enum class Clock : std::uint32_t { kRealtime = 1, kMonotonic = 3 };
enum class EventType : std::int32_t { kInstant = 3, kCounter = 4 };
enum class Unit : std::int32_t { kNone = 0, kNanoseconds = 1, kCount = 2, kBytes = 3 };

}  // namespace meterbank::cli::perfetto
