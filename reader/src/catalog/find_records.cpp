// SPDX-License-Identifier: Apache-2.0
//
// Where a catalog finds what it attaches: records in directories, and memory that processes hold.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "catalog_parts.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/process_facts.hpp"

namespace meterbank {
namespace {

bool is_alike(const SegmentDirectories& left, const SegmentDirectories& right) {
  return left.paths == right.paths && left.squatted == right.squatted &&
         left.is_whole == right.is_whole;
}

using Attachments = std::vector<std::unique_ptr<Attachment>>;

void unlist(const Attachments& attachments, std::string_view directory) {
  for (const auto& attachment : attachments) {
    if (attachment->is_in(directory)) attachment->set_listed(false);
  }
}

void list_those_there(const Attachments& attachments, std::string_view directory) {
  for (const auto& attachment : attachments) {
    if (attachment->is_in(directory)) attachment->set_listed(attachment->has_record_file());
  }
}

}  // namespace

// Whether they are others than before.
bool Catalog::find_directories() {
  // As long as for the directories themselves, see record_scan.hpp.
  constexpr std::uint64_t kObjectsWithoutRest = 16'384, kRestNsPerObject = 8000;
  if (!options_.directory.empty()) {
    if (!directories_.empty()) return false;
    directories_ = split_directories(options_.directory);
    return true;
  }
  if (clock_ns(CLOCK_MONOTONIC) < parts_->listing_rests_until) return false;
  SegmentDirectories listed = segment_directories(options_.users != UserPolicy::kOwn);
  if (listed.objects > kObjectsWithoutRest) {
    parts_->listing_rests_until = clock_ns(CLOCK_MONOTONIC) + listed.objects * kRestNsPerObject;
  }
  if (is_alike(listed, parts_->listed)) return false;
  directories_ = listed.paths;
  const auto is_looked_into = [this](const auto& known) {
    return std::find(directories_.begin(), directories_.end(), known.first) != directories_.end();
  };
  for (const auto& known : parts_->directories) {
    if (!is_looked_into(known)) unlist(attachments_, known.first);
  }
  std::erase_if(parts_->directories, [&](const auto& known) { return !is_looked_into(known); });
  parts_->listed =
      std::move(listed);  // last: where memory runs out before, all of this is done again
  return true;
}

Catalog::Found Catalog::look_for_records() {
  Found found;
  found.is_news = find_directories();
  // By path; made when the first directory is walked through.
  std::unordered_map<std::string_view, Attachment*> attached;
  const auto find = [&](const std::string& path) {
    if (attached.empty()) {
      for (const auto& attachment : attachments_) {
        attached.emplace(attachment->path(), attachment.get());
      }
    }
    const auto known = attached.find(path);
    return known == attached.end() ? nullptr : known->second;
  };
  const auto knows = [&find](const std::string& path, std::uint64_t listed_inode) {
    const Attachment* known = find(path);
    return known != nullptr && known->listed_inode() == listed_inode;
  };
  const auto has_room = [this](std::uint32_t owner, LeftOutReason reason) {
    const Parts::Counts& counts = parts_->of_user[owner];
    return (reason == LeftOutReason::kProvidersMax ? counts.with_memory : counts.without) <
           options_.providers_per_user_max;
  };
  directory_errors_.clear();
  for (const std::string& path : directories_) {
    RecordDirectory& directory = parts_->directories.try_emplace(path, path).first->second;
    auto scan = directory.scan(options_.users, knows, has_room);
    if (scan && scan->walked == RecordScan::Walked::kNone) continue;
    found.is_news = true;
    if (!scan) {
      if (!options_.directory.empty()) directory_errors_.push_back(scan.error());
      // Gone, or not safe: nothing in it may be believed. Of what cannot be looked at, nothing is
      // known.
      const bool is_lack = is_shortage(scan.error().system_error);
      if (is_lack) ++found.unopened;
      if (!is_lack) unlist(attachments_, path);
      continue;
    }
    if (scan->walked == RecordScan::Walked::kAll) {
      unlist(attachments_, path);
    } else {
      list_those_there(attachments_, path);
    }
    for (FoundRecord& record : scan->found) {
      if (record.record) {
        found.added.push_back(std::move(record));
      } else {
        find(record.path)->set_listed(true);
      }
    }
  }
  return found;
}

// Memory that no record speaks of.
void Catalog::add_walked(Found& found) {
  found.is_news = true;
  std::unordered_map<std::uint64_t, std::uint32_t> announced;  // inodes, with their owners
  for (const auto& attachment : attachments_) {
    announced.emplace(attachment->inode(), attachment->owner());
    if (attachment->is_walked()) attachment->set_listed(false);
  }
  for (const FoundRecord& record : found.added)
    announced.emplace(record.record->inode, record.owner);
  for (const auto& [inode, memory] : parts_->walk.memories()) {
    if (!includes(options_.users, memory.owner)) continue;
    const auto known = announced.find(inode);
    if (known != announced.end() && known->second == memory.owner) continue;
    // It may have ended since the walk.
    if (process_start_time(memory.process.pid) != memory.process.start_time) continue;
    FoundRecord record;
    record.path = "/proc/" + std::to_string(memory.process.pid) + "/fd/" +
                  std::to_string(memory.record.descriptor);
    record.owner = memory.owner;
    record.file = memory.file;
    record.record = memory.record;
    record.process = memory.process;
    found.added.push_back(std::move(record));
  }
}

}  // namespace meterbank
