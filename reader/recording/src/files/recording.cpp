// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/recording.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <optional>
#include <utility>

#include "../ticks/tick_reader.hpp"
#include "file_bytes.hpp"
#include "meterbank/reader/replay.hpp"

namespace meterbank::recording {
namespace {

constexpr std::size_t kDamagesMax = 1000;

bool is_recording_name(std::string_view name) { return name.ends_with(".mbr"); }

// Names sort in the order in which a recorder made the files.
Result<std::vector<std::string>> find_files(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kDenied;
    return fail(code, "no recording at " + path, "meterbank record -o " + path, errno);
  }
  if (!S_ISDIR(facts.st_mode)) return std::vector<std::string>{path};
  DIR* const directory = ::opendir(path.c_str());
  if (directory == nullptr) {
    return fail(ErrorCode::kDenied, "cannot read the directory " + path, {}, errno);
  }
  std::vector<std::string> files;
  while (const dirent* const entry = ::readdir(directory)) {
    if (is_recording_name(entry->d_name)) files.push_back(path + '/' + entry->d_name);
  }
  ::closedir(directory);
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    return fail(ErrorCode::kNotFound, path + " has no recording: no file *.mbr",
                "meterbank record -o " + path);
  }
  return files;
}

std::optional<ChunkIndex> read_index(FileBytes& bytes) {
  if (bytes.size() < kTrailer) return std::nullopt;
  const auto trailer = bytes.at(bytes.size() - kTrailer, kTrailer);
  if (trailer.size() < kTrailer) return std::nullopt;
  const auto offset = index_offset(trailer.first<kTrailer>());
  if (!offset || *offset >= bytes.size()) return std::nullopt;
  FrameWalk walk(bytes, *offset);
  const auto frame = walk.next();
  // Its offset is a claim of the file: the frame must be there, and be the last one.
  if (!frame || frame->offset != *offset || frame->end() != bytes.size()) return std::nullopt;
  return ChunkIndex::parse(*frame);
}

}  // namespace

struct Recording::State {
  State(CatalogOptions options, std::uint32_t uid) : replay(std::move(options), uid), ticks(replay) {}

  Replay replay;
  std::vector<RecordingFile> files;
  std::vector<FileBytes> bytes;  // of each
  std::size_t file = 0;          // that is read
  std::optional<FrameWalk> walk;
  std::optional<Frame> frame;  // the next one that has a moment
  Timestamp next_time;         // of it
  ReadSchemas schemas;
  TickReader ticks;
  bool is_somewhere = false;
  std::vector<Damage> damages;
  std::vector<Gap> gaps;
  std::vector<Mark> marks;

  Result<void> add_file(const std::string& path);
  void note(std::uint64_t offset, std::uint64_t bytes_skipped, std::string what);
  [[nodiscard]] bool find_next();
  [[nodiscard]] bool take_frame(const Frame& found);
  [[nodiscard]] bool peek(const Frame& found);
  [[nodiscard]] bool show_next();
  void go_to(std::size_t to_file, std::uint64_t offset);
  void load_schemas(std::uint64_t before);
  [[nodiscard]] bool go_to_chunk(std::uint64_t realtime_ns);
};

// ---- Files --------------------------------------------------------------------------------------

Result<void> Recording::State::add_file(const std::string& path) {
  auto opened = FileBytes::open(path);
  if (!opened) return tl::make_unexpected(std::move(opened.error()));
  FrameWalk from_start(*opened);
  const auto begin = from_start.next();
  auto head = begin ? parse_head(*begin)
                    : Result<Head>(fail(ErrorCode::kCorrupt, "it has no whole frame"));
  if (!head) {
    head.error().what = path + ": " + head.error().what;
    return tl::make_unexpected(std::move(head.error()));
  }
  RecordingFile one;
  one.path = path;
  one.bytes = opened->size();
  one.head = std::move(*head);
  if (auto index = read_index(*opened)) {
    one.index = std::move(*index);
    one.is_ended = true;
  } else {
    FrameWalk all(*opened);
    while (const auto found = all.next()) one.index.take(*found);
    one.unfinished = opened->size() - all.whole();
  }
  opened->release();
  files.push_back(std::move(one));
  bytes.push_back(std::move(*opened));
  return {};
}

