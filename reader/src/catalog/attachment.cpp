// SPDX-License-Identifier: Apache-2.0
#include "attachment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "liveness_words.hpp"
#include "meterbank/base/why_silent.hpp"
#include "meterbank/shm/utf8.hpp"
#include "process/process_memory.hpp"

namespace meterbank {
namespace {

// After a door did not answer.
constexpr std::chrono::seconds kDoorRest{2};

// A field of the header that is constant since the segment was published, as a copy of its own: the
// provider could still be changing it, so it is never checked in place.
template <typename T>
T header_copy(const MappedSegment& segment, std::size_t offset) noexcept {
  T copy{};
  std::array<std::byte, sizeof(T)> bytes{};
  // The header was found whole when the segment was attached.
  if (segment.copy_out(offset, bytes.size(), bytes.data())) {
    std::memcpy(&copy, bytes.data(), sizeof copy);
  }
  return copy;
}

std::string name_in_header(const MappedSegment& segment) {
  using Name = std::array<char, 64>;
  const auto bytes = header_copy<std::uint32_t>(segment, offsetof(SegmentHeader, name_bytes));
  const auto name = header_copy<Name>(segment, offsetof(SegmentHeader, name));
  const std::size_t size = std::min<std::size_t>(bytes, kProviderNameBytesMax);
  return repair_utf8({name.data(), size}, kProviderNameBytesMax).text;
}

Error gone(const PointerRecord& record) {
  return Error{ErrorCode::kGone, 0,
               "provider " + escape_for_terminal(record.name) + "@" + std::to_string(record.pid) +
                   " has ended, and its memory with it",
               "meterbank doctor --clean, which removes the record that it left behind"};
}

// Empty: the record names none.
std::string socket_beside(const std::string& record, const std::string& name) {
  return name.empty() ? name : record.substr(0, record.rfind('/') + 1) + name;
}

}  // namespace

Attachment::Attachment(const FoundRecord& found, bool trusted, ProcessTable& processes)
    : path_(found.path),
      listed_inode_(found.listed_inode),
      owner_(found.owner),
      trusted_(trusted),
      is_walked_(found.process.has_value()),
      file_(found.file),
      record_(*found.record),
      here_(found.process ? processes.as_seen_here(record_, *found.process) : record_),
      process_(processes.watch(here_)),
      verdict_(processes.verdict_on(here_, *process_)),
      shares_clock_(processes.shares_clock(record_)) {}

void Attachment::found_in(const ProcessHere& process, ProcessTable& processes) {
  if (verdict_.life == Life::kAlive || verdict_.life == Life::kGone) return;
  here_ = processes.as_seen_here(record_, process);
  process_ = processes.watch(here_);
  verdict_ = processes.verdict_on(here_, *process_);
}

void Attachment::claim_memory(Memories& memories) const {
  if (segment_ != nullptr) memories.insert(memory_);
}

void Attachment::set_successor(bool has_successor) {
  has_successor_ = has_successor;
  if (!has_successor || segment_ == nullptr) return;
  segment_ = nullptr;
  error_ = gone(record_);
  build_view(view_->state, Look::kWhole);
}

bool Attachment::is_in(std::string_view directory) const noexcept {
  return std::string_view(path_).substr(0, path_.rfind('/')) == directory;
}

bool Attachment::has_record_file() const noexcept {
  return ::access(path_.c_str(), F_OK) == 0 || errno != ENOENT;
}

tl::unexpected<Error> Attachment::exceeds(ReadLimit limit, std::uint64_t bytes,
                                          const MappingBudget& budget) {
  limited_by_ = limit;
  const bool is_user = limit == ReadLimit::kUserBytes;
  const std::string whose = is_user ? "all providers of user " + std::to_string(owner_) + " publish"
                                    : escape_for_terminal(record_.name) + "@" +
                                          std::to_string(record_.pid) + " publishes";
  const std::uint64_t held = mapped_bytes();
  return fail(ErrorCode::kLimit,
              whose + " more than the " +
                  std::to_string(is_user ? budget.user_bytes_max() : budget.segment_bytes_max()) +
                  " bytes that are mapped; its next " + std::to_string(bytes) +
                  " bytes are left out, " + std::to_string(held) + " are read",
              is_user ? "raise CatalogOptions::user_bytes_max if this user is trusted"
                      : "raise CatalogOptions::segment_bytes_max");
}

Result<MappedExtent> Attachment::map(UniqueFd opened, MappingBudget& budget) {
  struct stat facts {};
  if (::fstat(opened.get(), &facts) != 0) {
    return fail(ErrorCode::kSystem, "owner of " + escape_for_terminal(record_.name), {}, errno);
  }
  // The record says whom it speaks for; the kernel says whose memory it is.
  if (facts.st_uid != owner_) {
    return fail(ErrorCode::kDenied,
                "the record of user " + std::to_string(owner_) + " points at memory of user " +
                    std::to_string(facts.st_uid),
                "remove " + escape_for_terminal(path_));
  }
  const auto bytes = static_cast<std::uint64_t>(std::max<off_t>(facts.st_size, 0));
  if (bytes > budget.room_in_segment(mapped_bytes())) {
    return exceeds(ReadLimit::kSegmentBytes, bytes, budget);
  }
  if (bytes > budget.room_of_user(owner_)) return exceeds(ReadLimit::kUserBytes, bytes, budget);
  auto extent = MappedExtent::map(std::move(opened), budget.room_in_segment(mapped_bytes()));
  if (extent) budget.count(owner_, extent->bytes().size());
  return extent;
}

Result<UniqueFd> Attachment::open_extent(std::uint32_t index, std::uint32_t descriptor,
                                         std::uint64_t inode, DoorTimeouts& timeouts) {
  auto opened = open_memory_of(here_.pid, descriptor, inode, owner_);
  if (opened) return opened;
  Error& why = opened.error();
  // A number of another namespace is that of another process here, which has nothing to say.
  if (verdict_.life == Life::kForeign && !is_shortage(why.system_error)) {
    why = {ErrorCode::kForeign, 0, {}, std::string(verdict_.remedy)};
  }
  if (record_.door.empty() && (why.code == ErrorCode::kForeign || why.code == ErrorCode::kDenied)) {
    why.remedy += ", or give the provider a heartbeat, and with it a door";
  }
  if (record_.door.empty() || door_is_shut_) return opened;
  auto handed = ask_for_extent(index, inode, timeouts);
  if (handed) return handed;
  // A provider in a user namespace does not know root of this one. The kernel has said which
  // process listens at the door, and its memory is open to root.
  if (handed.error().code == ErrorCode::kDenied && pid_here() != 0) {
    if (auto there = open_memory_of(pid_here(), descriptor, inode, owner_)) return there;
  }
  const bool door_knows = handed.error().code != ErrorCode::kGone;
  return door_knows || verdict_.life != Life::kAlive ? std::move(handed) : std::move(opened);
}

std::uint32_t Attachment::pid_here() const noexcept {
  const bool is_checked = verdict_.life == Life::kAlive || verdict_.life == Life::kGone;
  return is_checked ? here_.pid : pid_here_;
}

Error Attachment::silent_at_door(std::string what) const {
  Silence silence = why_silent(pid_here(), owner_);
  if (!silence.why.empty()) what += ": it is " + silence.why;
  return {ErrorCode::kTimeout, 0, std::move(what), std::move(silence.remedy)};
}

void Attachment::take_door(DoorConnection door) noexcept {
  door_ = std::move(door);
  pid_here_ = static_cast<std::uint32_t>(door_.peer().pid);
}

Result<UniqueFd> Attachment::ask_for_extent(std::uint32_t index, std::uint64_t inode,
                                            DoorTimeouts& timeouts) {
  const auto has = [this, index] {
    return index >= handed_out_.first && index - handed_out_.first < handed_out_.count;
  };
  if (!has()) {
    const auto now = std::chrono::steady_clock::now();
    if (now < door_rests_until_) {
      return tl::make_unexpected(
          silent_at_door("the provider did not answer at its door a moment ago"));
    }
    if (!door_) {
      auto connected = DoorConnection::connect(socket_beside(path_, record_.door));
      if (!connected) {
        door_is_shut_ = connected.error().code == ErrorCode::kGone;
        return tl::make_unexpected(std::move(connected.error()));
      }
      take_door(std::move(*connected));
    }
    auto answer = door_.ask(index, owner_, timeouts);
    if (!answer) {
      let_door_go();
      door_rests_until_ = now + kDoorRest;
      Error& why = answer.error();
      const bool was_silent = why.code == ErrorCode::kTimeout && why.remedy.empty();
      return tl::make_unexpected(was_silent ? silent_at_door(std::move(why.what)) : std::move(why));
    }
    handed_out_ = std::move(*answer);
  }
  if (!has()) return fail(ErrorCode::kGone, "the provider has no extent " + std::to_string(index));
  UniqueFd opened = std::move(handed_out_.descriptors[index - handed_out_.first]);
  struct stat facts {};
  if (::fstat(opened.get(), &facts) != 0 || facts.st_ino != inode) {
    return fail(ErrorCode::kCorrupt, "the provider's door handed out other memory than announced",
                "restart the provider");
  }
  return opened;
}

Result<void> Attachment::attach(const RefreshMeans& means) {
  auto opened = open_extent(0, record_.descriptor, record_.inode, means.timeouts);
  if (!opened) return tl::make_unexpected(std::move(opened.error()));
  struct stat facts {};
  if (::fstat(opened->get(), &facts) != 0) {
    return fail(ErrorCode::kSystem, "owner of " + record_.name, {}, errno);
  }
  memory_ = {facts.st_dev, facts.st_ino};
  if (means.memories.contains(memory_)) {
    repeats_memory_ = true;
    return fail(ErrorCode::kExists, path_ + " repeats the memory of another record");
  }
  auto extent = map(std::move(*opened), means.budget);
  if (!extent) return tl::make_unexpected(std::move(extent.error()));
  auto segment = MappedSegment::attach(std::move(*extent));
  if (!segment) return tl::make_unexpected(std::move(segment.error()));
  segment_ = *std::move(segment);
  return {};
}

bool Attachment::has_extent(std::uint64_t inode) const noexcept {
  for (std::size_t index = 0; index < segment_->extents(); ++index) {
    if (segment_->extent(index).inode() == inode) return true;
  }
  return false;
}

bool Attachment::add_extents(const RefreshMeans& means) {
  // [Q2] pairs with [P2]. Without it the entry below could be read before it was written.
  const std::uint32_t listed = segment_->header().extents_count.load(std::memory_order_acquire);
  const std::uint32_t count = std::min(listed, kExtentsMax);
  while (segment_->extents() < count) {
    const auto entry = header_copy<ExtentEntry>(
        *segment_, offsetof(SegmentHeader, extents) + segment_->extents() * sizeof(ExtentEntry));
    if (has_extent(entry.inode)) {
      error_ = {ErrorCode::kCorrupt, 0,
                "memory of process " + std::to_string(record_.pid) + " is listed twice",
                "restart the provider"};
      return false;
    }
    auto opened = open_extent(static_cast<std::uint32_t>(segment_->extents()), entry.descriptor,
                              entry.inode, means.timeouts);
    if (!opened) {
      error_ = std::move(opened.error());
      return false;
    }
    auto extent = map(std::move(*opened), means.budget);
    if (!extent) {
      error_ = std::move(extent.error());
      return false;
    }
    segment_ = segment_->with(std::move(*extent));
  }
  return true;
}

ProviderState Attachment::state() const noexcept {
  if (segment_ != nullptr && is_closed(segment_->header())) return ProviderState::kClosed;
  if (verdict_.life == Life::kGone) return ProviderState::kDead;
  const bool is_known = verdict_.life == Life::kAlive || door_ || door_was_open_;
  if (segment_ == nullptr && (is_known || verdict_.life == Life::kNotLooked)) {
    return ProviderState::kUnreadable;
  }
  if (!is_known) {
    // Its thread has ended, the kernel says, and nothing listens at its door: so has the process.
    const bool has_ended = segment_ != nullptr && door_is_shut_ && owner_died(segment_->header());
    return has_ended ? ProviderState::kDead : ProviderState::kForeign;
  }
  // The process lives, so a mark of death on its keeper says that the keeper alone has ended.
  if (owner_died(segment_->header())) return ProviderState::kHung;
  // Clocks of different time namespaces do not compare.
  const bool is_hung = shares_clock_ && is_late(segment_->header(), clock_ns(CLOCK_MONOTONIC));
  return is_hung ? ProviderState::kHung : ProviderState::kLive;
}

Error Attachment::why_foreign() const {
  Error error{ErrorCode::kForeign, 0,
              "process of " + escape_for_terminal(record_.name) + "@" +
                  std::to_string(record_.pid) +
                  " cannot be verified from here: " + std::string(verdict_.why),
              std::string(verdict_.remedy)};
  if (!error_.what.empty()) error.what += "; " + error_.what;
  // What makes its memory readable is worth more than what tells whether it lives.
  if (!error_.remedy.empty()) error.remedy = error_.remedy;
  if (door_is_shut_) {
    error.remedy = "if its container has ended, remove " + escape_for_terminal(path_);
  }
  if (verdict_.life == Life::kNotLooked) error.remedy = kMoreDescriptors;
  return error;
}

void Attachment::look_after_process(ProcessTable& processes) {
  if (verdict_.life == Life::kGone) return;  // for ever: its pid and start time do not come again
  const Verdict verdict = processes.verdict_on(here_, *process_);
  // What was alive and cannot be looked at now is not known to have changed.
  if (verdict.life == Life::kNotLooked && verdict_.life == Life::kAlive) return;
  verdict_ = verdict;
}

void Attachment::count_descriptors(ProcessTable& processes) const {
  if (door_ && door_is_counted_) processes.count_held(owner_);
}

bool Attachment::is_known_to_live() const noexcept {
  return (verdict_.life == Life::kAlive || door_ || door_was_open_) && is_alive(view_->state);
}

// A connection is kept only where the pid says nothing: there it is the sign of life. Where no more
// may be kept, connecting is that sign, at a rate that costs the provider nothing to speak of.
void Attachment::look_after_door(const RefreshMeans& means) {
  handed_out_ = {};
  if (record_.door.empty() || segment_ == nullptr || verdict_.life == Life::kAlive) {
    let_door_go();
    return;
  }
  if (door_ && door_.has_ended()) let_door_go();
  if (door_is_shut_ || (door_ && door_is_counted_)) return;
  const auto now = std::chrono::steady_clock::now();
  const bool may_hold = means.processes.may_hold(owner_);
  if (!door_) {
    if (!may_hold && door_was_open_ && now < door_seen_until_) return;
    door_was_open_ = false;
    auto connected = DoorConnection::connect(socket_beside(path_, record_.door));
    if (!connected) {
      door_is_shut_ = connected.error().code == ErrorCode::kGone;
      return;
    }
    take_door(std::move(*connected));
  }
  if (may_hold) {
    means.processes.count_held(owner_);
    door_is_counted_ = true;
    return;
  }
  let_door_go();
  door_was_open_ = true;
  door_seen_until_ = now + kDoorRest;
}

void Attachment::let_door_go() noexcept {
  door_ = {};
  door_is_counted_ = false;
  door_was_open_ = false;
}

void Attachment::refresh(const RefreshMeans& means) {
  look_after_process(means.processes);
  const bool is_gone = verdict_.life == Life::kGone;
  if ((is_gone || door_is_shut_) && view_ != nullptr && has_ended(view_->state)) return;
  if (repeats_memory_ && !is_gone && means.memories.contains(memory_)) return;
  repeats_memory_ = false;
  error_ = {};
  limited_by_ = ReadLimit::kNone;
  if (segment_ == nullptr && is_gone) {
    error_ = gone(record_);
  } else if (segment_ == nullptr) {
    if (auto attached = attach(means); !attached) {
      error_ = std::move(attached.error());
    } else {
      claim_memory(means.memories);
    }
  }
  // What is opened through procfs may be another process's by now; the inode decides.
  if (segment_ != nullptr && !is_gone) static_cast<void>(add_extents(means));
  if (is_shortage(error_.system_error)) limited_by_ = ReadLimit::kOpenFiles;
  if (segment_ != nullptr && verdict_.life == Life::kAlive) means.processes.hold(process_, owner_);
  look_after_door(means);
  if (state() == ProviderState::kForeign) error_ = why_foreign();
  if (means.wants_labels && pid_here() != outside_.pid) outside_ = read_outside_labels(pid_here());
  const ProviderState state = this->state();
  const bool is_new = view_ == nullptr || view_->state != state || segment_ != decoded_ ||
                      view_->error.code != error_.code || view_->error.what != error_.what ||
                      view_->limited_by != limited_by_ || view_->pid_here != pid_here() ||
                      view_->outside.pid != outside_.pid;
  // [Q5] pairs with [P5]. Without it a change could be missed that the version has announced.
  const bool has_changed = segment_ != nullptr && view_ != nullptr &&
                           segment_->header().directory_version.load(std::memory_order_acquire) !=
                               view_->directory_version;
  if (is_new || has_changed) build_view(state, is_new ? Look::kWhole : Look::kChanges);
  settle();
}

void Attachment::settle() noexcept {
  settled_ = {};
  const bool is_well = segment_ != nullptr && shares_clock_ && verdict_.life == Life::kAlive &&
                       view_->state == ProviderState::kLive && error_.what.empty() &&
                       limited_by_ == ReadLimit::kNone;
  if (is_well) settled_ = {&segment_->header(), view_->directory_version, segment_->extents()};
}

bool Attachment::is_as_it_was(const ProcessTable& processes, std::uint64_t now_ns) const noexcept {
  if (settled_.header == nullptr) {
    const bool is_final = verdict_.life == Life::kGone || door_is_shut_;
    return is_final && view_ != nullptr && has_ended(view_->state);
  }
  const SegmentHeader& header = *settled_.header;
  // [Q5] pairs with [P5]. Without it a change could be missed that the version has announced.
  const std::uint64_t version = header.directory_version.load(std::memory_order_acquire);
  // relaxed: whether there are more; refresh() loads it again before it looks at them.
  const std::uint32_t extents = header.extents_count.load(std::memory_order_relaxed);
  if (version != settled_.directory_version || extents != settled_.extents) return false;
  if (is_closed(header) || owner_died(header) || is_late(header, now_ns)) return false;
  return processes.holds(*process_) ? processes.runs(*process_) : shows_its_end(header, now_ns);
}

// What an earlier look left out is not in the log of changes, so that look has to be whole.
DecodedDirectory Attachment::decode(Look look) const {
  static const std::vector<RegisteredSet> none;
  if (view_ == nullptr) return decode_directory(*segment_, none);
  if (look == Look::kChanges && view_->errors.empty()) {
    auto changed = decode_changes(*segment_, {view_->directory_version, view_->sets});
    if (changed) return *std::move(changed);
  }
  return decode_directory(*segment_, view_->sets);
}

void Attachment::build_view(ProviderState state, Look look) {
  auto view = std::make_shared<ProviderView>();
  view->name = record_.name;
  view->pid = record_.pid;
  view->pid_here = pid_here();
  view->outside = outside_;
  view->uid = owner_;
  view->trusted = trusted_;
  view->start_time = record_.start_time;
  view->state = state;
  view->record = path_;
  view->record_file = file_;
  view->socket = socket_beside(path_, record_.socket);
  view->error = error_;
  view->limited_by = limited_by_;
  if (segment_ != nullptr) {
    DecodedDirectory decoded = decode(look);
    view->name = name_in_header(*segment_);
    view->segment_id = {segment_->extent(0).inode(), 0};
    view->created_realtime_ns =
        header_copy<std::uint64_t>(*segment_, offsetof(SegmentHeader, created_realtime_ns));
    view->bytes = segment_->bytes();
    view->directory_version = decoded.version;
    view->sets = std::move(decoded.sets);
    view->errors = std::move(decoded.errors);
    view->segment = segment_;
  }
  decoded_ = segment_;
  view_ = std::move(view);
}

}  // namespace meterbank
