// SPDX-License-Identifier: Apache-2.0
//
// What surrounds counting: making, finding and closing instances, memory, starting the program.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <unordered_map>

#include "blocks.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

// A hash map of names is the least that any implementation would need.
using NameMap = std::unordered_map<std::string, std::uint64_t>;

void create_and_close(const Effort& effort, Table& table) {
  const SetShape shape{};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, effort.live);
  NameMap map;
  for (std::size_t index = 0; index < effort.live; ++index) map[fmt::format("i{}", index)] = index;

  constexpr std::size_t kBatch = 256;
  std::vector<std::string> names;
  for (std::size_t index = 0; index < kBatch; ++index) names.push_back(fmt::format("n{}", index));
  std::vector<Instance> fresh;
  fresh.reserve(kBatch);
  Rounds creating, closing;
  for (unsigned round = 0; round < effort.rounds; ++round) {
    const double created = nanoseconds_each(kBatch, [&] {
      for (const std::string& name : names) fresh.push_back(must(set.create_instance(name)));
    });
    const double closed = nanoseconds_each(kBatch, [&] { fresh.clear(); });
    const double inserted = nanoseconds_each(kBatch, [&] {
      for (const std::string& name : names) map.emplace(name, 0);
    });
    const double erased = nanoseconds_each(kBatch, [&] {
      for (const std::string& name : names) map.erase(name);
    });
    creating.add(created, inserted);
    closing.add(closed, erased);
  }
  const std::string live_text = fmt::format("at {} live", effort.live);
  table.time_row("create an instance " + live_text + " (limit: hash map insert)",
                 creating.comparison(), 2000.0);
  table.time_row("close an instance " + live_text + " (limit: hash map erase)",
                 closing.comparison(), 2000.0);
}

void name_to_handle(const Effort& effort, Table& table, std::size_t count,
                    std::optional<double> figure) {
  const SetShape shape{};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, count);
  NameMap map;
  for (std::size_t index = 0; index < count; ++index) map[fmt::format("i{}", index)] = index;
  std::vector<std::string> names;
  for (const std::uint32_t index : shuffled(count)) names.push_back(fmt::format("i{}", index));
  table.time_row(fmt::format("name to handle at {} (limit: hash map find)", count),
                 compare(
                     std::min(effort.rounds, 11U), names.size(),
                     [&] {
                       for (const std::string& name : names) keep(set.find(name).has_value());
                     },
                     [&] {
                       for (const std::string& name : names) keep(map.find(name)->second);
                     }),
                 figure);
}

// By the layout: the share of an instance in a full group, name included.
void memory(Table& table) {
  for (const bool checkpoint : {true, false}) {
    for (const bool tile : {false, true}) {
      const BlockForm form{.words = 8, .lanes = tile ? 8U : 1U, .checkpoint = checkpoint ? 1U : 0U};
      const double bytes = static_cast<double>(GroupLayout::of(form, kGroupSlotsMax).bytes);
      table.plain_row(fmt::format("memory, 8 counters, {}, {}", tile ? "tile" : "line",
                                  checkpoint ? "with checkpoint" : "without checkpoint"),
                      bytes / kGroupSlotsMax, "B", checkpoint ? 640.0 : 256.0);
    }
  }
}

// By the kernel: what the segment of a set in use occupies, unused room included.
void memory_in_use(const Effort& effort, Table& table) {
  const SetShape shape{.many = false, .checkpoint = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, effort.live);
  table.plain_row(
      fmt::format("  whole segment, line with checkpoint, {} live", effort.live),
      static_cast<double>(Workplace::segment_bytes()) / static_cast<double>(effort.live), "B", {});
}

// Start to exit, with output thrown away.
void spawn_and_wait(const std::string& program, const char* verb, const std::string& directory) {
  std::string path = program, word = verb, variable = "METERBANK_DIR=" + directory;
  std::array<char*, 3> arguments = {path.data(), word.data(), nullptr};
  std::array<char*, 2> environment = {variable.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) give_up("cannot start " + program);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) give_up("lost " + program);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    give_up(fmt::format("{} {} failed", program, verb));
  }
}

void program_start(const Effort& effort, Table& table) {
  const std::string program = program_beside("meterbank");
  if (program.empty()) {
    table.note_row("meterbank, start to exit", "the program is not built");
    return;
  }
  SetShape shape{.many = false, .checkpoint = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  const std::vector<Instance> live = workplace.fill(set, shape, 125);
  for (const char* const verb : {"version", "list"}) {
    const std::string& where = workplace.directory();
    table.time_row(fmt::format("meterbank {}, start to exit (limit: true)", verb),
                   compare(
                       effort.rounds, 1, [&] { spawn_and_wait(program, verb, where); },
                       [&] { spawn_and_wait("/bin/true", "", where); }, Clock::kWall),
                   5e6);
  }
}

}  // namespace

void setup_rows(const Effort& effort, Table& table) {
  create_and_close(effort, table);
  name_to_handle(effort, table, std::min<std::size_t>(1000, effort.many), {});
  name_to_handle(effort, table, effort.many, 200.0);
  memory(table);
  memory_in_use(effort, table);
  program_start(effort, table);
}

}  // namespace meterbank::bench
