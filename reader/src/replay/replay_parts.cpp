// SPDX-License-Identifier: Apache-2.0
//
// What is told to a Replay. What it shows of that is in replay_show.cpp.
#include "replay_parts.hpp"

#include <algorithm>
#include <tuple>

#include "../catalog/decode/counterset_rules.hpp"
#include "../catalog/memory/replayed_catalog.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

// Whether both have the same place in the list of providers, or none.
bool is_listed_alike(const ReplayedProvider& left, const ReplayedProvider& right) {
  const auto deciding = [](const ReplayedProvider& facts) {
    return std::tie(facts.name, facts.pid, facts.pid_here, facts.created_realtime_ns, facts.record,
                    facts.uid);
  };
  return deciding(left) == deciding(right) && left.outside == right.outside;
}

// They were made to be printed, by a reader that may have been another program.
void make_printable(Error& error) {
  error.what = escape_for_terminal(error.what);
  error.remedy = escape_for_terminal(error.remedy);
}

void make_printable(ReplayedProvider& facts) {
  make_printable(facts.error);
  for (Error& error : facts.errors) make_printable(error);
}

}  // namespace

Replay::Parts::Parts(CatalogOptions options, std::uint32_t own_uid)
    : catalog_(ReplayedCatalog::with(std::move(options))),
      own_uid_(own_uid),
      wants_labels_(catalog_.options().wants_labels()) {}

void Replay::Parts::mark_changed(ReplayProviderId id) {
  Provider& provider = providers_[id];
  if (provider.changed_at != kUnchanged) return;
  changed_.push_back(id);
  provider.changed_at = changed_.size() - 1;
}

// The last one takes its place, so that many that are removed do not move the others each time.
void Replay::Parts::forget_change(Provider& provider) noexcept {
  if (provider.changed_at == kUnchanged) return;
  const ReplayProviderId last = changed_.back();
  providers_[last].changed_at = provider.changed_at;
  changed_[provider.changed_at] = last;
  changed_.pop_back();
  provider.changed_at = kUnchanged;
}

Result<void> Replay::Parts::check(const ReplayedProvider& facts) const {
  const bool is_name = !facts.name.empty() && facts.name.size() <= kProviderNameBytesMax &&
                       is_valid_utf8(facts.name);
  if (!is_name)
    return fail(ErrorCode::kCorrupt, "name of a provider: empty, too long or not UTF-8");
  if (facts.state > ProviderState::kForeign || facts.limited_by > ReadLimit::kOpenFiles) {
    return fail(ErrorCode::kCorrupt,
                "provider '" + escape_for_terminal(facts.name) + "': state or limit is unknown");
  }
  if (facts.segment_id[1] != 0) {
    return fail(ErrorCode::kCorrupt, "provider '" + escape_for_terminal(facts.name) +
                                         "': the second number of its segment is not 0");
  }
  return {};
}

Result<ReplayProviderId> Replay::Parts::add_provider(ReplayedProvider facts) {
  if (auto good = check(facts); !good) return tl::make_unexpected(std::move(good.error()));
  if (facts.has_segment && by_segment_.contains(facts.segment_id)) {
    return fail(ErrorCode::kExists,
                "another provider has the segment of '" + escape_for_terminal(facts.name) + "'");
  }
  make_printable(facts);
  auto provider = std::make_unique<Provider>();
  provider->facts = std::move(facts);
  const ReplayProviderId id = providers_.add(std::move(provider));
  all_.insert(id);
  const ReplayedProvider& known = providers_[id].facts;
  if (known.has_segment) by_segment_.emplace(known.segment_id, id);
  mark_changed(id);
  return id;
}

