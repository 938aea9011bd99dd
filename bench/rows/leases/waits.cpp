// SPDX-License-Identifier: Apache-2.0
//
// Question: how long does a client that wants one counter wait, and one that wants all, where both
// come? No time is measured: it is a simulation, the same in every run. Beside it: strictly first
// come, first served; any request that fits is served; and no request waits, all count in turns, as
// the kernel does without an arbiter.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/core/books/placement_search.hpp"
#include "measure.hpp"
#include "rows.hpp"
#include "rows/leases/lone_arbiter.hpp"

namespace meterbank::bench {
namespace {

using arbiter::CounterBook;
using arbiter::CounterDemand;
using arbiter::CounterMask;
using arbiter::Nanoseconds;

constexpr std::uint32_t kCounters = 6;
constexpr CounterMask kAll = arbiter::bits_of(0, kCounters);
constexpr std::string_view kTopology = "[[pmu]]\nname = \"cpu\"\ncpus = \"0\"\ngeneral = 6\n";
constexpr double kLoad = 0.7;
constexpr double kSecond = 1e9;

struct Job {
  Nanoseconds arrival = 0;
  Nanoseconds hold = 0;                  // half a second to one and a half
  std::uint32_t counters = 0;            // kCounters: alone
  std::optional<Nanoseconds> wait = {};  // found out
};

// Seven in ten want one counter, five in twenty three, one in twenty all.
std::vector<Job> jobs(std::size_t count) {
  std::mt19937_64 random(7);
  constexpr double kMeanCounters = 0.7 + 0.25 * 3 + 0.05 * kCounters;
  std::exponential_distribution<double> gap(kLoad * kCounters / kMeanCounters);
  std::uniform_real_distribution<double> hold(0.5, 1.5);
  std::vector<Job> all(count);
  double time = 2;
  for (Job& one : all) {
    time += gap(random);
    const auto kind = random() % 100;
    one = {.arrival = static_cast<Nanoseconds>(time * kSecond),
           .hold = static_cast<Nanoseconds>(hold(random) * kSecond),
           .counters = kind < 70   ? 1
                       : kind < 95 ? 3
                                   : kCounters};
  }
  return all;
}

CounterDemand demand_of(const Job& job) {
  CounterDemand demand;
  demand.whole = job.counters == kCounters;
  if (!demand.whole) demand.any.assign(job.counters, kAll);
  return demand;
}

// A queue over the same books, without reservations.
void serve_by_books(std::vector<Job>& all, bool may_pass) {
  CounterBook book(kAll);
  std::multimap<Nanoseconds, std::size_t> ends;
  std::deque<std::size_t> queue;
  const auto serve = [&](Nanoseconds now) {
    for (auto next = queue.begin(); next != queue.end();) {
      Job& job = all[*next];
      if (book.take(*next + 1, demand_of(job)) != arbiter::Fit::kFits) {
        if (!may_pass) return;
        ++next;
        continue;
      }
      job.wait = now - job.arrival;
      ends.emplace(now + job.hold, *next);
      next = queue.erase(next);
    }
  };
  const auto end_until = [&](Nanoseconds time) {
    while (!ends.empty() && ends.begin()->first <= time) {
      const auto [now, number] = *ends.begin();
      ends.erase(ends.begin());
      book.release(number + 1);
      serve(now);
    }
  };
  for (std::size_t number = 0; number < all.size(); ++number) {
    end_until(all[number].arrival);
    queue.push_back(number);
    serve(all[number].arrival);
  }
  end_until(pmu::kForever);
}

// Each job is a client of its own: what a client holds itself is not in its way.
void serve_by_arbiter(std::vector<Job>& all) {
  LoneArbiter lone(kTopology, 1);
  std::multimap<Nanoseconds, std::pair<arbiter::ClientNumber, pmu::Token>> ends;
  lone.on_granted = [&](arbiter::ClientNumber client, const pmu::Granted& granted) {
    Job& job = all[client - 1];
    job.wait = lone.now() - job.arrival;
    ends.emplace(lone.now() + job.hold, std::pair(client, granted.head.token));
  };
  const auto end_until = [&](Nanoseconds time) {
    while (!ends.empty() && ends.begin()->first <= time) {
      const auto [now, lease] = *ends.begin();
      ends.erase(ends.begin());
      lone.pass_until(now);
      lone.say(lease.first, pmu::Free{lease.second});
    }
  };
  for (std::size_t number = 0; number < all.size(); ++number) {
    const Job& job = all[number];
    end_until(job.arrival);
    lone.pass_until(job.arrival);
    std::vector<arbiter::Item> items;
    if (job.counters != kCounters) {
      items.push_back(arbiter::counters_for_event(job.counters, 1, 0));
    }
    pmu::Allocate asked = asking(0, 0, std::move(items));
    asked.head.hold_ns = job.hold;
    asked.head.wait_ns = pmu::kForever;
    lone.connect(number + 1);
    lone.say(number + 1, asked);
  }
  end_until(pmu::kForever);
}

// What part of its time a job has its counters, if all that are there take turns.
std::vector<double> shares_in_turns(const std::vector<Job>& all) {
  std::vector<std::pair<Nanoseconds, int>> steps;
  for (const Job& job : all) {
    steps.emplace_back(job.arrival, static_cast<int>(job.counters));
    steps.emplace_back(job.arrival + job.hold, -static_cast<int>(job.counters));
  }
  std::sort(steps.begin(), steps.end());
  // Nanoseconds for which a counter that was wanted all the time would have counted until each
  // step.
  std::vector<double> counted(steps.size());
  int wanted = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i != 0) {
      const double share = std::min(1.0, double{kCounters} / std::max(wanted, 1));
      counted[i] =
          counted[i - 1] + share * static_cast<double>(steps[i].first - steps[i - 1].first);
    }
    wanted += steps[i].second;
  }
  const auto counted_until = [&](Nanoseconds time) {
    const auto step = std::lower_bound(steps.begin(), steps.end(), std::pair(time, -1'000'000));
    return counted[static_cast<std::size_t>(step - steps.begin())];
  };
  std::vector<double> shares;
  for (const Job& job : all) {
    const double time = counted_until(job.arrival + job.hold) - counted_until(job.arrival);
    shares.push_back(time / static_cast<double>(job.hold));
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

double wait_of(const std::vector<Job>& all, std::uint32_t counters, double share) {
  std::vector<double> waits;
  for (const Job& job : all) {
    if (!job.wait) give_up("a request was never served");
    if (job.counters == counters) waits.push_back(static_cast<double>(*job.wait) / kSecond);
  }
  std::sort(waits.begin(), waits.end());
  return quantile(waits, share);
}

}  // namespace

void lease_wait_rows(const Effort& effort, Table& table) {
  std::vector<Job> ours = jobs(effort.operations / 10);
  std::vector<Job> in_order = ours;
  std::vector<Job> any_that_fits = ours;
  serve_by_arbiter(ours);
  serve_by_books(in_order, false);
  serve_by_books(any_that_fits, true);
  const std::string where = fmt::format("{} counters, load {}", kCounters, kLoad);
  for (const auto& [name, counters] :
       {std::pair("one counter", 1U), std::pair("the whole PMU", kCounters)}) {
    for (const auto& [quantile_name, share] : {std::pair("p50", 0.5), std::pair("p99", 0.99)}) {
      for (const auto& [other_name, other] : {std::pair("in order of arrival", &in_order),
                                              std::pair("any that fits", &any_that_fits)}) {
        table.seconds_row(
            fmt::format("{}: wait for {}, {} (beside: {})", where, name, quantile_name, other_name),
            wait_of(ours, counters, share), wait_of(*other, counters, share));
      }
    }
  }
  const std::vector<double> shares = shares_in_turns(ours);
  double sum = 0;
  for (const double share : shares) sum += share;
  table.share_row(
      fmt::format("{}: of its time a lease counts, mean (beside: all take turns)", where), 1,
      sum / static_cast<double>(shares.size()));
  table.share_row(fmt::format("{}: of its time a lease counts, p1 (beside: all take turns)", where),
                  1, quantile(shares, 0.01));
}

}  // namespace meterbank::bench
