// SPDX-License-Identifier: Apache-2.0
#include "segment_eye.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/schema_layout.hpp"

namespace meterbank::test {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30;

using File = std::shared_ptr<const UniqueFd>;

Result<MappedExtent> map_file(const UniqueFd& file) {
  return MappedExtent::map(UniqueFd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 3)), kBytesMax);
}

Result<File> open_file(pid_t pid, std::uint32_t descriptor, std::uint64_t inode) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(ErrorCode::kGone, path, {}, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || facts.st_ino != inode) {
    return fail(ErrorCode::kGone, path + " is another file now");
  }
  return std::make_shared<const UniqueFd>(std::move(file));
}

Result<std::string> text_of_file(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(ErrorCode::kGone, path, {}, errno);
  std::array<char, kPointerRecordBytesMax> text{};
  const auto bytes = ::read(file.get(), text.data(), text.size());
  if (bytes < 0) return fail(ErrorCode::kSystem, path, {}, errno);
  return std::string(text.data(), static_cast<std::size_t>(bytes));
}

// Names lie in words; `bytes` of them are the text.
std::string text_of_words(const SharedWord* words, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t at = 0; at < bytes; at += 8) {
    const std::uint64_t word = StdAtomics::load_relaxed(words[at / 8]);  // relaxed: see still_in
    std::memcpy(text.data() + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
  return text;
}

}  // namespace

BlockParts<const SharedWord> only_block(SegmentEye& eye) {
  std::vector<SeenSlot> slots;
  EXPECT_EQ(eye.walk(slots), "");
  EXPECT_EQ(slots.size(), 1U);
  return slots.size() == 1 ? slots.front().block : BlockParts<const SharedWord>();
}

std::vector<std::string> records_in(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& item : std::filesystem::directory_iterator(directory)) {
    if (item.path().extension() == kPointerRecordSuffix) paths.push_back(item.path().string());
  }
  return paths;
}

Result<SegmentEye> SegmentEye::of_record(const std::string& path) {
  const auto text = text_of_file(path);
  if (!text) return tl::make_unexpected(text.error());
  const auto record = PointerRecord::parse(*text);
  if (!record) return tl::make_unexpected(record.error());
  if (process_start_time(record->pid) != record->start_time) {
    return fail(ErrorCode::kGone, path + " is of a process that ended");
  }
  const auto pid = static_cast<pid_t>(record->pid);
  auto file = open_file(pid, record->descriptor, record->inode);
  if (!file) return tl::make_unexpected(file.error());
  auto extent = map_file(**file);
  if (!extent) return tl::make_unexpected(extent.error());
  auto segment = MappedSegment::attach(std::move(*extent));
  if (!segment) return tl::make_unexpected(segment.error());
  Files files;
  files.push_back(std::move(*file));
  return SegmentEye(std::move(*segment), std::move(files), pid);
}

Result<SegmentEye> SegmentEye::of_directory(const std::string& directory) {
  for (const std::string& path : records_in(directory)) {
    auto eye = of_record(path);
    if (eye || eye.error().code != ErrorCode::kGone) return eye;
  }
  return fail(ErrorCode::kNotFound, "no live record in " + directory);
}

Result<SegmentEye> SegmentEye::again() const {
  std::shared_ptr<const MappedSegment> fresh;
  for (const File& file : files_) {
    auto extent = map_file(*file);
    if (!extent) return tl::make_unexpected(extent.error());
    if (fresh) {
      fresh = fresh->with(std::move(*extent));
      continue;
    }
    auto first = MappedSegment::attach(std::move(*extent));
    if (!first) return tl::make_unexpected(first.error());
    fresh = std::move(*first);
  }
  return SegmentEye(std::move(fresh), files_, pid_);
}

std::string SegmentEye::map_new_extents() {
  // [Q2] pairs with [P2]: the entry is seen with the count.
  const std::uint32_t count = header().extents_count.load(std::memory_order_acquire);
  if (count > kExtentsMax) return "too many extents";
  while (segment_->extents() < count) {
    const ExtentEntry entry = header().extents[segment_->extents()];
    auto file = open_file(pid_, entry.descriptor, entry.inode);
    if (!file) return "extent: " + file.error().message();
    auto extent = map_file(**file);
    if (!extent) return "extent: " + extent.error().message();
    if (extent->bytes().size() != entry.bytes) return "extent of another size than its entry says";
    segment_ = segment_->with(std::move(*extent));
    files_.push_back(std::move(*file));
  }
  return {};
}