Result<void> Replay::Parts::change_provider(ReplayProviderId id, ReplayedProvider facts) {
  if (auto good = check(facts); !good) return good;
  Provider& provider = providers_[id];
  const bool has_rows = !provider.sets.empty();
  const bool is_same = facts.segment_id == provider.facts.segment_id &&
                       facts.has_segment == provider.facts.has_segment;
  if (!is_same && has_rows) {
    return fail(ErrorCode::kInvalidArgument,
                "provider '" + escape_for_terminal(facts.name) + "' with sets has another segment",
                "remove the provider, and add another one");
  }
  if (!is_same && facts.has_segment && by_segment_.contains(facts.segment_id)) {
    return fail(ErrorCode::kExists,
                "another provider has the segment of '" + escape_for_terminal(facts.name) + "'");
  }
  if (facts.uid != provider.facts.uid && provider.bytes != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "provider '" + escape_for_terminal(facts.name) + "' with rows has another user");
  }
  make_printable(facts);
  if (!is_same && provider.facts.has_segment) by_segment_.erase(provider.facts.segment_id);
  if (!is_same && facts.has_segment) by_segment_.emplace(facts.segment_id, id);
  is_relisted_ = is_relisted_ || !is_listed_alike(provider.facts, facts);
  provider.facts = std::move(facts);
  mark_changed(id);
  return {};
}

void Replay::Parts::remove_provider(ReplayProviderId id) {
  Provider& provider = providers_[id];
  for (const ReplaySetId set : std::vector<ReplaySetId>(provider.sets)) remove_set(set);
  if (provider.facts.has_segment) by_segment_.erase(provider.facts.segment_id);
  all_.erase(id);
  forget_change(provider);
  is_relisted_ = true;
  providers_.remove(id);
}

void Replay::Parts::set_liveness(ReplayProviderId id, std::uint64_t heartbeat_age_ns,
                                 std::uint64_t refused) {
  providers_[id].segment.set_liveness(heartbeat_age_ns, refused);
}

Result<std::uint32_t> Replay::Parts::record_of(Provider& provider, const RecordKey& key) {
  const auto known = provider.records.find(key);
  if (known != provider.records.end()) return known->second;
  const auto is_of_kind = [&key](const auto& record) { return record.first.second == key.second; };
  const auto count = std::count_if(provider.records.begin(), provider.records.end(), is_of_kind);
  if (count >= std::ptrdiff_t{kRegistrationsMax}) {
    return fail(ErrorCode::kLimit, "provider '" + escape_for_terminal(provider.facts.name) +
                                       "' has more than " + std::to_string(kRegistrationsMax) +
                                       " registrations");
  }
  const std::uint32_t extent = provider.segment.add({});
  provider.records.emplace(key, extent);
  return extent;
}

Result<ReplaySetId> Replay::Parts::add_set(ReplayProviderId id, ReplayedSet facts,
                                           std::size_t position) {
  if (auto good = check_counterset(*facts.set); !good) {
    return tl::make_unexpected(std::move(good.error()));
  }
  if (facts.state > RegistrationState::kClosed) {
    return fail(ErrorCode::kCorrupt,
                "state of set '" + escape_for_terminal(facts.set->name) + "' is unknown");
  }
  Provider& provider = providers_[id];
  for (const ReplaySetId known : provider.sets) {
    if (sets_[known].facts.registration != facts.registration) continue;
    return fail(ErrorCode::kExists, "another set has the registration of '" +
                                        escape_for_terminal(facts.set->name) + "'");
  }
  if (!provider.facts.has_segment) {
    return fail(ErrorCode::kCorrupt, "provider '" + escape_for_terminal(provider.facts.name) +
                                         "' has sets and no segment");
  }
  auto record = record_of(provider, {facts.registration, false});
  if (!record) return tl::make_unexpected(std::move(record.error()));
  provider.sets.reserve(provider.sets.size() + 1);
  const ReplaySetId set =
      sets_.add(std::make_unique<Set>(id, std::move(facts), provider.segment, *record));
  const std::size_t place = std::min(position, provider.sets.size());
  provider.sets.insert(provider.sets.begin() + static_cast<std::ptrdiff_t>(place), set);
  mark_changed(id);
  return set;
}

