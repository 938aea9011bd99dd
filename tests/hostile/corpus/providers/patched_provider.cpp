// SPDX-License-Identifier: Apache-2.0
#include "patched_provider.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

namespace meterbank::hostile {
namespace {

// Where this process has mapped the file of that inode.
std::byte* mapping_of(std::uint64_t inode) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    std::uint64_t start = 0, found = 0;
    const bool whole =
        std::sscanf(line.c_str(), "%" SCNx64 "-%*x %*s %*x %*s %" SCNu64, &start, &found) == 2;
    if (whole && found == inode && line.find("memfd:meterbank:") != std::string::npos) {
      return reinterpret_cast<std::byte*>(start);
    }
  }
  throw std::runtime_error("the memory of the provider is not mapped");
}

PointerRecord read_record(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return *PointerRecord::parse(text);
}

}  // namespace

PatchedProvider::PatchedProvider(const Stage& stage, const CountersetSpec& spec,
                                 const std::vector<std::string>& rows, std::string_view name)
    : provider_(*Provider::create({.name = std::string(name), .directory = stage.directory()})),
      set_(*provider_.add(spec)) {
  for (const std::string& row : rows) {
    if (spec.sharded || spec.shards != 0) break;
    rows_.push_back(*set_.create_instance(row));
    rows_.back().set(Level::kLevel, rows_.size());
  }
  const PointerRecord found = record();
  memory_ = mapping_of(found.inode);
  bytes_ = static_cast<std::uint32_t>(found.bytes);
  names_ = bytes_ - 16 * 1024;
}

PointerRecord PatchedProvider::record() const { return read_record(provider_.record()); }

// Extent 0 only: the others are of no interest here.
std::byte* PatchedProvider::at(Ref ref) const { return memory_ + offset_of(ref); }
SegmentHeader& PatchedProvider::header() const {
  return *reinterpret_cast<SegmentHeader*>(memory_);
}
// relaxed, all in this file: the attacker is alone until it says that it is ready.
RegistrationRecord& PatchedProvider::registration(std::size_t index) const {
  const Ref ref = header().registrations[index].load(std::memory_order_relaxed);
  return *reinterpret_cast<RegistrationRecord*>(at(ref));
}
SchemaHeader& PatchedProvider::schema() const {
  return *reinterpret_cast<SchemaHeader*>(at(registration().schema));
}
CounterRecord& PatchedProvider::counter(std::size_t index) const {
  return reinterpret_cast<CounterRecord*>(&schema() + 1)[index];
}
Ref PatchedProvider::group_ref() const {
  return registration().first_group.load(std::memory_order_relaxed);
}
GroupHeader& PatchedProvider::group() const {
  return *reinterpret_cast<GroupHeader*>(at(group_ref()));
}
BlockForm PatchedProvider::form() const {
  const RegistrationRecord& record = registration();
  return {record.words,      record.lanes,    static_cast<Consistency>(record.consistency),
          record.checkpoint, record.cut_pair, record.shards};
}
BlockParts<SharedWord> PatchedProvider::block(std::uint32_t slot, std::uint32_t shard) const {
  return block_parts(at(group_ref()), form(), GroupLayout::of(form(), group().slots), slot, shard);
}
SlotDescriptor& PatchedProvider::descriptor(std::uint32_t slot) const {
  const auto offset = GroupLayout::of(form(), group().slots).descriptors;
  return reinterpret_cast<SlotDescriptor*>(at(group_ref()) + offset)[slot];
}

TextRef PatchedProvider::keep(std::string_view text) {
  constexpr std::uint32_t kRoom = 8 * 1024;
  RegistrationRecord& record = registration();
  if (schema_room_ == 0) {
    const std::uint32_t place = bytes_ - 32 * 1024;
    std::memcpy(memory_ + place, at(record.schema), record.schema_bytes);
    schema_room_ = place + record.schema_bytes;
    record.schema = make_ref(0, place);
    record.schema_bytes = kRoom;
    schema().bytes = kRoom;
  }
  const TextRef kept{schema_room_ - offset_of(record.schema),
                     static_cast<std::uint32_t>(text.size())};
  std::memcpy(memory_ + schema_room_, text.data(), text.size());
  schema_room_ += kept.bytes;
  return kept;
}

