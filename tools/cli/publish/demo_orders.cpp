// SPDX-License-Identifier: Apache-2.0
#include "cli/publish/demo_orders.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "meterbank/publisher/provider.hpp"
#include "orders.hpp"

namespace meterbank::cli {
namespace {

struct Venue {
  std::string_view name;
  double orders_per_second;
  double latency_s;
  double swing_seconds;  // the load rises and falls once in this time
};
constexpr std::array kVenues{Venue{"eu", 18'000, 39e-6, 20}, Venue{"us", 43'000, 52e-6, 33},
                             Venue{"asia", 7'500, 121e-6, 47}};

constexpr auto kStep = std::chrono::milliseconds(5);
constexpr double kStepSeconds = 0.005;

// The load of one venue. Its numbers depend on the seed and the step only, not on the clock.
class Load {
 public:
  Load(const Venue& venue, orders::DemoOrdersInstance counts, std::uint64_t seed)
      : venue_(venue), counts_(std::move(counts)), random_(seed) {
    counts_.set_state("open");
  }

  void step() {
    const double phase =
        2 * std::acos(-1.0) * static_cast<double>(steps_++) * kStepSeconds / venue_.swing_seconds;
    const double mean = venue_.orders_per_second * kStepSeconds * (1 + 0.2 * std::sin(phase));
    const auto orders = std::poisson_distribution<std::uint64_t>(mean)(random_);
    const auto rejected = std::binomial_distribution<std::uint64_t>(orders, 0.004)(random_);
    const auto bytes = orders * 118 + std::uniform_int_distribution<std::uint64_t>(0, 64)(random_);
    const auto waiting = std::poisson_distribution<std::uint64_t>(mean / 4)(random_);
    // Most orders are quick, few are slow, and now and then all of them wait, as in real services.
    const bool stalls = std::uniform_real_distribution<double>(0, 1)(random_) < 0.002;
    const double usual = venue_.latency_s * (stalls ? 20 : 1);
    std::lognormal_distribution<double> spread(0, 0.35);
    counts_.update([&](orders::DemoOrdersUpdate& row) noexcept {
      row.add_accepted(orders - rejected);
      row.add_rejected(rejected);
      row.add_bytes_received(bytes);
      row.set_queue_depth(waiting);
      for (std::uint64_t order = 0; order < orders; ++order) {
        row.record_latency(usual * spread(random_));
      }
    });
    // Its time is that of the change.
    if (stalls != stalled_) counts_.set_state(stalls ? "stalled" : "open");
    stalled_ = stalls;
  }

 private:
  Venue venue_;
  orders::DemoOrdersInstance counts_;
  bool stalled_ = false;
  std::mt19937_64 random_;
  std::uint64_t steps_ = 0;
};

}  // namespace

struct DemoOrders::Running {
  Provider provider;
  std::vector<Load> loads;
  std::atomic<bool> stop{false};
  std::thread thread;

  explicit Running(Provider owned) : provider(std::move(owned)) {}
  ~Running() {
    // relaxed: it orders nothing; join() does.
    stop.store(true, std::memory_order_relaxed);
    if (thread.joinable()) thread.join();
  }

  void work() {
    auto next = std::chrono::steady_clock::now();
    // relaxed: a request to stop carries no other values.
    while (!stop.load(std::memory_order_relaxed)) {
      for (auto& load : loads) load.step();
      next += kStep;
      // After a pause of the whole machine, steps are dropped rather than made up for in a burst.
      next = std::max(next, std::chrono::steady_clock::now() - kStep);
      std::this_thread::sleep_until(next);
    }
  }
};

Result<DemoOrders> DemoOrders::start(const DemoOrdersOptions& options) {
  auto provider = Provider::create({.name = options.name, .directory = options.directory});
  if (!provider) return tl::make_unexpected(provider.error());
  auto running = std::make_unique<Running>(std::move(*provider));
  auto venues = orders::DemoOrders::add(running->provider);
  if (!venues) return tl::make_unexpected(venues.error());
  std::uint64_t seed = options.seed;
  for (const auto& venue : kVenues) {
    auto counts = venues->create(venue.name);
    if (!counts) return tl::make_unexpected(counts.error());
    running->loads.emplace_back(venue, std::move(*counts), seed++);
  }
  running->thread = std::thread([worker = running.get()] { worker->work(); });
  return DemoOrders(std::move(running));
}

DemoOrders::DemoOrders(std::unique_ptr<Running> running) noexcept : running_(std::move(running)) {}
DemoOrders::DemoOrders(DemoOrders&&) noexcept = default;
DemoOrders& DemoOrders::operator=(DemoOrders&&) noexcept = default;
DemoOrders::~DemoOrders() = default;

}  // namespace meterbank::cli
