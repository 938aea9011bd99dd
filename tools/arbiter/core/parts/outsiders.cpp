// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/outsiders.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace meterbank::arbiter {
namespace {

using nlohmann::json;

constexpr Nanoseconds kSurveyPeriod = 5'000'000'000;  // while there are outsiders
constexpr Nanoseconds kSurveyStale = 100'000'000;

[[nodiscard]] json to_json(const Outsider& outsider) {
  return {{"name", outsider.name},         {"pid", outsider.pid}, {"uid", outsider.uid},
          {"kernel", outsider.is_kernel},  {"pmu", outsider.pmu}, {"cpus", outsider.cpus.text()},
          {"counters", outsider.counters}, {"how", outsider.how}, {"first", outsider.first_ns},
          {"last", outsider.last_ns}};
}

[[nodiscard]] Outsider outsider_from(const json& from) {
  return {.name = from.at("name"),
          .pid = from.at("pid"),
          .uid = from.at("uid"),
          .is_kernel = from.at("kernel"),
          .pmu = from.at("pmu"),
          .cpus = CpuSet::parse(from.at("cpus").get<std::string>()).value_or(CpuSet{}),
          .counters = from.at("counters"),
          .how = from.at("how"),
          .first_ns = from.at("first"),
          .last_ns = from.at("last")};
}

[[nodiscard]] bool is_same(const Outsider& one, const Outsider& other) {
  return one.pid == other.pid && one.name == other.name && one.pmu == other.pmu &&
         one.cpus == other.cpus;
}

}  // namespace

bool is_in_way(const Outsider& outsider, const Plan& plan, std::optional<std::uint32_t> cpu) {
  if (cpu && !outsider.cpus.empty() && !outsider.cpus.contains(*cpu)) return false;
  return std::any_of(plan.parts.begin(), plan.parts.end(), [&](const PmuDemand& part) {
    return part.pmu == outsider.pmu &&
           (outsider.cpus.empty() || !outsider.cpus.common_with(part.cpus).empty());
  });
}

bool Outsiders::is_stale(Nanoseconds now) const noexcept {
  return now - surveyed_ns_ > kSurveyStale;
}

void Outsiders::survey() {
  if (!has_backend_ || is_surveying_) return;
  is_surveying_ = true;
  outbox_->ask(Survey{});
}

void Outsiders::surveyed(std::vector<Outsider> found, Nanoseconds now) {
  is_surveying_ = false;
  has_surveyed_ = true;
  surveyed_ns_ = now;
  for (Outsider& outsider : found) {
    const auto known =
        std::find_if(outsiders_.begin(), outsiders_.end(),
                     [&](const Outsider& before) { return is_same(before, outsider); });
    outsider.last_ns = now;
    if (known != outsiders_.end()) {
      outsider.first_ns = known->first_ns;
      continue;
    }
    outsider.first_ns = now;
    outbox_->record({.pid = outsider.pid,
                     .uid = outsider.uid,
                     .kind = JournalRecord::Kind::kOutsider,
                     .counters = outsider.counters});
  }
  outsiders_ = std::move(found);
  book();
}

void Outsiders::note_refused(const Opening& opening, Nanoseconds now) {
  const std::uint32_t cpu = opening.cpu == pmu::kNoCpu
                                ? book_->machine().topology.pmus[opening.pmu].cpus.numbers().front()
                                : opening.cpu;
  Refused& refused = refused_[{opening.pmu, cpu}];
  if (refused.holder == 0) refused.holder = next_holder_++;
  ++refused.counters;
  refused.until_ns = now + kRetry;
  book_refused({opening.pmu, cpu}, refused);
}

void Outsiders::book_refused(const Place& place, const Refused& refused) {
  const Pmu& pmu = book_->machine().topology.pmus[place.first];
  const auto suspect =
      std::find_if(outsiders_.begin(), outsiders_.end(), [&](const Outsider& outsider) {
        return outsider.pmu == place.first && outsider.counters == 0 &&
               (outsider.cpus.empty() || outsider.cpus.contains(place.second));
      });
  const bool has_suspect = suspect != outsiders_.end();
  (void)book_->book_unleased(refused.holder,
                             {.kind = has_suspect ? UnleasedKind::kOutsider : UnleasedKind::kBroken,
                              .name = has_suspect ? suspect->name : "an unknown process",
                              .pmu = place.first,
                              .cpus = CpuSet::range(place.second, place.second),
                              .among = pmu.counters(),
                              .counters = refused.counters});
}

bool Outsiders::passed(Nanoseconds now, bool has_waiting) {
  const std::size_t before = refused_.size();
  std::erase_if(refused_, [&](const auto& entry) {
    const bool is_over = entry.second.until_ns <= now;
    if (is_over) book_->forget_unleased(entry.second.holder);
    return is_over;
  });
  const Nanoseconds period = has_waiting ? kRetry : kSurveyPeriod;
  if (!has_surveyed_ || (!outsiders_.empty() && now >= surveyed_ns_ + period)) survey();
  return refused_.size() != before;
}

std::optional<Nanoseconds> Outsiders::deadline(bool has_waiting) const {
  std::optional<Nanoseconds> due;
  for (const auto& [place, refused] : refused_) {
    due = std::min(due.value_or(refused.until_ns), refused.until_ns);
  }
  if (has_waiting && !outsiders_.empty() && !is_surveying_) {
    const Nanoseconds next = surveyed_ns_ + kRetry;
    due = std::min(due.value_or(next), next);
  }
  return due;
}

void Outsiders::book() {
  for (const std::uint64_t holder : std::exchange(holders_, {})) book_->forget_unleased(holder);
  for (const Outsider& outsider : outsiders_) {
    if (outsider.counters == 0 || outsider.pmu >= book_->machine().topology.pmus.size()) continue;
    const Pmu& pmu = book_->machine().topology.pmus[outsider.pmu];
    const CpuSet cpus = outsider.cpus.empty() ? pmu.cpus : outsider.cpus;
    for (const std::uint32_t cpu : cpus.numbers()) {
      const auto refused = refused_.find({outsider.pmu, cpu});
      if (refused == refused_.end()) continue;
      book_->forget_unleased(refused->second.holder);
      refused_.erase(refused);
    }
    holders_.push_back(next_holder_);
    (void)book_->book_unleased(
        next_holder_++,
        {.kind = outsider.is_kernel ? UnleasedKind::kKernel : UnleasedKind::kOutsider,
         .name = outsider.name,
         .pmu = outsider.pmu,
         .cpus = cpus,
         .among = pmu.counters(),
         .counters = outsider.counters});
  }
  for (const auto& [place, refused] : refused_) book_refused(place, refused);
}

void Outsiders::save(json& saved) const {
  saved["surveyed"] = surveyed_ns_;
  json& all = saved["outsiders"] = json::array();
  for (const Outsider& outsider : outsiders_) all.push_back(to_json(outsider));
}

void Outsiders::load(const json& from) {
  surveyed_ns_ = from.at("surveyed");
  for (const json& one : from.at("outsiders")) outsiders_.push_back(outsider_from(one));
}

}  // namespace meterbank::arbiter
