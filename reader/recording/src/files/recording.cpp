// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/recording.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "../ticks/tick_reader.hpp"
#include "meterbank/reader/replay.hpp"
#include "open_files.hpp"
#include "seek_order.hpp"

namespace meterbank::recording {
namespace {

constexpr std::size_t kDamagesMax = 1000;

std::string without_path(const Error& error, const std::string& path) {
  const std::string message = error.message(), begin = path + ": ";
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

}  // namespace

struct Recording::State {
  // The user of the recorder decides who is trusted, and the first file names it.
  State(CatalogOptions options, std::vector<RecordingFile> opened, std::vector<FileBytes> of_each)
      : replay(std::move(options), opened.front().head.uid),
        files(std::move(opened)),
        bytes(std::move(of_each)),
        ticks(replay),
        order(files) {
    go_to(0, 0);
  }

  Replay replay;
  std::vector<RecordingFile> files;
  std::vector<FileBytes> bytes;  // of each
  std::size_t file = 0;          // that is read
  std::optional<FrameWalk> walk;
  std::optional<Frame> frame;  // the next one that has a moment
  Timestamp next_time;         // of it
  bool has_key = false;        // a key frame was taken in this file, as ticks of it need
  ReadSchemas schemas;
  TickReader ticks;
  SeekOrder order;
  bool is_somewhere = false;
  SeekPlace shown;        // of the moment that is shown
  bool is_mixed = false;  // the replay has parts of a moment that could not be taken
  std::set<std::pair<std::size_t, std::uint64_t>> passed;  // places of gaps and marks
  std::vector<Damage> damages;
  std::vector<Gap> gaps;
  std::vector<Mark> marks;

