// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instructions/count.hpp"
#include "instructions/under_callgrind.hpp"
#include "report/changes.hpp"
#include "report/conditions.hpp"
#include "report/results_file.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace {

constexpr const char* kUsage =
    "usage: meterbank_bench [--quick] [--large] [--peers] [--json FILE] [GROUP]...\n"
    "       meterbank_bench --compare OLD.json NEW.json\n"
    "  --quick      tiny inputs: shows that every row runs; its figures mean nothing\n"
    "  --large      bulk snapshots of 1,000,000 instances as well, and scale up to 5,000 "
    "providers\n"
    "  --peers      rows of other systems too, where this program was built with them\n"
    "  --json FILE  write the results to FILE as well\n"
    "  --instructions  with --quick, count instructions under valgrind; other runs do so anyway "
    "where\n"
    "               the processor's counters cannot be had\n"
    "  --compare    print which rows changed beyond noise between two files of results\n"
    "  GROUP        these groups of rows only: publish, c, c-reader, shards, snapshot, fresh, "
    "setup,\n"
    "               bulk, perflib, pdh, callback, door, distribution, cut, server, ledger, books,\n"
    "               admission, waits, machine, leases, pages, recording, scale\n"
    "exit status: 0; 1 if the machine refuses, or --compare finds a slower or larger row; 2 for\n"
    "invalid arguments, and files that cannot be read or written\n";

using Rows = void (*)(const meterbank::bench::Effort&, meterbank::bench::Table&);
struct Group {
  std::string_view name;
  Rows rows;
};
constexpr Group kGroups[] = {{"publish", meterbank::bench::publish_rows},
                             {"c", meterbank::bench::c_rows},
                             {"c-reader", meterbank::bench::c_reader_rows},
                             {"shards", meterbank::bench::shard_rows},
                             {"snapshot", meterbank::bench::snapshot_rows},
                             {"fresh", meterbank::bench::fresh_rows},
                             {"setup", meterbank::bench::setup_rows},
                             {"bulk", meterbank::bench::catalog_rows},
                             {"perflib", meterbank::bench::perflib_rows},
                             {"pdh", meterbank::bench::pdh_rows},
                             {"callback", meterbank::bench::callback_rows},
                             {"door", meterbank::bench::door_rows},
                             {"distribution", meterbank::bench::distribution_rows},
                             {"cut", meterbank::bench::cut_rows},
                             {"server", meterbank::bench::server_rows},
                             {"ledger", meterbank::bench::lease_ledger_rows},
                             {"books", meterbank::bench::lease_book_rows},
                             {"admission", meterbank::bench::lease_admission_rows},
                             {"waits", meterbank::bench::lease_wait_rows},
                             {"machine", meterbank::bench::lease_machine_rows},
                             {"leases", meterbank::bench::lease_daemon_rows},
#ifdef METERBANK_BENCH_PAGES
                             {"pages", meterbank::bench::page_rows},
#endif
#ifdef METERBANK_BENCH_RECORDING
                             {"recording", meterbank::bench::recording_rows},
#endif
                             {"screens", meterbank::bench::screen_rows},
                             {"scale", meterbank::bench::scale_rows}};

// One processor for all loops of this thread. Where the machine has only one, nothing is gained.
void stay_here() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(0, &here);
  static_cast<void>(::sched_setaffinity(0, sizeof here, &here));
}

struct Options {
  meterbank::bench::Effort effort;
  bool quick = false, large = false, instructions = false;
  std::string json;                  // empty: no file
  std::vector<std::string> compare;  // two files, or none
  std::vector<Group> groups;         // empty: all
};

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "meterbank_bench: %s\n%s", why.c_str(), kUsage);
  std::exit(2);
}

// Takes `count` words behind `option`.
std::vector<std::string> values_of(std::string_view option, std::span<char*>& words,
                                   std::size_t count) {
  if (words.size() < count) {
    refuse(std::string(option) + (count == 1 ? " needs a file" : " needs two files"));
  }
  std::vector<std::string> values(words.begin(),
                                  words.begin() + static_cast<std::ptrdiff_t>(count));
  words = words.subspan(count);
  return values;
}

