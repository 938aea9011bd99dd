// SPDX-License-Identifier: Apache-2.0
#include "record/recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "meterbank/base/machine_name.hpp"
#include "meterbank/base/process_facts.hpp"

namespace meterbank::record {
namespace {

using recording::GapReason;
using std::chrono::nanoseconds;

// New providers do not announce themselves.
constexpr auto kRefreshPeriod = std::chrono::seconds(1);
constexpr auto kAskedInterval = std::chrono::seconds(1);

bool records_everything(const RecorderOptions& options) {
  return std::any_of(options.rates.begin(), options.rates.end(),
                     [](const RatePlan& plan) { return plan.patterns.empty(); });
}

}  // namespace

recording::Head head_of(const std::string& program, std::span<const RatePlan> rates) {
  recording::Head head;
  static_cast<void>(::getrandom(&head.recorder, sizeof head.recorder, 0));
  const auto boot = boot_id();
  head.boot_id = fmt::format("{:016x}{:016x}", boot[0], boot[1]);
  head.host = machine_name();
  head.uid = ::getuid();
  head.program = program;
  for (const RatePlan& plan : rates) {
    head.rates.push_back({static_cast<std::uint64_t>(plan.interval.count()),
                          fmt::format("{}", fmt::join(plan.patterns, "\n"))});
  }
  return head;
}

class Recorder::State {
 public:
  struct Rate {
    Query query;
    nanoseconds interval;
    Clock::time_point next;
    Sample sample;
    bool is_due = false;
  };

  State(RecorderOptions options, Catalog catalog, std::vector<Rate> rates, Appender appender)
      : options_(std::move(options)),
        catalog_(std::move(catalog)),
        rates_(std::move(rates)),
        appender_(std::move(appender)) {}

  void plan_first_ticks();
  [[nodiscard]] Clock::time_point next() const noexcept;
  void tick(bool everything);
  void mark(std::string text);

  [[nodiscard]] const Catalog& catalog() const noexcept { return catalog_; }
  [[nodiscard]] const Query& query(std::size_t rate) const noexcept { return rates_[rate].query; }
  [[nodiscard]] Timestamp last_tick() const noexcept { return last_tick_; }
  [[nodiscard]] RecorderCounts counts() const {
    RecorderCounts counts = counts_;
    counts.lost = appender_.counts().ticks_lost;
    return counts;
  }
  [[nodiscard]] AppenderCounts file_counts() const { return appender_.counts(); }
  Result<void> finish() { return appender_.finish(); }

 private:
  void choose_due(bool everything, Clock::time_point now);
  void refresh(Clock::time_point now);
  void collect();
  void write();
  void note_losses();
  [[nodiscard]] std::uint64_t skip_missed(Rate& rate, Clock::time_point now);

