// SPDX-License-Identifier: Apache-2.0
//
// Memory that a reader should not map, and descriptors that are no memory at all.
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <stdexcept>

#include "../patched_provider.hpp"

namespace meterbank::hostile {
namespace {

constexpr auto kRelaxedOrder = std::memory_order_relaxed;  // disorder is welcome
constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr unsigned kHugePages = 0x0004;  // MFD_HUGETLB

// A provider by hand: an honest image in memory that is not as it should be.
[[noreturn]] void with_memory(const Stage& stage, const ForgedMemory& options) {
  publish(stage, record_for(forge_memory(options, honest_image(stage))));
  stage.hold();
}

// A record that points at something else.
[[noreturn]] void with_descriptor(const Stage& stage, int descriptor) {
  if (descriptor < 0) throw std::runtime_error("no such descriptor");
  publish(stage, record_for(descriptor));
  stage.hold();
}

// An image that lists extents as told; without any, itself each time.
[[noreturn]] void with_extents(const Stage& stage, std::span<const int> extents,
                               std::uint32_t times) {
  auto image = honest_image(stage);
  const int memory = forge_memory({.seals = 0}, {});
  auto* const header = reinterpret_cast<SegmentHeader*>(image.data());
  header->extents_count.store(times, kRelaxedOrder);
  for (std::uint32_t i = 0; i < times; ++i) {
    const bool is_first = i == 0 || extents.empty();
    const PointerRecord facts = record_for(is_first ? memory : extents[i % extents.size()]);
    header->extents[i] = {facts.bytes, facts.inode, facts.descriptor, 0};
  }
  if (::pwrite(memory, image.data(), image.size(), 0) < 0 ||
      ::fcntl(memory, F_ADD_SEALS, ForgedMemory{}.seals) != 0) {
    throw std::runtime_error("no memory");
  }
  publish(stage, record_for(memory));
  stage.hold();
}

int fifo(const Stage& stage) {
  const std::string path = stage.directory() + "/extent.fifo";
  ::mkfifo(path.c_str(), 0644);
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}
int pipe_end() {
  int ends[2];
  return ::pipe(ends) == 0 ? ends[0] : -1;
}
int terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  return ::grantpt(master) == 0 && ::unlockpt(master) == 0
             ? ::open(::ptsname(master), O_RDWR | O_NOCTTY)
             : -1;
}

constexpr std::array kAttacks{
    Attack{"extent_listed_24_times", "One extent listed 24 times: mapped once, or refused.",
           [](const Stage& stage) { with_extents(stage, {}, kExtentsMax); }, "rows>|error="},
    Attack{"extents_of_8_mib_listed_24_times",
           "Four extents listed 24 times in turn: memory stays within the bound.",
           [](const Stage& stage) {
             std::array<int, 4> extents{};
             for (int& extent : extents) extent = forge_memory({.bytes = 8 * kMebibyte}, {});
             with_extents(stage, extents, kExtentsMax);
           },
           "rows>|error="},
    Attack{"extent_is_a_regular_file", "The second extent is a file on disk: refused by name.",
           [](const Stage& stage) {
             const std::string path = write_file(stage, "extent.data", std::string(65536, 'x'));
             with_extents(stage, std::array{::open(path.c_str(), O_RDWR | O_CLOEXEC)}, 2);
           },
           "error="},
    Attack{"extent_of_the_healthy_provider",
           "A record of the healthy process's memory under another name: one memory, one provider.",
           [](const Stage& stage) {
             PointerRecord record = *PointerRecord::parse(stage.healthy_record());
             record.name = "attacker";
             publish(stage, record);
             stage.hold();
           }},
    Attack{"extent_without_seals", "A memfd that can still be cut: never mapped.",
           [](const Stage& stage) { with_memory(stage, {.seals = 0}); }, "error=UNSEALED"},
    Attack{"extent_that_may_be_written", "Sealed, but for future writes: never mapped.",
           [](const Stage& stage) {
             with_memory(stage, {.seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL});
           },
           "error=UNSEALED"},
    Attack{"extent_that_may_be_unsealed", "All seals but the last one: never mapped.",
           [](const Stage& stage) {
             with_memory(stage, {.seals = F_SEAL_SHRINK | F_SEAL_GROW | 0x0010});
           },
           "error=UNSEALED"},
    Attack{"extent_with_holes", "32 MiB of which one page is there: never charged to a reader.",
           [](const Stage& stage) {
             with_memory(stage, {.bytes = 32 * kMebibyte, .allocated = 65536});
           },
           "error=SPARSE"},
    Attack{"extent_allocated_beyond_its_end",
           "Holes within, pages behind the end: the file has enough blocks, and yet is refused.",
           [](const Stage& stage) {
             with_memory(stage,
                         {.bytes = 32 * kMebibyte, .allocated = 65536, .beyond = 32 * kMebibyte});
           },
           "error=SPARSE"},
    Attack{"extent_with_one_hole",
           "A single page is a hole, one behind the end makes up for it: refused.",
           [](const Stage& stage) {
             with_memory(stage, {.bytes = 131072, .allocated = 126976, .beyond = 4096});
           },
           "error=SPARSE"},
    Attack{"extent_larger_than_the_cap", "1,025 MiB: refused by its size.",
           [](const Stage& stage) {
             with_memory(stage, {.bytes = 1025 * kMebibyte, .allocated = 65536});
           },
           "error=BAD_SIZE|error=LIMIT"},
    Attack{"extent_of_a_tebibyte", "Sparse and enormous: refused by its size, not by trying.",
           [](const Stage& stage) {
             with_memory(stage, {.bytes = std::uint64_t{1} << 40, .allocated = 65536});
           },
           "error=BAD_SIZE|error=LIMIT|error=SPARSE"},
    Attack{"extent_of_one_page", "A header that ends with its memory: all of it lies outside.",
           [](const Stage& stage) {
             auto image = honest_image(stage);
             image.resize(4096);
             publish(stage, record_for(forge_memory({.bytes = 4096}, image)));
             stage.hold();
           },
           "left_out>"},
    Attack{"extent_of_odd_size", "A size that is not a whole page: refused.",
           [](const Stage& stage) { with_memory(stage, {.bytes = 65537}); }, "error=BAD_SIZE"},
    Attack{"extent_empty", "No byte at all: refused.",
           [](const Stage& stage) {
             publish(stage, record_for(forge_memory({.bytes = 0}, {})));
             stage.hold();
           },
           "error=BAD_SIZE"},
    Attack{"extent_of_huge_pages", "hugetlbfs, which faults when its pages run out: refused.",
           [](const Stage& stage) {
             const int memory = ::memfd_create("meterbank:huge", MFD_ALLOW_SEALING | kHugePages);
             if (memory < 0 || ::ftruncate(memory, 2 * kMebibyte) != 0) {
               return with_memory(stage, {.bytes = 65536, .allocated = 0});
             }
             ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | 0x0010);
             with_descriptor(stage, memory);
           },
           "error=WRONG_FILESYSTEM|error=SPARSE"},
    Attack{"descriptor_is_a_pipe", "The memory is a pipe: refused without an open that waits.",
           [](const Stage& stage) { with_descriptor(stage, pipe_end()); }, "error="},
    Attack{"descriptor_is_a_fifo", "The memory is a FIFO: refused without an open that waits.",
           [](const Stage& stage) { with_descriptor(stage, fifo(stage)); }, "error="},
    Attack{"descriptor_is_a_socket", "The memory is a socket: refused.",
           [](const Stage& stage) { with_descriptor(stage, ::socket(AF_UNIX, SOCK_STREAM, 0)); },
           "error="},
    Attack{"descriptor_is_a_directory", "The memory is a directory: refused.",
           [](const Stage& stage) {
             with_descriptor(stage, ::open(stage.directory().c_str(), O_RDONLY | O_DIRECTORY));
           },
           "error="},
    Attack{"descriptor_is_a_device", "The memory is /dev/zero: refused, and never read.",
           [](const Stage& stage) { with_descriptor(stage, ::open("/dev/zero", O_RDWR)); },
           "error="},
    Attack{"descriptor_is_a_terminal", "The memory is a terminal: refused, and left as it is.",
           [](const Stage& stage) { with_descriptor(stage, terminal()); }, "error="},
    Attack{"descriptor_is_of_procfs", "The memory is /proc/self/mem: refused.",
           [](const Stage& stage) { with_descriptor(stage, ::open("/proc/self/mem", O_RDWR)); },
           "error="},
    Attack{"descriptor_is_not_open", "A number that is not open, with the right inode: refused.",
           [](const Stage& stage) {
             const int memory = forge_memory({}, honest_image(stage));
             PointerRecord record = record_for(memory);
             record.descriptor = 4000;
             publish(stage, record);
             stage.hold();
           },
           "error="},
    Attack{"descriptors_trade_places",
           "The announced number is another memfd each moment: the inode decides.",
           [](const Stage& stage) {
             const auto image = honest_image(stage);
             const std::array memories{forge_memory({}, image), forge_memory({.seals = 0}, image),
                                       forge_memory({.bytes = 4096}, {})};
             const int announced = ::dup(memories[0]);
             publish(stage, record_for(announced));
             stage.keep_on([&, turn = 0U]() mutable {
               ::dup2(memories[turn++ % memories.size()], announced);
             });
           }},
};

}  // namespace

Attacks extent_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