std::string SegmentEye::walk(std::vector<SeenSlot>& slots) {
  slots.clear();
  if (std::string fault = map_new_extents(); !fault.empty()) return fault;
  // [Q6] pairs with [P6]: the Ref and the record are seen with the count.
  const std::uint32_t count = header().registrations_count.load(std::memory_order_acquire);
  if (count > kRegistrationsMax) return "too many registrations";
  for (std::uint32_t index = 0; index < count; ++index) {
    // relaxed: written before the count, which was loaded by [Q6].
    const Ref place = header().registrations[index].load(std::memory_order_relaxed);
    if (std::string fault = walk_registration(place, slots); !fault.empty()) return fault;
  }
  return {};
}

std::string SegmentEye::walk_registration(Ref place, std::vector<SeenSlot>& slots) const {
  const auto* record = segment_->at<RegistrationRecord>(place);
  if (record == nullptr) return "registration outside";
  // [Q3] pairs with [P3]: the schema is seen with the word.
  const auto word = RegistrationWord::of(record->word.load(std::memory_order_acquire));
  if (word.state == RegistrationState::kFree) return {};
  const auto* schema = segment_->at<SchemaHeader>(record->schema);
  if (schema == nullptr || schema->bytes != record->schema_bytes) return "schema outside";
  std::string set(schema->name.bytes, '\0');
  if (schema->name.bytes > kNameBytesMax ||
      !segment_->copy_out(record->schema + schema->name.offset, set.size(),
                          reinterpret_cast<std::byte*>(set.data()))) {
    return "schema name outside";
  }
  const BlockForm form{.words = record->words,
                       .lanes = record->lanes,
                       .consistency = Consistency{record->consistency},
                       .checkpoint = record->checkpoint,
                       .cut_pair = record->cut_pair,
                       .shards = record->shards};
  if (!form.valid()) return "block form of '" + set + "'";
  // [Q4] pairs with [P4]: the group is seen with the link.
  Ref group = record->first_group.load(std::memory_order_acquire);
  for (std::uint32_t count = 0; group != 0; ++count) {
    if (count == kGroupsMax) return "endless groups";
    if (std::string fault = walk_group(group, form, set, slots); !fault.empty()) return fault;
    group = segment_->at<GroupHeader>(group)->next.load(std::memory_order_acquire);  // [Q4] again
  }
  return {};
}

std::string SegmentEye::walk_group(Ref place, const BlockForm& form, const std::string& set,
                                   std::vector<SeenSlot>& slots) const {
  const auto* header = segment_->at<GroupHeader>(place);
  if (header == nullptr) return "group outside";
  if (header->slots == 0 || header->slots % 8 != 0 || header->slots > kGroupSlotsMax) {
    return "group of " + std::to_string(header->slots) + " slots";
  }
  const GroupLayout layout = GroupLayout::of(form, header->slots);
  const std::byte* group = segment_->lines_at(place, layout.bytes);
  if (group == nullptr) return "group reaches outside";
  const auto* descriptors = reinterpret_cast<const SlotDescriptor*>(group + layout.descriptors);
  for (std::uint32_t index = 0; index < header->slots; ++index) {
    SeenSlot seen;
    seen.form = form;
    seen.block = block_parts(group, form, layout, index);
    seen.slot = seen.block.slot;
    const SlotWord word = slot_of<StdAtomics>(*seen.slot);
    if (!word.readable()) continue;
    const SlotDescriptor& descriptor = descriptors[index];
    // relaxed, both: still_in() below vouches for them.
    const std::uint64_t identity = descriptor.identity.load(std::memory_order_relaxed);
    const Ref long_name = descriptor.name.load(std::memory_order_relaxed);
    const std::uint64_t bytes = identity >> 32;
    if (bytes > kNameBytesMax) return "name of " + std::to_string(bytes) + " bytes";
    const SharedWord* words = descriptor.name_here.data();
    if (long_name != 0) {
      words = reinterpret_cast<const SharedWord*>(
          segment_->lines_at(long_name, (bytes + kCacheLine - 1) / kCacheLine * kCacheLine));
      if (words == nullptr) return "long name outside";
    } else if (bytes > kNameHereBytes) {
      return "name does not fit where it lies";
    }
    seen.name = text_of_words(words, bytes);
    if (!still_in<StdAtomics>(*seen.slot, word.generation)) continue;
    seen.set = set;
    seen.generation = word.generation;
    seen.state = word.state;
    slots.push_back(std::move(seen));
  }
  return {};
}

}  // namespace meterbank::test