  RecorderOptions options_;
  Catalog catalog_;
  std::vector<Rate> rates_;
  Appender appender_;
  RecorderCounts counts_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  Clock::time_point refreshed_;
  Timestamp last_tick_, this_tick_;
  std::uint64_t window_ns_ = 0;
  std::uint64_t late_ = 0;  // ticks that were missed since the last one was written
  Losses missing_;          // that the next tick names
  std::vector<recording::RateInput> inputs_;
  std::string bytes_;
};

// Multiples of the interval on the clock of the machine, as far as it goes on evenly.
void Recorder::State::plan_first_ticks() {
  const auto now = Clock::now();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  for (Rate& rate : rates_) {
    const auto since = std::chrono::duration_cast<nanoseconds>(wall) % rate.interval;
    rate.next = since == nanoseconds::zero() ? now : now + rate.interval - since;
  }
}

Recorder::Clock::time_point Recorder::State::next() const noexcept {
  return std::min_element(
             rates_.begin(), rates_.end(),
             [](const Rate& left, const Rate& right) { return left.next < right.next; })
      ->next;
}

// How many ticks of the rate were due before `now` and are not taken.
std::uint64_t Recorder::State::skip_missed(Rate& rate, Clock::time_point now) {
  rate.next += rate.interval;
  if (rate.next > now) return 0;
  const auto behind = static_cast<std::uint64_t>((now - rate.next) / rate.interval) + 1;
  rate.next += rate.interval * static_cast<std::int64_t>(behind);
  return behind;
}

void Recorder::State::choose_due(bool everything, Clock::time_point now) {
  // Rates that divide one another meet although each was planned from a reading of its own.
  constexpr auto kTogether = std::chrono::microseconds(50);
  const bool all = everything || writer_.wants_everything();
  for (Rate& rate : rates_) {
    const bool is_due = rate.next <= now + kTogether;
    if (is_due) late_ += skip_missed(rate, now);
    rate.is_due = all || is_due;
  }
}

void Recorder::State::refresh(Clock::time_point now) {
  if (!catalog_.stale() && now - refreshed_ < kRefreshPeriod) return;
  refreshed_ = now;
  // What it could not look at stays as it was; the next call tries again.
  static_cast<void>(catalog_.refresh());
  for (Rate& rate : rates_) rate.query.update(catalog_);
}

void Recorder::State::collect() {
  // Before the time is taken: a provider that does not answer must not make the other rows old.
  for (Rate& rate : rates_) {
    const bool asks = rate.is_due && rate.interval >= kAskedInterval && rate.query.asks();
    if (asks) rate.query.collect(rate.sample, options_.callback_timeout);
  }
  this_tick_ = Timestamp::now();
  for (Rate& rate : rates_) {
    if (rate.is_due) rate.query.collect(rate.sample, this_tick_);
  }
  window_ns_ = Timestamp::now().monotonic_ns - this_tick_.monotonic_ns;
}

void Recorder::State::note_losses() {
  const auto gap = [this](GapReason reason, std::uint64_t ticks) {
    if (ticks != 0) recording::append_gap({reason, ticks, missing_.from, this_tick_}, bytes_);
  };
  const Losses lost = appender_.take_lost();
  if (!missing_.any()) missing_.from = lost.any() ? lost.from : last_tick_;
  counts_.missed += late_;
  missing_.late += lost.late + std::exchange(late_, 0);
  missing_.lost += lost.lost;
  const bool is_full = appender_.counts().last_error.code == ErrorCode::kNoSpace;
  gap(GapReason::kLate, missing_.late);
  gap(is_full ? GapReason::kNoSpace : GapReason::kWrite, missing_.lost);
}

void Recorder::State::write() {
  inputs_.clear();
  for (const Rate& rate : rates_) {
    inputs_.push_back({&rate.query, rate.is_due ? &rate.sample : nullptr});
  }
  bytes_.clear();
  note_losses();
  writer_.tick({.catalog = catalog_,
                .rates = inputs_,
                .time = this_tick_,
                .window_ns = window_ns_,
                .lists_all_sets = records_everything(options_)},
               schemas_, bytes_);
  // What appender_ could not take, it counts; and the gaps that are lost with a tick are named
  // again.
  missing_.lost_before = missing_.lost++;
  static_cast<void>(appender_.append(bytes_, std::exchange(missing_, {})));
  last_tick_ = this_tick_;
  ++counts_.ticks;
  counts_.values += writer_.values();
  counts_.rows = std::max(counts_.rows, writer_.rows());
  counts_.left_out = writer_.left_out();
}

void Recorder::State::tick(bool everything) {
  if (appender_.begins_anew()) {
    writer_.begin_chunk();
    schemas_ = {};
  }
  const auto now = Clock::now();
  choose_due(everything, now);
  try {
    refresh(now);
    collect();
    write();
  } catch (const std::bad_alloc&) {
    ++late_;
    // Schemas may have got numbers, and were not written.
    writer_.begin_chunk();
    schemas_ = {};
  }
}

void Recorder::State::mark(std::string text) {
  std::string frame;
  recording::append_mark({Timestamp::now(), std::move(text)}, frame);
  static_cast<void>(appender_.append(frame));
}

Result<Recorder> Recorder::open(RecorderOptions options) {
  auto catalog = Catalog::open(options.catalog);
  if (!catalog) return tl::make_unexpected(std::move(catalog.error()));
  std::vector<State::Rate> rates;
  rates.reserve(options.rates.size());
  for (const RatePlan& plan : options.rates) {
    auto query = Query::compile(*catalog, plan.patterns, plan.excluded);
    if (!query) return tl::make_unexpected(std::move(query.error()));
    rates.push_back({std::move(*query), plan.interval, {}, {}});
  }
  auto appender = Appender::create(options.files, head_of(options.program, options.rates));
  if (!appender) return tl::make_unexpected(std::move(appender.error()));
  auto state = std::make_unique<State>(std::move(options), std::move(*catalog), std::move(rates),
                                       std::move(*appender));
  state->plan_first_ticks();
  return Recorder(std::move(state));
}

Recorder::Recorder(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Recorder::Clock::time_point Recorder::next() const noexcept { return state_->next(); }
void Recorder::tick() { state_->tick(false); }
void Recorder::tick_everything() { state_->tick(true); }
void Recorder::mark(std::string text) { state_->mark(std::move(text)); }
const Catalog& Recorder::catalog() const noexcept { return state_->catalog(); }
const Query& Recorder::query(std::size_t rate) const noexcept { return state_->query(rate); }
Timestamp Recorder::last_tick() const noexcept { return state_->last_tick(); }
RecorderCounts Recorder::counts() const { return state_->counts(); }
AppenderCounts Recorder::file_counts() const { return state_->file_counts(); }
Result<void> Recorder::finish() { return state_->finish(); }

}  // namespace meterbank::record
