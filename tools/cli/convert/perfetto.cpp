// SPDX-License-Identifier: Apache-2.0
//
// A trace: a track for each provider, below it one for each number of each row. A value is written
// when it is another one than before, since a track keeps its value.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <protozero/pbf_builder.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/convert/binary_file.hpp"
#include "cli/convert/conversions.hpp"
#include "cli/convert/moments.hpp"
#include "cli/convert/perfetto_fields.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/session/exit_code.hpp"
#include "exposition/page/number.hpp"
#include "exposition/page/page_layout.hpp"
#include "exposition/page/row_selection.hpp"
#include "exposition/page/row_values.hpp"
#include "exposition/page/row_walk.hpp"

namespace meterbank::cli {
namespace {

using exposition::FamilyType;
using exposition::Number;

constexpr std::uint32_t kSequence = 1;

template <typename Field>
using Message = protozero::pbf_builder<Field>;

perfetto::Unit unit_of(const std::string& ucum) {
  if (ucum == "By") return perfetto::Unit::kBytes;
  if (ucum == "ns") return perfetto::Unit::kNanoseconds;
  const bool counts = ucum == "1" || ucum.starts_with('{');
  return counts ? perfetto::Unit::kCount : perfetto::Unit::kNone;
}

// A number of a row, from moment to moment.
struct CounterTrack {
  std::uint64_t uuid = 0;
  bool is_used = true;
  std::optional<std::uint64_t> whole, real;  // the last value; real: its bits
  std::optional<std::string> text;
};

class Trace final : public MomentSink {
 public:
  Trace(BinaryFile file) : file_(std::move(file)) {}

  Result<bool> take(const LogMoment& moment) override {
    time_ = moment.log.time();
    if (layout_ == nullptr) choose_clock(moment.log);
    // Where the clocks went apart, a reader has to know it.
    const std::uint64_t ahead = time_.realtime_ns - time_.monotonic_ns;
    constexpr std::int64_t kApart = 1'000'000;
    const auto apart = static_cast<std::int64_t>(ahead - ahead_);
    if (layout_ == nullptr ||
        (clock_ == perfetto::Clock::kMonotonic && (apart > kApart || apart < -kApart))) {
      ahead_ = ahead;
      add_clocks();
    }
    auto snapshot = std::make_shared<exposition::Snapshot>();
    snapshot->sample = moment.sample;
    if (layout_ == nullptr || moment.has_changed) begin_layout(moment);
    snapshot->layout = layout_;
    add_values(*snapshot, moment);
    auto written = file_.write(out_);
    out_.clear();
    if (!written) return tl::make_unexpected(std::move(written.error()));
    return true;
  }

  Result<void> keep() { return file_.keep(); }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return file_.bytes(); }

 private:
  // CLOCK_MONOTONIC begins anew with each boot.
  void choose_clock(const recording::Recording& log) {
    const auto files = log.files();
    const bool is_one_boot =
        std::all_of(files.begin(), files.end(), [&](const recording::RecordingFile& file) {
          return file.head.boot_id == files.front().head.boot_id;
        });
    clock_ = is_one_boot ? perfetto::Clock::kMonotonic : perfetto::Clock::kRealtime;
  }

  [[nodiscard]] std::uint64_t now() const noexcept {
    return clock_ == perfetto::Clock::kMonotonic ? time_.monotonic_ns : time_.realtime_ns;
  }

  void add_packet(const std::string& packet) {
    Message<perfetto::Trace>(out_).add_bytes(perfetto::Trace::kPacket, packet);
  }