void PatchedProvider::put(TextRef SchemaHeader::*text, std::string_view with) {
  const TextRef kept = keep(with);
  schema().*text = kept;
}
void PatchedProvider::put(std::size_t index, TextRef CounterRecord::*text, std::string_view with) {
  const TextRef kept = keep(with);
  counter(index).*text = kept;
}

void PatchedProvider::put_name(std::uint32_t slot, std::string_view with) {
  SlotDescriptor& target = descriptor(slot);
  const std::uint64_t id = target.identity.load(std::memory_order_relaxed) & 0xffffffff;
  target.identity.store(with.size() << 32 | id, std::memory_order_relaxed);
  std::byte* place = reinterpret_cast<std::byte*>(target.name_here.data());
  target.name.store(0, std::memory_order_relaxed);
  if (with.size() > kNameHereBytes) {
    place = memory_ + names_;
    target.name.store(make_ref(0, names_), std::memory_order_relaxed);
    names_ += static_cast<std::uint32_t>((with.size() + 63) / 64 * 64);
  }
  std::memcpy(place, with.data(), with.size());
}

void PatchedProvider::announce() const {
  header().directory_version.fetch_add(1, std::memory_order_relaxed);
}

int forge_memory(const ForgedMemory& options, std::span<const std::byte> content) {
  constexpr int kKeepSize = 1;  // FALLOC_FL_KEEP_SIZE
  const int memory =
      ::memfd_create("meterbank:forged", MFD_CLOEXEC | MFD_ALLOW_SEALING | options.flags);
  if (memory < 0) throw std::runtime_error("no memfd");
  const std::uint64_t allocated = std::min(options.allocated, options.bytes);
  const auto bytes = static_cast<off_t>(options.bytes);
  if (allocated != 0 && ::fallocate(memory, 0, 0, static_cast<off_t>(allocated)) != 0) {
    throw std::runtime_error("no memory for a memfd");
  }
  if (::ftruncate(memory, bytes) != 0) throw std::runtime_error("a memfd that does not grow");
  if (options.beyond != 0 &&
      ::fallocate(memory, kKeepSize, bytes, static_cast<off_t>(options.beyond)) != 0) {
    throw std::runtime_error("no memory beyond the end");
  }
  if (!content.empty() && ::pwrite(memory, content.data(), content.size(), 0) < 0) {
    throw std::runtime_error("a memfd that takes no content");
  }
  if (options.seals != 0 && ::fcntl(memory, F_ADD_SEALS, options.seals) != 0) {
    throw std::runtime_error("a memfd that takes no seals");
  }
  ::fchmod(memory, 0444);
  return memory;
}

std::vector<std::byte> honest_image(const Stage& stage, const CountersetSpec& spec) {
  const PatchedProvider honest(stage, spec);
  std::vector<std::byte> image(honest.bytes());
  std::memcpy(image.data(), honest.at(0), image.size());
  auto* const header = reinterpret_cast<SegmentHeader*>(image.data());
  header->segment_id = {any_number(), any_number()};
  header->heartbeat_period_ns.store(0, std::memory_order_relaxed);
  header->owner_mutex = {};
  return image;
}

PointerRecord record_for(int descriptor, std::string_view name) {
  struct stat facts {};
  ::fstat(descriptor, &facts);
  const auto pid = static_cast<std::uint32_t>(::getpid());
  return {.name = std::string(name),
          .pid = pid,
          .start_time = process_start_time(pid),
          .boot_id = boot_id(),
          .descriptor = static_cast<std::uint32_t>(descriptor),
          .inode = facts.st_ino,
          .bytes = static_cast<std::uint64_t>(facts.st_size),
          .layout_major = kLayoutMajor,
          .layout_minor = kLayoutMinor};
}

void publish(const Stage& stage, const PointerRecord& record) {
  if (!write_record(stage.directory(), record)) throw std::runtime_error("no record");
}

std::string write_file(const Stage& stage, std::string_view name, std::string_view text) {
  std::string path = stage.directory() + "/" + std::string(name);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  return path;
}

std::uint64_t any_number() {
  static std::mt19937_64 random(15);
  return random();
}

pid_t in_child(const Stage& stage, const std::function<void(const Stage&)>& body) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    body(stage);
    ::_exit(0);
  }
  ::close(ends[1]);
  char word = 0;
  const bool said = ::read(ends[0], &word, 1) == 1;
  ::close(ends[0]);
  if (!said) throw std::runtime_error("the child did not become ready");
  return child;
}

}  // namespace meterbank::hostile
