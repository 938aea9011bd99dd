// SPDX-License-Identifier: Apache-2.0
//
// The groups of rows, in the order of the table.
#pragma once

#include <cstddef>
#include <vector>

#include "report/table.hpp"

namespace meterbank::bench {

struct Effort {
  unsigned rounds = 31;
  std::uint64_t operations = 200'000;  // of a cheap loop, a round
  std::size_t many = 100'000;          // blocks where the figure says 100k
  std::size_t live = 10'000;           // instances where the figure says 10k
  std::vector<std::size_t> bulk = {1'000, 10'000, 100'000};
  unsigned fresh_reads = 400;  // a round
  unsigned fresh_rounds = 7;
  std::vector<std::size_t> scale_instances = {1'000, 10'000, 100'000};
  std::vector<std::size_t> scale_providers = {1, 100, 1'000};
  bool peers = false;

  // Tiny inputs, which show that every row runs.
  void become_quick() {
    rounds = 3;
    operations = 4096;
    many = 2048;
    live = 256;
    bulk = {64, 1000};
    fresh_reads = 20;
    fresh_rounds = 2;
    scale_instances = {16, 64, 256};
    scale_providers = {1, 3, 9};
  }
  void become_large() {
    bulk.push_back(1'000'000);
    scale_instances.push_back(1'000'000);
    scale_providers.push_back(5'000);
  }
};

void publish_rows(const Effort& effort, Table& table);
void c_rows(const Effort& effort, Table& table);
void c_reader_rows(const Effort& effort, Table& table);
void shard_rows(const Effort& effort, Table& table);
void snapshot_rows(const Effort& effort, Table& table);
void fresh_rows(const Effort& effort, Table& table);
void setup_rows(const Effort& effort, Table& table);
void catalog_rows(const Effort& effort, Table& table);
void perflib_rows(const Effort& effort, Table& table);
void pdh_rows(const Effort& effort, Table& table);
void callback_rows(const Effort& effort, Table& table);
void distribution_rows(const Effort& effort, Table& table);
void door_rows(const Effort& effort, Table& table);
void cut_rows(const Effort& effort, Table& table);
void server_rows(const Effort& effort, Table& table);
void lease_ledger_rows(const Effort& effort, Table& table);
void lease_book_rows(const Effort& effort, Table& table);
void lease_admission_rows(const Effort& effort, Table& table);
void lease_wait_rows(const Effort& effort, Table& table);
void lease_machine_rows(const Effort& effort, Table& table);
void lease_daemon_rows(const Effort& effort, Table& table);
#ifdef METERBANK_BENCH_RECORDING
void recording_rows(const Effort& effort, Table& table);
#endif
void screen_rows(const Effort& effort, Table& table);
void scale_rows(const Effort& effort, Table& table);
#ifdef METERBANK_BENCH_PAGES
void page_rows(const Effort& effort, Table& table);
#endif
#ifdef METERBANK_BENCH_PCP
void pcp_mmv_rows(const Effort& effort, Table& table);
#endif
#ifdef METERBANK_BENCH_PROMETHEUS_CPP
void prometheus_cpp_rows(const Effort& effort, Table& table);
#endif
#ifdef METERBANK_BENCH_VARNISH
void varnish_rows(const Effort& effort, Table& table);
#endif

}  // namespace meterbank::bench