  void add_clocks() {
    std::string snapshot;
    const auto add = [&snapshot](perfetto::Clock clock, std::uint64_t time) {
      std::string reading;
      Message<perfetto::ClockReading> one(reading);
      one.add_uint32(perfetto::ClockReading::kClock, static_cast<std::uint32_t>(clock));
      one.add_uint64(perfetto::ClockReading::kTimestamp, time);
      Message<perfetto::ClockSnapshot>(snapshot).add_bytes(perfetto::ClockSnapshot::kClocks,
                                                           reading);
    };
    add(perfetto::Clock::kRealtime, time_.realtime_ns);
    if (clock_ == perfetto::Clock::kMonotonic) {
      add(perfetto::Clock::kMonotonic, time_.monotonic_ns);
    }
    Message<perfetto::ClockSnapshot>(snapshot).add_enum(perfetto::ClockSnapshot::kPrimaryClock,
                                                        static_cast<std::int32_t>(clock_));
    std::string packet;
    Message<perfetto::Packet> message(packet);
    message.add_uint32(perfetto::Packet::kSequence, kSequence);
    message.add_uint64(perfetto::Packet::kTimestamp, now());
    message.add_uint32(perfetto::Packet::kClock, static_cast<std::uint32_t>(clock_));
    message.add_bytes(perfetto::Packet::kClockSnapshot, snapshot);
    add_packet(packet);
  }

  void add_track(const std::string& descriptor) {
    std::string packet;
    Message<perfetto::Packet> message(packet);
    message.add_uint32(perfetto::Packet::kSequence, kSequence);
    message.add_bytes(perfetto::Packet::kTrackDescriptor, descriptor);
    add_packet(packet);
  }

  // Rows that are not there any more are forgotten, so that memory does not grow with them.
  void begin_layout(const LogMoment& moment) {
    layout_ = std::make_shared<const exposition::PageLayout>(
        exposition::make_page_layout(moment.sample.selected(), {}, starts_, last_look_ns_));
    last_look_ns_ = time_.realtime_ns;
    find_block_keys(moment.sample.selected());
    for (auto& [key, track] : tracks_) track.is_used = false;
    std::map<std::uint64_t, std::uint64_t> providers;
    provider_tracks_.clear();
    for (const exposition::PageProvider& provider : layout_->providers) {
      const std::uint64_t segment = provider.segment_id[0];
      const auto known = providers_.find(segment);
      providers[segment] = known != providers_.end() ? known->second : add_provider(provider);
      provider_tracks_.push_back(providers[segment]);
    }
    providers_ = std::move(providers);
    for (const exposition::PageFamily& family : layout_->families) {
      for (const exposition::FamilyPart& part : family.parts) {
        const exposition::RowBlock& block = layout_->blocks[part.block];
        for (std::size_t row = 0; row < block.rows(); ++row) use_tracks(family, part, row);
      }
    }
    std::erase_if(tracks_, [](const auto& track) { return !track.second.is_used; });
  }

  // Perfetto knows a process by its pid: another provider of the same one has a track of its own.
  std::uint64_t add_provider(const exposition::PageProvider& provider) {
    const std::uint64_t uuid = ++last_uuid_;
    std::string descriptor;
    Message<perfetto::Track> track(descriptor);
    const std::string label =
        on_host(fmt::format("{}@{}", provider.name, provider.pid), provider.host);
    track.add_uint64(perfetto::Track::kUuid, uuid);
    track.add_string(perfetto::Track::kName, label);
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    const bool has_pid = provider.pid != 0 && provider.pid <= kMost;
    if (has_pid && pids_.insert(provider.pid).second) {
      std::string process;
      Message<perfetto::Process> facts(process);
      facts.add_int32(perfetto::Process::kPid, static_cast<std::int32_t>(provider.pid));
      facts.add_string(perfetto::Process::kName, label);
      for (const std::string& text : {provider.container, provider.pod, provider.unit}) {
        if (!text.empty()) facts.add_string(perfetto::Process::kLabels, text);
      }
      track.add_bytes(perfetto::Track::kProcess, process);
    }
    add_track(descriptor);
    return uuid;
  }

  // What a row of a family is known by. Its labels are no key: they depend on who else is there.
  struct TrackKey {
    std::uint64_t parent = 0, registration = 0;
    Guid set;
    std::string instance;
    std::uint32_t id = 0, counter = 0;
    unsigned number = 0;  // 1: the count of a summary or a histogram
    friend auto operator<=>(const TrackKey&, const TrackKey&) = default;
  };
  // Beside what the layout has of a block.
  struct BlockKeys {
    std::uint64_t registration = 0;
    std::vector<std::uint32_t> ids;  // one a row
  };