  void note(std::uint64_t offset, std::uint64_t bytes_skipped, std::string what);
  [[nodiscard]] bool find_next();
  [[nodiscard]] bool take_frame(const Frame& found);
  [[nodiscard]] bool peek(const Frame& found);
  void pass(const Frame& found);
  void pass_damage(const FrameWalk::Skipped& skipped);
  [[nodiscard]] bool show_found();
  [[nodiscard]] bool show_next();
  void restore();
  void go_to(std::size_t to_file, std::uint64_t offset);
  void load_schemas(std::uint64_t from, std::uint64_t before);
  void look_here_again();
  [[nodiscard]] bool show_until(const SeekPlace& place, std::uint64_t realtime_ns);
  [[nodiscard]] bool go_on_until(std::uint64_t realtime_ns);
  [[nodiscard]] bool shows_moment_until(std::uint64_t realtime_ns) const noexcept;
  [[nodiscard]] bool is_near(std::uint64_t realtime_ns) const;
  [[nodiscard]] bool seek(std::uint64_t realtime_ns);
};

// ---- Files -----------------------------------------------------------------------------------

Result<Recording> Recording::open(const std::string& path, CatalogOptions options) {
  try {
    auto paths = find_files(path);
    if (!paths) return tl::make_unexpected(std::move(paths.error()));
    std::vector<RecordingFile> files;
    std::vector<FileBytes> bytes;
    std::vector<Damage> unreadable;
    std::size_t evicted_before = 0;  // files that were opened when a later one was gone
    Error first_error{ErrorCode::kCorrupt, 0, path + ": " + kNoFrame, kWrittenByRecord};
    for (const std::string& one : *paths) {
      auto opened = open_file(one);
      if (!opened) {
        if (is_evicted(one, opened.error())) {
          evicted_before = files.size();
          continue;
        }
        if (unreadable.empty()) first_error = opened.error();
        unreadable.push_back({one, 0, 0, without_path(opened.error(), one)});
      } else if (*opened) {
        files.push_back(std::move((*opened)->facts));
        bytes.push_back(std::move((*opened)->bytes));
      }
    }
    if (files.empty()) return tl::make_unexpected(std::move(first_error));
    auto foreign = foreign_and_missing(std::span(files).subspan(evicted_before), unreadable);
    std::move(foreign.begin(), foreign.end(), std::back_inserter(unreadable));
    auto state = std::make_unique<State>(std::move(options), std::move(files), std::move(bytes));
    state->damages = std::move(unreadable);
    return Recording(std::move(state));
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(out_of_memory());
  }
}

Result<Recording> Recording::open(std::vector<RecordingFile> files, CatalogOptions options) {
  try {
    std::vector<FileBytes> bytes;
    for (const RecordingFile& file : files) {
      auto opened = FileBytes::open(file.path);
      if (!opened) return tl::make_unexpected(std::move(opened.error()));
      bytes.push_back(std::move(*opened));
    }
    return Recording(
        std::make_unique<State>(std::move(options), std::move(files), std::move(bytes)));
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(out_of_memory());
  }
}

Recording::Recording(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

void Recording::State::note(std::uint64_t offset, std::uint64_t bytes_skipped, std::string what) {
  if (damages.size() >= kDamagesMax) return;
  const std::string& path = files[file].path;
  const bool is_known = std::any_of(damages.begin(), damages.end(), [&](const Damage& one) {
    return one.offset == offset && one.path == path && one.bytes == bytes_skipped;
  });
  if (!is_known) damages.push_back({path, offset, bytes_skipped, std::move(what)});
}

// ---- Moments ------------------------------------------------------------------------------------

void Recording::State::go_to(std::size_t to_file, std::uint64_t offset) {
  const bool is_here = walk && to_file == file;
  if (to_file != file) bytes[file].release();
  file = to_file;
  frame.reset();
  has_key = false;
  schemas.begin_file();
  bytes[file].look_again();
  // What this one has refused counts for all places of a file that are tried.
  if (!is_here) walk.emplace(bytes[file]);
  static_cast<void>(walk->take_skipped());
  if (offset != 0) load_schemas(0, offset);
  walk->go_to(offset);
}

// Where schemas are is a claim of the file. Frames do not overlap, and few of them are damaged.
void Recording::State::load_schemas(std::uint64_t from, std::uint64_t before) {
  const auto& offsets = files[file].index.schemas();
  std::uint64_t end = from;
  for (auto next = std::lower_bound(offsets.begin(), offsets.end(), from);
       next != offsets.end() && *next < before && walk->may_go_on(); ++next) {
    const std::uint64_t offset = *next;
    if (offset < end) continue;
    walk->go_to(offset);
    const auto found = walk->here();
    if (!found || found->kind != FrameKind::kSchema) continue;
    end = found->end();
    if (auto taken = schemas.take(found->payload); !taken) note(offset, 0, taken.error().what);
  }
}

// Bytes of this file were read elsewhere, and a frame points to memory that has others now.
void Recording::State::look_here_again() {
  if (frame) walk->go_to(frame->offset);
  frame.reset();
}

// When a key frame or tick is, before it is taken. False: it cannot be taken.
bool Recording::State::peek(const Frame& found) {
  ByteReader in(found.payload);
  TickTimes times = ticks.times();
  if (found.kind == FrameKind::kKey) {
    if (in.raw<Marker>() != kKeyMarker) return false;
    times.read_first(in);
  } else {
    // Of a chunk whose beginning was lost or is behind us.
    if (!ticks.is_whole() || !has_key) return false;
    times.read_next(in);
  }
  next_time = times.time();
  return !in.failed();
}

// A gap or a mark, once.
void Recording::State::pass(const Frame& found) {
  if (!passed.emplace(file, found.offset).second) return;
  if (const auto gap = parse_gap(found)) gaps.push_back(*gap);
  if (auto mark = parse_mark(found)) marks.push_back(std::move(*mark));
}

// Whether the frame is one that has a moment.
bool Recording::State::take_frame(const Frame& found) {
  switch (found.kind) {
    case FrameKind::kSchema:
      if (auto taken = schemas.take(found.payload); !taken) {
        note(found.offset, 0, taken.error().what);
      }
      return false;
    case FrameKind::kGap:
    case FrameKind::kMark:
      pass(found);
      return false;
    case FrameKind::kKey:
    case FrameKind::kTick:
      return peek(found);
    case FrameKind::kHead:
    case FrameKind::kSummary:
    case FrameKind::kIndex:
      return false;
  }
  return false;
}

void Recording::State::pass_damage(const FrameWalk::Skipped& skipped) {
  const std::uint64_t end = skipped.offset + skipped.bytes;
  // What a recorder was writing when it was killed, or is writing now, is no damage. One that wrote
  // another file afterwards had ended this one.
  const bool went_on =
      file + 1 < files.size() && files[file + 1].head.recorder == files[file].head.recorder;
  const bool is_tail =
      skipped.is_cut && end == bytes[file].size() && !files[file].is_ended && !went_on;
  if (!is_tail) note(skipped.offset, skipped.bytes, "bytes that are no frame");
  ticks.lose();
  if (end == bytes[file].size()) return;
  // There may have been schemas among them, and the index knows where.
  load_schemas(skipped.offset, end);
  walk->go_to(end);
}

// Makes `frame` the next one that has a moment.
bool Recording::State::find_next() {
  while (!frame) {
    const auto found = walk->next();
    if (const auto skipped = walk->take_skipped()) {
      pass_damage(*skipped);
      continue;
    }
    if (found) {
      if (take_frame(*found)) frame = found;
      continue;
    }
    if (file + 1 >= files.size()) return false;
    go_to(file + 1, 0);
  }
  return true;
}

// Shows the moment of `frame`. False: it cannot be taken, and the replay has parts of it.
bool Recording::State::show_found() {
  const Frame found = *std::exchange(frame, std::nullopt);
  ByteReader payload(found.payload);
  Result<void> taken;
  is_mixed = true;
  if (found.kind == FrameKind::kKey) {
    static_cast<void>(payload.raw<Marker>());
    taken = ticks.take_key(payload, schemas, files[file].head.recorder);
  } else {
    taken = ticks.take_tick(payload, schemas);
  }
  if (!taken) {
    ticks.lose();
    note(found.offset, 0, taken.error().what);
    return false;
  }
  if (found.kind == FrameKind::kKey) shown.chunk = found.offset;
  shown.file = file;
  shown.frame = found.offset;
  has_key = is_somewhere = true;
  is_mixed = false;
  replay.show(ticks.times().time());
  return true;
}

bool Recording::State::show_next() {
  while (find_next()) {
    if (show_found()) return true;
  }
  restore();
  return false;
}

// Shows again what was shown before a moment that could not be taken.
void Recording::State::restore() {
  if (!is_mixed || !is_somewhere) return;
  const SeekPlace place = shown;
  is_somewhere = false;
  go_to(place.file, place.chunk);
  ticks.lose();
  while (find_next() && file == place.file && frame->offset <= place.frame) {
    const bool is_there = frame->offset == place.frame;
    if (!show_found() || is_there) break;
  }
  is_somewhere = is_somewhere && !is_mixed;
}

bool Recording::next() { return state_->show_next(); }
void Recording::leave_values_out() noexcept { state_->ticks.leave_values_out(); }

// ---- Seeking ------------------------------------------------------------------------------------

// Shows what follows in a chunk up to the moment. Whether it has shown any.
bool Recording::State::go_on_until(std::uint64_t realtime_ns) {
  bool any = false;
  const auto is_wanted = [&] {
    const std::uint64_t next = next_time.realtime_ns;
    return next <= realtime_ns && (!any || next >= replay.time().realtime_ns);
  };
  while (find_next() && is_wanted()) any |= show_found();
  return any;
}

// Whether a moment at or before that one is shown afterwards.
bool Recording::State::show_until(const SeekPlace& place, std::uint64_t realtime_ns) {
  go_to(place.file, place.chunk);
  ticks.lose();
  const auto key = walk->here();
  if (!key || key->kind != FrameKind::kKey) {
    note(place.chunk, 0, "no chunk begins where the index says");
    return false;
  }
  if (place.frame == SeekPlace::kAnyFrame) return go_on_until(realtime_ns);
  bool any = false;
  while (find_next() && file == place.file && frame->offset <= place.frame) any = show_found();
  return any && replay.time().realtime_ns <= realtime_ns;
}

bool Recording::State::shows_moment_until(std::uint64_t realtime_ns) const noexcept {
  return is_somewhere && replay.time().realtime_ns <= realtime_ns;
}

// Whether the moment is ahead and in the chunk that is shown: then going on costs less than
// decoding the chunk from its beginning.
bool Recording::State::is_near(std::uint64_t realtime_ns) const {
  const bool is_ahead =
      is_somewhere && !is_mixed && order.is_even() && replay.time().realtime_ns <= realtime_ns;
  if (!is_ahead) return false;
  const auto& chunks = files[shown.file].index.chunks();
  const auto next = std::upper_bound(
      chunks.begin(), chunks.end(), shown.chunk,
      [](std::uint64_t offset, const Chunk& chunk) { return offset < chunk.offset; });
  if (next != chunks.end()) return realtime_ns < next->first.realtime_ns;
  // Behind the last chunk of the index, the file may have grown.
  constexpr std::uint64_t kNear = 60'000'000'000;
  return realtime_ns - replay.time().realtime_ns < kNear;
}

bool Recording::State::seek(std::uint64_t realtime_ns) {
  walk.emplace(bytes[file], walk->offset());  // what earlier searches refused does not count
  if (is_near(realtime_ns)) {
    static_cast<void>(go_on_until(realtime_ns));
    restore();
    if (shows_moment_until(realtime_ns)) return true;
  }
  const SeekPlace before = shown;
  const bool was_somewhere = is_somewhere;
  // First: the search reads other bytes where those of the frame are, and may throw.
  look_here_again();
  const auto places = order.before(realtime_ns, files, bytes);
  for (const SeekPlace& place : places) {
    if (place.file == file && !walk->may_go_on()) break;
    is_somewhere = false;
    if (!show_until(place, realtime_ns)) continue;
    restore();
    // A file may say something else of a moment when it is read again.
    if (shows_moment_until(realtime_ns)) return true;
  }
  is_mixed = is_mixed || !places.empty();
  is_somewhere = was_somewhere;
  shown = before;
  restore();
  if (!was_somewhere) go_to(0, 0);
  return false;
}

bool Recording::seek(std::uint64_t realtime_ns) { return state_->seek(realtime_ns); }

std::uint64_t chunk_before(std::span<const RecordingFile> files,
                           std::uint64_t realtime_ns) noexcept {
  std::uint64_t begin = 0;
  for (const RecordingFile& file : files) {
    for (const Chunk& chunk : file.index.chunks()) {
      if (chunk.first.realtime_ns <= realtime_ns) begin = std::max(begin, chunk.first.realtime_ns);
    }
  }
  return begin == 0 ? realtime_ns : begin;
}

Coverage Recording::coverage_of(const Query& query) const {
  if (state_->files[state_->file].head.rates.size() <= 1) return Coverage::kAll;
  bool has_any = false, lacks_any = false;
  for (const SelectedSet& one : query.selected()) {
    const std::uint64_t rate = state_->ticks.rate_of(one.provider(), one.registered());
    if (rate == TickReader::kNoRate) continue;
    const bool is_due = (state_->ticks.due() >> rate & 1U) != 0;
    (is_due ? has_any : lacks_any) = true;
  }
  if (!lacks_any) return Coverage::kAll;
  return has_any ? Coverage::kSome : Coverage::kNone;
}

std::optional<std::uint32_t> Recording::rate_of(const ProviderView& provider,
                                                const RegisteredSet& registered) const {
  const std::uint64_t rate = state_->ticks.rate_of(provider, registered);
  if (rate == TickReader::kNoRate) return std::nullopt;
  return static_cast<std::uint32_t>(rate);
}

bool Recording::is_somewhere() const noexcept { return state_->is_somewhere; }
Timestamp Recording::time() const noexcept { return state_->replay.time(); }
std::uint64_t Recording::window_ns() const noexcept { return state_->ticks.window_ns(); }
std::uint64_t Recording::due() const noexcept { return state_->ticks.due(); }
Catalog& Recording::catalog() noexcept { return state_->replay.catalog(); }
const Catalog& Recording::catalog() const noexcept { return state_->replay.catalog(); }
std::span<const RecordingFile> Recording::files() const noexcept { return state_->files; }
std::span<const Damage> Recording::damages() const noexcept { return state_->damages; }
std::span<const Gap> Recording::gaps() const noexcept { return state_->gaps; }
std::span<const Mark> Recording::marks() const noexcept { return state_->marks; }

Timestamp Recording::first() const noexcept {
  Timestamp first;
  bool any = false;
  for (const RecordingFile& file : state_->files) {
    for (const Chunk& chunk : file.index.chunks()) {
      for (const Timestamp& time : {chunk.first, chunk.last}) {
        if (!any || time.realtime_ns < first.realtime_ns) first = time;
        any = true;
      }
    }
  }
  return first;
}

Timestamp Recording::last() const noexcept {
  Timestamp last;
  for (const RecordingFile& file : state_->files) {
    for (const Chunk& chunk : file.index.chunks()) {
      for (const Timestamp& time : {chunk.first, chunk.last}) {
        if (time.realtime_ns >= last.realtime_ns) last = time;
      }
    }
  }
  return last;
}

}  // namespace meterbank::recording
