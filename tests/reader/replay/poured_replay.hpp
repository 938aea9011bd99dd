// SPDX-License-Identifier: Apache-2.0
//
// Pours what a reader has, a catalog and a sample of a query of everything, into a Replay: what a
// recorder has to store, and what of it changes in a tick, without the file in between.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"

namespace meterbank::test {

class PouredReplay {
 public:
  explicit PouredReplay(CatalogOptions options = {}) : replay_(std::move(options)) {}

  // The plan of the sample belongs to the catalog as it is now.
  void pour(const Catalog& catalog, const Sample& sample) {
    pour_directory(catalog);
    pour_answers(sample);
    pour_rows(sample);
    replay_.show(sample.time);
  }

  // Before the query of everything is updated to a catalog that changed: what its sample says now
  // of rows that have ended, for sets that go on counting them.
  void pour_last(const Sample& sample) {
    if (!sample.empty()) pour_rows(sample);
  }

  // A control pours no statuses.
  void leave_statuses_out() { pours_statuses_ = false; }
  [[nodiscard]] Replay& replay() noexcept { return replay_; }
  [[nodiscard]] const Catalog& catalog() const noexcept { return replay_.catalog(); }

 private:
  // A life of a registration: another generation is another set.
  using SetKey = std::pair<Ref, std::uint64_t>;
  using Rows = std::map<std::uint32_t, std::pair<InstanceView, ReplayRowId>>;  // by slot
  struct KnownSet {
    ReplaySetId id{};
    RegistrationState state = RegistrationState::kInserted;
    std::uint64_t flags = 0;
    Rows rows;
    std::shared_ptr<KnownSet> answered;
  };
  struct KnownProvider {
    ReplayProviderId id{};
    std::shared_ptr<const ProviderView> view;
    std::map<SetKey, KnownSet> sets;
  };
  using ProviderKey = std::pair<std::string, std::uint64_t>;  // record, inode

  static ProviderKey key_of(const ProviderView& view) { return {view.record, view.segment_id[0]}; }
  static SetKey key_of(const RegisteredSet& set) { return {set.registration, set.generation}; }

  static ReplayedProvider facts_of(const ProviderView& view) {
    return {.name = view.name,
            .pid = view.pid,
            .pid_here = view.pid_here,
            .outside = view.outside,
            .uid = view.uid,
            .start_time = view.start_time,
            .segment_id = view.segment_id,
            .state = view.state,
            .record = view.record,
            .record_file = view.record_file,
            .socket = view.socket,
            .created_realtime_ns = view.created_realtime_ns,
            .bytes = view.bytes,
            .directory_version = view.directory_version,
            .error = view.error,
            .limited_by = view.limited_by,
            .errors = view.errors,
            .has_segment = view.segment != nullptr};
  }

  void pour_directory(const Catalog& catalog) {
    std::set<ProviderKey> present;
    for (const auto& view : catalog.providers()) present.insert(key_of(*view));
    for (auto known = providers_.begin(); known != providers_.end();) {
      const bool is_present = present.contains(known->first);
      if (!is_present) replay_.remove_provider(known->second.id);
      known = is_present ? std::next(known) : providers_.erase(known);
    }
    for (const auto& view : catalog.providers()) pour_provider(view);
  }

  void pour_provider(const std::shared_ptr<const ProviderView>& view) {
    auto known = providers_.find(key_of(*view));
    if (known == providers_.end()) {
      known = providers_.emplace(key_of(*view), KnownProvider{}).first;
      known->second.id = replay_.add_provider(facts_of(*view)).value();
    }
    KnownProvider& provider = known->second;
    if (provider.view != view) {
      if (provider.view != nullptr) {
        const auto changed = replay_.change_provider(provider.id, facts_of(*view));
        EXPECT_TRUE(changed) << changed.error().what;
      }
      pour_sets(*view, provider);
      provider.view = view;
    }
    // These change without a new view.
    replay_.set_liveness(provider.id, view->heartbeat_age_ns(), view->refused());
    for (const RegisteredSet& set : view->sets) {
      replay_.set_interest(provider.sets.at(key_of(set)).id, view->interested(set));
    }
  }