  [[nodiscard]] TrackKey key_of(const exposition::FamilyPart& part, std::size_t row,
                                unsigned number) const {
    const exposition::RowBlock& block = layout_->blocks[part.block];
    const BlockKeys& keys = block_keys_[part.block];
    return {provider_tracks_[block.provider],
            keys.registration,
            block.set->guid,
            block.instances.empty() ? std::string() : block.instances[row],
            keys.ids[row],
            part.counter->id,
            number};
  }

  void find_block_keys(const std::vector<SelectedSet>& selected) {
    std::map<std::size_t, BlockKeys> by_row;
    std::size_t row = 0;
    for (const SelectedSet& one : selected) {
      if (one.instances() == 0) continue;
      BlockKeys keys{one.registered().generation, {}};
      for (std::size_t number = 0; number < one.instances(); ++number) {
        keys.ids.push_back(one.instance(number).id);
      }
      by_row.emplace(row, std::move(keys));
      row += one.instances();
    }
    block_keys_.clear();
    for (const exposition::RowBlock& block : layout_->blocks) {
      block_keys_.push_back(by_row[block.first_row]);
      block_keys_.back().ids.resize(block.rows());
    }
  }

  void use_tracks(const exposition::PageFamily& family, const exposition::FamilyPart& part,
                  std::size_t row) {
    const bool has_two =
        family.type == FamilyType::kSummary || family.type == FamilyType::kHistogram;
    for (unsigned number = 0; number < (has_two ? 2U : 1U); ++number) {
      const auto [track, is_new] = tracks_.try_emplace(key_of(part, row, number));
      track->second.is_used = true;
      if (is_new) describe(family, part, row, number, track->second);
    }
  }

  void describe(const exposition::PageFamily& family, const exposition::FamilyPart& part,
                std::size_t row, unsigned number, CounterTrack& track) {
    const exposition::RowBlock& block = layout_->blocks[part.block];
    track.uuid = ++last_uuid_;
    std::string name = block.set_symbol;
    if (!block.instances.empty()) name += "/" + block.instances[row];
    if (!block.ids.empty()) name += "#" + block.ids[row];
    name += "/" + part.counter->symbol;
    const bool has_two =
        family.type == FamilyType::kSummary || family.type == FamilyType::kHistogram;
    if (has_two) name += number == 0 ? " sum" : " count";
    std::string descriptor;
    Message<perfetto::Track> message(descriptor);
    message.add_uint64(perfetto::Track::kUuid, track.uuid);
    message.add_uint64(perfetto::Track::kParent, provider_tracks_[block.provider]);
    message.add_string(perfetto::Track::kName, name);
    if (family.type != FamilyType::kInfo) {
      const std::string ucum = number == 0 ? family.ucum : "1";
      std::string counter;
      Message<perfetto::Counter> unit(counter);
      unit.add_enum(perfetto::Counter::kUnit, static_cast<std::int32_t>(unit_of(ucum)));
      if (!ucum.empty()) unit.add_string(perfetto::Counter::kUnitName, ucum);
      message.add_bytes(perfetto::Track::kCounter, counter);
    }
    add_track(descriptor);
  }

  void add_values(const exposition::Snapshot& snapshot, const LogMoment& moment) {
    exposition::PageSequence now;
    now.left_out_blocks = blocks_not_sampled(moment, *layout_);
    exposition::PageOptions options;
    options.totals = true;
    options.sequence = &now;
    const exposition::RowSelection selection(*layout_, options);
    for (const exposition::PageFamily& family : layout_->families) {
      exposition::RowWalk walk(snapshot, selection, family);
      while (walk.next()) {
        if (values_.read(walk)) add_row(family, walk);
      }
    }
  }

  void add_row(const exposition::PageFamily& family, const exposition::RowWalk& walk) {
    const auto track = [&](unsigned number) -> CounterTrack& {
      return tracks_[key_of(walk.part(), walk.row(), number)];
    };
    switch (family.type) {
      case FamilyType::kInfo:
        return add_text(track(0), values_.text);
      case FamilyType::kSummary:
        add_number(track(1), values_.count);
        return add_number(track(0), values_.value);
      case FamilyType::kHistogram:
        add_whole(track(1), values_.distribution.count);
        return add_real(track(0), values_.distribution.sum);
      default:
        return add_number(track(0), values_.value);
    }
  }

