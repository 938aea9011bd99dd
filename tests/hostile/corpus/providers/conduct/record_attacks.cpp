// SPDX-License-Identifier: Apache-2.0
//
// The runtime directory: records that lie, are cut, or are no files.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "../patched_provider.hpp"
#include "runtime_directory.hpp"

namespace meterbank::hostile {
namespace {

// A provider whose record says something else, under the name "attacker@lie.provider".
template <auto kChange>
[[noreturn]] void with_record(const Stage& stage) {
  PointerRecord record = record_for(forge_memory({}, honest_image(stage)));
  kChange(record);
  write_file(stage, kLie, record.text());
  stage.hold();
}

[[noreturn]] void with_text(const Stage& stage, std::string_view text) {
  write_file(stage, kLie, text);
  stage.hold();
}

std::string lie_path(const Stage& stage) { return stage.directory() + "/" + std::string(kLie); }

std::string honest_text(const Stage& stage) {
  return record_for(forge_memory({}, honest_image(stage))).text();
}

constexpr std::array kAttacks{
    Attack{"record_of_pid_1", "Points at init, in the name of its descriptor 0.",
           with_record<[](PointerRecord& record) {
             record.pid = 1;
             record.start_time = process_start_time(1);
             record.descriptor = 0;
           }>,
           "error=|state="},
    Attack{"record_of_the_reader", "Points at the process group that reads, descriptor 0.",
           with_record<[](PointerRecord& record) {
             record.pid = static_cast<std::uint32_t>(::getppid());
             record.start_time = process_start_time(record.pid);
             record.descriptor = 0;
           }>,
           "error=|state="},
    Attack{"record_of_no_process", "The largest pid there is.",
           with_record<[](PointerRecord& record) { record.pid = 0x7fffffff; }>, "error=|state="},
    Attack{"record_of_a_negative_pid", "A pid that is negative as the kernel sees it.",
           with_record<[](PointerRecord& record) { record.pid = 0xffffffff; }>,
           "error=|state=|skipped>"},
    Attack{"record_of_another_boot", "The boot id of a machine that was.",
           with_record<[](PointerRecord& record) {
             record.boot_id = {1, 2};
           }>,
           "error=|state=dead"},
    Attack{"record_of_start_zero", "A start time of zero, which no process has.",
           with_record<[](PointerRecord& record) { record.start_time = 0; }>, "error=|state="},
    Attack{"record_of_an_older_process", "A start time that is another process's: a reused pid.",
           with_record<[](PointerRecord& record) { record.start_time -= 1; }>, "error=|state="},
    Attack{"record_of_a_layout_to_come", "A record of layout 65535.65535.",
           with_record<[](PointerRecord& record) {
             record.layout_major = 0xffff;
             record.layout_minor = 0xffff;
           }>,
           "error=|state="},
    Attack{"record_of_other_bytes", "Says that its memory is 16 EiB.",
           with_record<[](PointerRecord& record) { record.bytes = ~std::uint64_t{0}; }>,
           "error=|state="},
    Attack{"record_with_a_hostile_name", "Escape sequences as the name of a dead provider.",
           with_record<[](PointerRecord& record) {
             record.name = "\x1b]0;owned\x07\x1b[2J\xc2\x9b\xe2\x80\xae=1\xff\x08";
             record.boot_id = {1, 2};
           }>,
           "error=|state=|skipped>"},
    Attack{"record_file_with_a_hostile_name", "Escape sequences in the name of the file.",
           [](const Stage& stage) {
             write_file(stage, "\x1b]0;owned\x07\x1b[2J\xe2\x80\xae@1-1.provider",
                        honest_text(stage));
             write_file(stage, "\x1b]0;junk\x07\nforged", "");
             stage.hold();
           },
           "rows>|skipped>"},
    Attack{"record_socket_of_the_healthy_provider", "Asks to be asked at another's socket.",
           [](const Stage& stage) {
             CountersetSpec spec = kAttacked;
             auto image = honest_image(stage, spec);
             auto* const header = reinterpret_cast<SegmentHeader*>(image.data());
             // relaxed, both: nothing else sees it yet.
             const Ref ref = header->registrations[0].load(std::memory_order_relaxed);
             auto* const set = reinterpret_cast<RegistrationRecord*>(image.data() + ref);
             set->word.store(RegistrationWord{1, 3, RegistrationState::kInserted}.raw(),
                             std::memory_order_relaxed);
             PointerRecord record = record_for(forge_memory({}, image));
             record.socket = PointerRecord::parse(stage.healthy_record())->socket;
             write_file(stage, kLie, record.text());
             stage.hold();
           },
           "rows>|state=live"},
    Attack{"record_socket_elsewhere", "A socket name that climbs out of the directory.",
           [](const Stage& stage) {
             with_text(stage, honest_text(stage) + "socket ../../run/systemd/notify\n");
           },
           "skipped>"},
    Attack{"record_cut_short", "The first half of a record.",
           [](const Stage& stage) {
             const std::string text = honest_text(stage);
             with_text(stage, std::string_view(text).substr(0, text.size() / 2));
           },
           "skipped>"},
    Attack{"record_of_4096_bytes", "A record with 4,096 bytes of lines to come.",
           [](const Stage& stage) {
             std::string text = honest_text(stage);
             text += "future " + std::string(kPointerRecordBytesMax - text.size() - 8, 'f') + "\n";
             with_text(stage, text);
           },
           "rows>|state=live"},
    Attack{"record_too_long", "A record of 10 MiB.",
           [](const Stage& stage) {
             with_text(stage, honest_text(stage) + std::string(10 << 20, '\n'));
           },
           "skipped>"},
    Attack{"record_of_noise", "Bytes without a meaning, NULs among them.",
           [](const Stage& stage) {
             std::string noise = "meterbank 1\n";
             for (int i = 0; i < 3000; ++i) noise += static_cast<char>(any_number());
             with_text(stage, noise);
           },
           "skipped>"},
    Attack{"record_with_lines_twice", "Each line twice, the second one another's.",
           [](const Stage& stage) {
             with_text(stage, honest_text(stage) + stage.healthy_record().substr(12));
           }},
    Attack{"record_is_a_fifo", "A FIFO where a record should be: nothing waits for its writer.",
           [](const Stage& stage) {
             ::mkfifo(lie_path(stage).c_str(), 0644);
             stage.hold();
           },
           "skipped>"},
    Attack{"record_is_a_link_to_a_device", "A link to /dev/zero.",
           [](const Stage& stage) {
             if (::symlink("/dev/zero", lie_path(stage).c_str()) == 0) stage.hold();
           },
           "skipped>"},
    Attack{"record_is_a_link_to_the_healthy_one", "A link to the healthy provider's record.",
           [](const Stage& stage) {
             const std::string healthy = stage.healthy_record_path();
             if (::symlink(healthy.c_str(), lie_path(stage).c_str()) == 0) stage.hold();
           },
           "skipped>"},
    Attack{"record_is_a_directory", "A directory called like a record.",
           [](const Stage& stage) {
             ::mkdir(lie_path(stage).c_str(), 0755);
             stage.hold();
           },
           "skipped>"},
    Attack{"record_is_a_socket", "A socket called like a record.",
           [](const Stage& stage) {
             sockaddr_un address{};
             address.sun_family = AF_UNIX;
             lie_path(stage).copy(address.sun_path, sizeof address.sun_path - 1);
             const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
             const auto* const where = reinterpret_cast<const sockaddr*>(&address);
             if (::bind(listener, where, sizeof address) == 0) stage.hold();
           },
           "skipped>"},
    Attack{"record_that_may_not_be_read", "A record without permissions.",
           [](const Stage& stage) {
             const std::string path = write_file(stage, kLie, honest_text(stage));
             ::chmod(path.c_str(), 0);
             stage.hold();
           },
           "skipped>|rows>"},
    Attack{"records_of_the_dead", "1,024 records of processes that never were.",
           [](const Stage& stage) { fill_with_dead_records(stage, 1024); }, "state=dead|error="},
    Attack{"junk_by_the_ten_thousand", "20,000 files of the same user that are not records.",
           [](const Stage& stage) { fill_with_junk(stage, 20'000); }, "skipped>"},
    Attack{"arbiter_that_is_silent", "A socket where the arbiter should listen, and no answer.",
           [](const Stage& stage) { be_a_silent_arbiter(stage); }},
};

}  // namespace

void fill_with_dead_records(const Stage& stage, int count) {
  const int memory = forge_memory({}, {});
  PointerRecord record = record_for(memory);
  for (int i = 0; i < count; ++i) {
    record.pid = 0x70000000 + static_cast<std::uint32_t>(i);
    record.name = "dead" + std::to_string(i);
    publish(stage, record);
  }
  stage.hold();
}

void fill_with_junk(const Stage& stage, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string path = stage.directory() + "/junk" + std::to_string(i) +
                             (i % 2 == 0 ? std::string(kPointerRecordSuffix) : std::string());
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) throw std::runtime_error("cannot create " + path);
    ::close(file);
  }
  stage.hold();
}

void be_a_silent_arbiter(const Stage& stage) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (stage.directory() + "/pmud.sock").copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const bool listens =
      ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listener, 16) == 0;
  if (!listens) throw std::runtime_error("no socket");
  ::chmod(address.sun_path, 0666);
  stage.hold();
}

Attacks record_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