  void pour_sets(const ProviderView& view, KnownProvider& provider) {
    std::set<SetKey> present;
    for (const RegisteredSet& set : view.sets) present.insert(key_of(set));
    for (auto known = provider.sets.begin(); known != provider.sets.end();) {
      const bool is_present = present.contains(known->first);
      if (!is_present) replay_.remove_set(known->second.id);
      known = is_present ? std::next(known) : provider.sets.erase(known);
    }
    for (std::size_t position = 0; position < view.sets.size(); ++position) {
      const RegisteredSet& set = view.sets[position];
      auto known = provider.sets.find(key_of(set));
      if (known == provider.sets.end()) {
        known = provider.sets.emplace(key_of(set), KnownSet{}).first;
        known->second.state = set.state;
        known->second.flags = set.flags;
        known->second.id = replay_
                               .add_set(provider.id,
                                        {.set = set.set,
                                         .generation = set.generation,
                                         .state = set.state,
                                         .flags = set.flags,
                                         .registration = set.registration,
                                         .bytes = set.bytes},
                                        position)
                               .value();
      } else if (known->second.state != set.state || known->second.flags != set.flags) {
        known->second.state = set.state;
        known->second.flags = set.flags;
        replay_.change_set(known->second.id, set.state, set.flags);
      }
      pour_instances(set, known->second);
    }
  }

  void pour_instances(const RegisteredSet& set, KnownSet& known) {
    std::map<std::uint32_t, const InstanceView*> present;
    for (const InstanceView& instance : set.instances) present.emplace(instance.slot, &instance);
    for (auto row = known.rows.begin(); row != known.rows.end();) {
      const auto same = present.find(row->first);
      const bool is_same =
          same != present.end() && same->second->generation == row->second.first.generation;
      if (!is_same) replay_.end_instance(known.id, row->second.second);
      row = is_same ? std::next(row) : known.rows.erase(row);
    }
    for (const auto& [slot, instance] : present) {
      const auto row = known.rows.find(slot);
      if (row == known.rows.end()) {
        const auto begun = replay_.begin_instance(known.id, {.slot = instance->slot,
                                                             .name = instance->name,
                                                             .id = instance->id,
                                                             .generation = instance->generation,
                                                             .closed = instance->closed});
        ASSERT_TRUE(begun) << begun.error().what;
        known.rows.emplace(slot, std::pair(*instance, *begun));
      } else if (instance->closed && !row->second.first.closed) {
        replay_.close_instance(known.id, row->second.second);
        row->second.first.closed = true;
      }
    }
  }

  void pour_answers(const Sample& sample) {
    for (auto& [key, provider] : providers_) {
      for (auto& [place, set] : provider.sets) replay_.clear_answer(set.id);
    }
    if (sample.callbacks == nullptr) return;
    for (const CallbackAnswer& answer : *sample.callbacks) {
      KnownProvider& provider = providers_.at(key_of(*answer.provider));
      replay_.set_answer(provider.sets.at(key_of(*answer.set)).id, answer);
    }
  }

  // The rows of a callback are a provider of their own to a plan, with the same record and inode.
  KnownSet& answered_set(const SelectedSet& selected, const std::vector<RegisteredSet>& declared) {
    KnownProvider& provider = providers_.at(key_of(selected.provider()));
    const auto same = std::find_if(declared.begin(), declared.end(), [&](const auto& set) {
      return set.set->guid == selected.set().guid &&
             set.generation == selected.registered().generation;
    });
    KnownSet& known = provider.sets.at(key_of(*same));
    if (known.answered == nullptr) {
      known.answered = std::make_shared<KnownSet>();
      known.answered->id =
          replay_
              .add_answered(known.id, selected.registered().set, selected.provider().segment_id[1])
              .value();
    }
    return *known.answered;
  }

  void pour_rows(const Sample& sample) {
    std::size_t row = 0;
    std::set<const KnownSet*> answered;
    for (const SelectedSet& selected : sample.selected()) {
      KnownProvider& provider = providers_.at(key_of(selected.provider()));
      KnownSet* known = nullptr;
      if (selected.is_on_demand()) {
        known = &answered_set(selected, provider.view->sets);
        pour_instances(selected.registered(), *known);
        answered.insert(known);
      } else {
        known = &provider.sets.at(key_of(selected.registered()));
      }
      for (std::size_t number = 0; number < selected.instances(); ++number, ++row) {
        const ReplayRowId id = known->rows.at(selected.instance(number).slot).second;
        const auto words = sample.stored(row).words();
        std::copy(words.begin(), words.end(), replay_.words(known->id, id).begin());
        if (!pours_statuses_) continue;
        replay_.set_row(known->id, id, sample.statuses()[row], sample.consistencies()[row]);
      }
    }
    end_others(answered);
  }

  // Of sets whose callbacks gave rows before and give none now.
  void end_others(const std::set<const KnownSet*>& answered) {
    for (auto& [key, provider] : providers_) {
      for (auto& [place, set] : provider.sets) {
        if (set.answered == nullptr || answered.contains(set.answered.get())) continue;
        for (const auto& [slot, row] : set.answered->rows) {
          replay_.end_instance(set.answered->id, row.second);
        }
        set.answered->rows.clear();
      }
    }
  }

  Replay replay_;
  std::map<ProviderKey, KnownProvider> providers_;
  bool pours_statuses_ = true;
};

}  // namespace meterbank::test