  void add_number(CounterTrack& track, const Number& number) {
    const bool is_whole =
        number.kind == Number::Kind::kUnsigned || number.kind == Number::Kind::kSigned;
    const bool fits =
        number.kind == Number::Kind::kSigned ||
        number.whole <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (number.kind == Number::Kind::kNone) return;
    if (is_whole && fits) return add_whole(track, number.whole);
    add_real(track, number.as_double());
  }

  void add_whole(CounterTrack& track, std::uint64_t value) {
    if (track.whole == value) return;
    track.whole = value;
    track.real.reset();
    add_event(track, perfetto::EventType::kCounter, [value](auto& event) {
      event.add_int64(perfetto::Event::kWhole, static_cast<std::int64_t>(value));
    });
  }

  void add_real(CounterTrack& track, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    if (track.real == bits) return;
    track.real = bits;
    track.whole.reset();
    add_event(track, perfetto::EventType::kCounter,
              [value](auto& event) { event.add_double(perfetto::Event::kReal, value); });
  }

  void add_text(CounterTrack& track, const std::string& text) {
    if (track.text == text) return;
    track.text = text;
    add_event(track, perfetto::EventType::kInstant,
              [&text](auto& event) { event.add_string(perfetto::Event::kName, text); });
  }

  template <typename AddValue>
  void add_event(const CounterTrack& track, perfetto::EventType type, AddValue add_value) {
    event_.clear();
    packet_.clear();
    Message<perfetto::Event> event(event_);
    event.add_enum(perfetto::Event::kType, static_cast<std::int32_t>(type));
    event.add_uint64(perfetto::Event::kTrack, track.uuid);
    add_value(event);
    Message<perfetto::Packet> message(packet_);
    message.add_uint64(perfetto::Packet::kTimestamp, now());
    message.add_uint32(perfetto::Packet::kSequence, kSequence);
    message.add_bytes(perfetto::Packet::kTrackEvent, event_);
    message.add_uint32(perfetto::Packet::kClock, static_cast<std::uint32_t>(clock_));
    add_packet(packet_);
    ++events_;
  }

  BinaryFile file_;
  perfetto::Clock clock_ = perfetto::Clock::kMonotonic;
  Timestamp time_;
  std::uint64_t ahead_ = 0;  // of CLOCK_REALTIME, as was said last
  std::shared_ptr<const exposition::PageLayout> layout_;
  exposition::StartTimes starts_;
  std::uint64_t last_look_ns_ = 0;
  std::map<std::uint64_t, std::uint64_t> providers_;  // track of each, by segment
  std::vector<BlockKeys> block_keys_;                 // of PageLayout::blocks
  std::vector<std::uint64_t> provider_tracks_;        // of PageLayout::providers
  std::set<std::uint32_t> pids_;
  std::map<TrackKey, CounterTrack> tracks_;
  std::uint64_t last_uuid_ = 0;
  exposition::RowValues values_;
  std::string out_, event_, packet_;
  std::uint64_t events_ = 0;
};

}  // namespace

int convert_to_perfetto(const Invocation& invocation, Console& console) {
  const auto refuse = [&](const Error& error) {
    complain(console, error);
    return exit_code_of(error.code);
  };
  auto file = BinaryFile::at(invocation.output);
  if (!file) return refuse(file.error());
  Trace trace(*std::move(file));
  const int exit_code = convert_moments(invocation, trace, console);
  if (!is_kept(exit_code, trace.events())) return exit_code;
  if (auto kept = trace.keep(); !kept) return refuse(kept.error());
  if (!invocation.quiet) {
    say(console,
        fmt::format("{} in {}: {}", counted(trace.events(), "value"),
                    escape_for_terminal(invocation.output), counted(trace.bytes(), "byte")));
  }
  return exit_code;
}

}  // namespace meterbank::cli