Result<ReplaySetId> Replay::Parts::add_answered(ReplaySetId of,
                                                std::shared_ptr<const Counterset> set,
                                                std::uint64_t serial) {
  if (auto good = check_counterset(*set); !good) {
    return tl::make_unexpected(std::move(good.error()));
  }
  const ReplayProviderId id = sets_[of].provider;
  Provider& provider = providers_[id];
  const std::string name = escape_for_terminal(set->name);
  // Sets know what was answered for them, and not what would be answered for that.
  if (sets_[of].serial != 0) {
    return fail(ErrorCode::kCorrupt, "rows of set '" + name + "' were answered for answered rows");
  }
  if (sets_[of].answered) {
    return fail(ErrorCode::kExists, "set '" + name + "' has answered rows already");
  }
  if (serial == 0)
    return fail(ErrorCode::kCorrupt, "answered rows of '" + name + "' without a number");
  auto record = record_of(provider, {sets_[of].facts.registration, true});
  if (!record) return tl::make_unexpected(std::move(record.error()));
  ReplayedSet facts;
  facts.set = std::move(set);
  const ReplaySetId answered =
      sets_.add(std::make_unique<Set>(id, std::move(facts), provider.segment, *record));
  sets_[answered].serial = serial;
  sets_[of].answered = answered;
  mark_changed(id);
  return answered;
}

void Replay::Parts::change_set(ReplaySetId id, RegistrationState state, std::uint64_t flags) {
  Set& set = sets_[id];
  set.facts.state = state;
  set.facts.flags = flags;
  mark_changed(set.provider);
}

void Replay::Parts::drop(ReplaySetId id) {
  const std::uint64_t bytes = sets_[id].bytes;
  Provider& provider = providers_[sets_[id].provider];
  provider.bytes -= bytes;
  bytes_of_user_[provider.facts.uid] -= bytes;
  bytes_ -= bytes;
  sets_.remove(id);
}

void Replay::Parts::remove_set(ReplaySetId id) {
  const Set& set = sets_[id];
  const ReplayProviderId provider = set.provider;
  mark_changed(provider);
  if (set.serial != 0) {
    for (const ReplaySetId of : providers_[provider].sets) {
      if (sets_[of].answered == id) sets_[of].answered.reset();
    }
  } else {
    std::erase(providers_[provider].sets, id);
    if (set.answered) drop(*set.answered);
  }
  drop(id);
}

// Errors: kLimit.
Result<void> Replay::Parts::take_room(Set& set) {
  const std::uint64_t bytes = set.rows.growth();
  Provider& provider = providers_[set.provider];
  const CatalogOptions& options = catalog_.options();
  std::uint64_t& of_user = bytes_of_user_[provider.facts.uid];
  const bool fits_segment = provider.bytes <= options.segment_bytes_max &&
                            bytes <= options.segment_bytes_max - provider.bytes;
  const bool fits_user =
      of_user <= options.user_bytes_max && bytes <= options.user_bytes_max - of_user;
  if (!fits_segment || !fits_user) {
    return fail(ErrorCode::kLimit,
                "rows of provider '" + escape_for_terminal(provider.facts.name) +
                    "' take more memory than a reader allows",
                fits_segment ? "raise CatalogOptions::user_bytes_max"
                             : "raise CatalogOptions::segment_bytes_max");
  }
  set.bytes += bytes;
  provider.bytes += bytes;
  of_user += bytes;
  bytes_ += bytes;
  return {};
}

Result<ReplayRowId> Replay::Parts::begin_instance(ReplaySetId id,
                                                  const ReplayedInstance& instance) {
  Set& set = sets_[id];
  if (auto good = set.rows.check(instance); !good) {
    return tl::make_unexpected(std::move(good.error()));
  }
  if (auto good = take_room(set); !good) return tl::make_unexpected(std::move(good.error()));
  mark_changed(set.provider);
  return static_cast<ReplayRowId>(set.rows.begin(instance));
}

void Replay::Parts::close_instance(ReplaySetId id, ReplayRowId row) {
  sets_[id].rows.close(static_cast<std::uint32_t>(row));
  mark_changed(sets_[id].provider);
}

void Replay::Parts::end_instance(ReplaySetId id, ReplayRowId row) {
  sets_[id].rows.end(static_cast<std::uint32_t>(row));
  mark_changed(sets_[id].provider);
}

}  // namespace meterbank