Result<Recording> Recording::open(const std::string& path, CatalogOptions options) {
  try {
    auto paths = find_files(path);
    if (!paths) return tl::make_unexpected(std::move(paths.error()));
    // The user of the recorder decides who is trusted, and the first file names it.
    std::unique_ptr<State> state;
    std::vector<Damage> unreadable;
    Error first_error;
    auto probe = std::make_unique<State>(options, 0);
    for (const std::string& one : *paths) {
      if (auto added = probe->add_file(one); !added) {
        if (unreadable.empty()) first_error = added.error();
        unreadable.push_back({one, 0, 0, added.error().message()});
      }
    }
    if (probe->files.empty()) return tl::make_unexpected(std::move(first_error));
    state = std::make_unique<State>(std::move(options), probe->files.front().head.uid);
    state->files = std::move(probe->files);
    state->bytes = std::move(probe->bytes);
    state->damages = std::move(unreadable);
    state->go_to(0, 0);
    return Recording(std::move(state));
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
  file = to_file;
  frame.reset();
  schemas.begin_file();
  bytes[file].look_again();
  if (offset != 0) load_schemas(offset);
  walk.emplace(bytes[file], offset);
}

void Recording::State::load_schemas(std::uint64_t before) {
  for (const std::uint64_t offset : files[file].index.schemas()) {
    if (offset >= before) return;
    FrameWalk one(bytes[file], offset);
    const auto found = one.next();
    if (!found || found->offset != offset || found->kind != FrameKind::kSchema) continue;
    if (auto taken = schemas.take(found->payload); !taken) note(offset, 0, taken.error().what);
  }
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
    if (!ticks.is_whole()) return false;
    times.read_next(in);
  }
  next_time = times.time();
  return !in.failed();
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
      if (const auto gap = parse_gap(found)) gaps.push_back(*gap);
      return false;
    case FrameKind::kMark:
      if (auto mark = parse_mark(found)) marks.push_back(std::move(*mark));
      return false;
    case FrameKind::kKey:
    case FrameKind::kTick:
      return peek(found);
    case FrameKind::kHead:
    case FrameKind::kIndex:
      return false;
  }
  return false;
}

// Makes `frame` the next one that has a moment.
bool Recording::State::find_next() {
  while (!frame) {
    const auto found = walk->next();
    if (const auto skipped = walk->take_skipped()) {
      // What a recorder was writing when it was killed, or is writing now, is no damage.
      const bool is_tail = skipped->offset + skipped->bytes == bytes[file].size() &&
                           !files[file].is_ended;
      if (!is_tail) note(skipped->offset, skipped->bytes, "bytes that are no frame");
      ticks.lose();
    }
    if (found) {
      if (take_frame(*found)) frame = found;
      continue;
    }
    if (file + 1 >= files.size()) return false;
    bytes[file].release();
    go_to(file + 1, 0);
  }
  return true;
}

bool Recording::State::show_next() {
  while (find_next()) {
    const Frame taken_frame = *std::exchange(frame, std::nullopt);
    ByteReader payload(taken_frame.payload);
    Result<void> taken;
    if (taken_frame.kind == FrameKind::kKey) {
      static_cast<void>(payload.raw<Marker>());
      taken = ticks.take_key(payload, schemas, files[file].head.recorder);
    } else {
      taken = ticks.take_tick(payload, schemas);
    }
    if (taken) {
      replay.show(ticks.times().time());
      is_somewhere = true;
      return true;
    }
    ticks.lose();
    note(taken_frame.offset, 0, taken.error().what);
  }
  return false;
}

bool Recording::next() { return state_->show_next(); }

// ---- Seeking ------------------------------------------------------------------------------------

// To the last chunk that begins at or before the moment.
bool Recording::State::go_to_chunk(std::uint64_t realtime_ns) {
  std::optional<std::pair<std::size_t, std::uint64_t>> place;
  for (std::size_t index = 0; index < files.size(); ++index) {
    for (const Chunk& chunk : files[index].index.chunks()) {
      if (chunk.first.realtime_ns <= realtime_ns) place = {index, chunk.offset};
    }
  }
  if (!place) return false;
  go_to(place->first, place->second);
  ticks.lose();
  return true;
}

bool Recording::seek(std::uint64_t realtime_ns) {
  State& state = *state_;
  const auto is_before = [&](const Timestamp& time) { return time.realtime_ns <= realtime_ns; };
  // Near and ahead: going on costs less than beginning a chunk anew.
  constexpr std::uint64_t kNear = 60'000'000'000;
  const bool is_near = state.is_somewhere && is_before(time()) &&
                       realtime_ns - time().realtime_ns < kNear;
  if (!is_near && !state.go_to_chunk(realtime_ns)) return false;
  bool any = is_near;
  while (state.find_next() && is_before(state.next_time)) any |= state.show_next();
  return any;
}

bool Recording::has_all_of(const Query& query) const {
  if (state_->files[state_->file].head.rates.size() <= 1) return true;
  const auto selected = query.selected();
  return std::all_of(selected.begin(), selected.end(), [this](const SelectedSet& one) {
    const std::uint64_t rate = state_->ticks.rate_of(one.provider(), one.registered());
    return rate == TickReader::kNoRate || (state_->ticks.due() >> rate & 1U) != 0;
  });
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
  for (const RecordingFile& file : state_->files) {
    if (!file.index.chunks().empty()) return file.index.chunks().front().first;
  }
  return {};
}

Timestamp Recording::last() const noexcept {
  Timestamp last;
  for (const RecordingFile& file : state_->files) {
    for (const Chunk& chunk : file.index.chunks()) {
      if (chunk.last.realtime_ns >= last.realtime_ns) last = chunk.last;
    }
  }
  return last;
}

}  // namespace meterbank::recording