Options options_of(std::span<char*> words) {
  Options options;
  while (!words.empty()) {
    const std::string_view word = words.front();
    words = words.subspan(1);
    if (word == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--instructions") {
      options.instructions = true;
    } else if (word == "--large") {
      options.large = true;
    } else if (word == "--peers") {
      options.effort.peers = true;
    } else if (word == "--json") {
      options.json = values_of(word, words, 1).front();
    } else if (word == "--compare") {
      options.compare = values_of(word, words, 2);
    } else if (const auto* group = std::ranges::find(kGroups, word, &Group::name);
               group != std::end(kGroups)) {
      options.groups.push_back(*group);
    } else {
      refuse("unknown argument '" + std::string(word) + "'");
    }
  }
  if (options.quick) options.effort.become_quick();
  if (options.large) options.effort.become_large();
  return options;
}

void peer_rows([[maybe_unused]] const meterbank::bench::Effort& effort,
               meterbank::bench::Table& table) {
  table.begin("peers");
#ifdef METERBANK_BENCH_PCP
  meterbank::bench::pcp_mmv_rows(effort, table);
#else
  table.note_row("PCP MMV", "built without libpcp-mmv1-dev");
#endif
#ifdef METERBANK_BENCH_PROMETHEUS_CPP
  meterbank::bench::prometheus_cpp_rows(effort, table);
#else
  table.note_row("prometheus-cpp", "built without prometheus-cpp-dev");
#endif
#ifdef METERBANK_BENCH_VARNISH
  meterbank::bench::varnish_rows(effort, table);
#else
  table.note_row("Varnish VSC", "built without libvarnishapi-dev");
#endif
}

// Counts the instructions of those groups that valgrind can count.
meterbank::bench::CallgrindCounts counted_under_callgrind(std::span<const Group> groups) {
  std::vector<std::string> counted;
  for (const Group& group : groups) {
    if (meterbank::bench::is_counted_under_callgrind(group.name)) counted.emplace_back(group.name);
  }
  return meterbank::bench::CallgrindCounts(counted);
}

// A missed figure is a result, not a failure of the benchmark.
int measure(const Options& options) {
  using meterbank::bench::give_up;
  if (!options.json.empty()) {
    const auto tried = meterbank::bench::try_file(options.json);
    if (!tried) give_up(tried.error(), 2);
  }
  stay_here();
  meterbank::bench::Results results;
  results.conditions = meterbank::bench::Conditions::here();
  results.quick = options.quick;
  print(results.conditions);
  std::span<const Group> groups = kGroups;
  if (!options.groups.empty()) groups = options.groups;
  meterbank::bench::Table table;
  const bool wants_instructions = !options.quick || options.instructions;
  if (wants_instructions && !meterbank::bench::can_count_instructions()) {
    table.use(counted_under_callgrind(groups));
    std::puts("instructions: counted under valgrind, with tiny inputs and without AVX-512");
  }
  table.head();
  for (const Group& group : groups) {
    table.begin(group.name);
    group.rows(options.effort, table);
  }
  if (options.effort.peers) peer_rows(options.effort, table);
  std::printf("%u rows miss their figure\n", table.misses());
  if (!options.json.empty()) {
    results.rows = table.rows();
    const auto written = meterbank::bench::write_results(options.json, results);
    if (!written) give_up(written.error(), 2);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = options_of(std::span(arguments + 1, static_cast<std::size_t>(count - 1)));
  if (options.compare.empty()) return measure(options);
  const bool measures = !options.json.empty() || !options.groups.empty() || options.quick ||
                        options.large || options.instructions || options.effort.peers;
  if (measures) refuse("--compare measures nothing: it takes two files and no other argument");
  return meterbank::bench::compare_files(options.compare[0], options.compare[1]);
}
