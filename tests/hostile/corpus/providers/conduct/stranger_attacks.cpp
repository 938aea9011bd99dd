// SPDX-License-Identifier: Apache-2.0
//
// Another user: in a sticky directory that all share, and where records go by default.
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

#include "identity.hpp"
#include "runtime_directory.hpp"

namespace meterbank::hostile {
namespace {

constexpr Place kShared = Place::kSharedDirectory;

constexpr std::array kAttacks{
    Attack{"stranger_rows", "Rows in the healthy set: no part of its total.",
           [](const Stage& stage) {
             const PatchedProvider provider(stage, kHealthyVenues, {"eu", "us", "mars"});
             stage.hold();
           },
           "", kShared},
    Attack{"stranger_total_row", "A row called `_Total` in the healthy set: never the total.",
           [](const Stage& stage) { total_row(stage); }, "", kShared},
    Attack{"stranger_same_guid_older", "An older description of the healthy set's GUID.",
           [](const Stage& stage) { same_guid_older(stage); }, "", kShared},
    Attack{"stranger_counter_called_like_an_instance", "A counter called `eu` in a set so called.",
           [](const Stage& stage) { counter_called_like_an_instance(stage); }, "", kShared},
    Attack{"stranger_1023_records",
           "As many honest providers as one user may have: those of others have their descriptors.",
           [](const Stage& stage) {
             const auto image = honest_image(stage);
             std::vector<std::byte> small(image.begin(), image.begin() + 8192);
             for (int i = 0; i < 1023; ++i) {
               auto* const header = reinterpret_cast<SegmentHeader*>(small.data());
               header->segment_id = {any_number(), any_number()};
               header->registrations_count.store(0, std::memory_order_relaxed);  // not published
               const int memory = forge_memory({.bytes = 8192}, small);
               publish(stage, record_for(memory, "attacker" + std::to_string(i)));
             }
             stage.hold();
           },
           "", kShared},
    Attack{"stranger_dead_records", "1,024 records of processes that never were.",
           [](const Stage& stage) { fill_with_dead_records(stage, 1024); }, "", kShared},
    Attack{"stranger_junk", "70,000 files that are not records, in the shared directory.",
           [](const Stage& stage) { fill_with_junk(stage, 70'000); }, "", kShared},
    Attack{"stranger_points_at_the_healthy_memory", "A record of memory that is another user's.",
           [](const Stage& stage) {
             PointerRecord record = *PointerRecord::parse(stage.healthy_record());
             record.name = "attacker";
             write_file(stage, kLie, record.text());
             stage.hold();
           },
           "error=|skipped>", kShared},
    Attack{"stranger_says_healthy_is_dead", "The healthy provider's record with another start.",
           [](const Stage& stage) {
             PointerRecord record = *PointerRecord::parse(stage.healthy_record());
             record.start_time += 1;
             write_file(stage, kLie, record.text());
             stage.hold();
           },
           "", kShared},
    Attack{"stranger_arbiter", "Another user's socket where the arbiter should be, and silence.",
           [](const Stage& stage) { be_a_silent_arbiter(stage); }, "", kShared},
    Attack{"stranger_holds_a_hard_link", "A hard link to the healthy record, where it may be made.",
           [](const Stage& stage) {
             const std::string other = stage.directory() + "/" + std::string(kLie);
             // Refused where links to files of others are protected; then there is no attack.
             static_cast<void>(!::link(stage.healthy_record_path().c_str(), other.c_str()));
             stage.hold();
           },
           "", kShared},
    Attack{"stranger_directories", "100,000 directories called like runtime directories.",
           [](const Stage& stage) {
             static_cast<void>(stage);
             for (int i = 0; i < 100'000; ++i) {
               const std::string path = "/dev/shm/meterbank-x" + std::to_string(i);
               if (::mkdir(path.c_str(), 0755) != 0) throw std::runtime_error("no directory");
             }
             stage.hold();
           },
           "", Place::kDefaultDirectories},
    Attack{"stranger_squats_a_directory", "The runtime directory of the next user is there first.",
           [](const Stage& stage) {
             if (::mkdir("/dev/shm/meterbank-0", 0777) != 0) throw std::runtime_error("taken");
             if (::symlink("/", "/dev/shm/meterbank-1000") != 0) throw std::runtime_error("taken");
             stage.hold();
           },
           "", Place::kDefaultDirectories},
};

}  // namespace

Attacks stranger_attacks() { return kAttacks; }

}  // namespace meterbank::hostile
