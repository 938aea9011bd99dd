// SPDX-License-Identifier: Apache-2.0
//
// All stored values as a database.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/convert/conversions.hpp"
#include "cli/convert/moments.hpp"
#include "cli/convert/sqlite_library.hpp"
#include "cli/convert/sqlite_schema.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/shm/utf8.hpp"
#include "record/new_file.hpp"

namespace meterbank::cli {
namespace {

// A name as valid UTF-8, which SQLite expects of texts.
std::string text_of(std::string_view name) { return repair_utf8(name).text; }

// The rows of one table, by what they are known by. Those that are not used at a change of the
// directory are forgotten, so that memory does not grow with what comes and goes.
template <typename Key>
struct Ids {
  struct Entry {
    std::int64_t id = 0;
    bool is_used = true;
  };
  std::map<Key, Entry> entries;
  std::int64_t last = 0;

  std::pair<std::int64_t, bool> take(const Key& key) {
    const auto [entry, is_new] = entries.try_emplace(key);
    if (is_new) entry->second.id = ++last;
    entry->second.is_used = true;
    return {entry->second.id, is_new};
  }
  void begin_use() {
    for (auto& [key, entry] : entries) entry.is_used = false;
  }
  void forget_unused() {
    std::erase_if(entries, [](const auto& entry) { return !entry.second.is_used; });
  }
};

class DatabaseWriter final : public MomentSink {
 public:
  static Result<DatabaseWriter> open(const std::string& path) {
    auto database = SqliteDatabase::create(path);
    if (!database) return tl::make_unexpected(std::move(database.error()));
    DatabaseWriter writer(*std::move(database));
    if (auto made = writer.database_.execute(kSqliteTables); !made) {
      return tl::make_unexpected(std::move(made.error()));
    }
    for (const auto& [statement, text] : writer.statements()) {
      auto prepared = writer.database_.prepare(text);
      if (!prepared) return tl::make_unexpected(std::move(prepared.error()));
      statement->emplace(*std::move(prepared));
    }
    return writer;
  }

  Result<bool> take(const LogMoment& moment) override {
    ++samples_;
    const Timestamp time = moment.log.time();
    check(sample_->count(time.realtime_ns)
              .count(time.monotonic_ns)
              .count(moment.log.window_ns())
              .run());
    host_ = moment.log.files().front().head.host;
    if (moment.has_changed) begin_use();
    for (const Row& row : moment.sample) add_row(row, moment);
    if (moment.has_changed) forget_unused();
    if (error_) return tl::make_unexpected(std::move(*error_));
    return true;
  }

  Result<void> finish() {
    for (const auto& [statement, text] : statements()) statement->reset();
    if (auto ended = database_.execute(kSqliteEnd); !ended) return ended;
    return database_.close();
  }
  [[nodiscard]] std::uint64_t values() const noexcept { return values_; }
  [[nodiscard]] std::uint64_t samples() const noexcept {
    return static_cast<std::uint64_t>(samples_);
  }

 private:
  explicit DatabaseWriter(SqliteDatabase database) : database_(std::move(database)) {}

  std::vector<std::pair<std::optional<SqliteStatement>*, const char*>> statements() {
    return {
        {&insert_host_, "INSERT INTO host VALUES (?, ?)"},
        {&insert_provider_, "INSERT INTO provider VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
        {&insert_set_, "INSERT INTO counterset VALUES (?, ?, ?, ?, ?)"},
        {&insert_instance_, "INSERT INTO instance VALUES (?, ?, ?, ?, ?)"},
        {&insert_counter_, "INSERT INTO counter VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&sample_, "INSERT INTO sample VALUES (NULL, ?, ?, ?)"},
        {&insert_value_, "INSERT INTO value VALUES (?, ?, ?, ?, ?)"},
        {&insert_text_, "INSERT INTO text VALUES (?, ?, ?, ?)"},
        {&insert_distribution_, "INSERT INTO distribution VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&insert_bucket_, "INSERT INTO bucket VALUES (?, ?, ?, ?, ?, ?)"},
        {&insert_status_, "INSERT INTO status VALUES (?, ?, ?)"},
    };
  }

  void check(Result<void> result) {
    if (!result && !error_) error_ = std::move(result.error());
  }
  void begin_use() {
    providers_.begin_use();
    sets_.begin_use();
    instances_.begin_use();
    counters_.begin_use();
  }
  void forget_unused() {
    providers_.forget_unused();
    sets_.forget_unused();
    instances_.forget_unused();
    counters_.forget_unused();
    std::erase_if(sets_kept_,
                  [this](const auto& one) { return !sets_.entries.contains(one.first); });
  }

  // A total that a reader makes is stored nowhere.
  void add_row(const Row& row, const LogMoment& moment) {
    if (error_ || row.is_total) return;
    const auto rate = moment.log.rate_of(*row.provider, *row.registered);
    const bool is_due = rate && (moment.log.due() >> *rate & 1U) != 0;
    // At a change, what has no values now is looked at too: it must not be forgotten.
    if (!is_due && !(rate && moment.has_changed)) return;
    const std::int64_t instance = instance_of(row);
    if (is_due && row.status != RowStatus::kFresh) {
      check(insert_status_->whole(samples_).whole(instance).text(name_of(row.status)).run());
    }
    const bool has_values = is_due && holds_values(row.status);
    if (!has_values && !moment.has_changed) return;
    for (const Value& value : row) {
      const std::int64_t counter = counter_of(row, *value.counter);
      if (has_values) add_value(value, instance, counter);
    }
  }

  void add_value(const Value& value, std::int64_t instance, std::int64_t counter) {
    ++values_;
    const CounterView& facts = *value.counter;
    if (facts.form == ValueForm::kText) {
      if (!value.text) return;
      check(insert_text_->whole(samples_).whole(instance).whole(counter).text(*value.text).run());
      return;
    }
    SqliteStatement& row = insert_value_->whole(samples_).whole(instance).whole(counter);
    if (facts.form == ValueForm::kReal) {
      row.real(std::bit_cast<double>(value.raw.value));
    } else if (facts.form == ValueForm::kSigned) {
      row.whole(static_cast<std::int64_t>(value.raw.value));
    } else {
      row.count(value.raw.value);
    }
    facts.base == kNoCounter ? row.null() : row.count(value.raw.base);
    check(row.run());
    if (value.distribution != nullptr) add_distribution(*value.distribution, instance, counter);
  }

  void add_distribution(const Distribution& distribution, std::int64_t instance,
                        std::int64_t counter) {
    SqliteStatement& row = insert_distribution_->whole(samples_).whole(instance).whole(counter);
    row.real(distribution.sum);
    distribution.least ? row.real(*distribution.least) : row.null();
    distribution.most ? row.real(*distribution.most) : row.null();
    check(
        row.count(distribution.below).count(distribution.above).count(distribution.refused).run());
    for (std::uint32_t index = 0; index < distribution.buckets.size(); ++index) {
      if (distribution.buckets[index] == 0) continue;
      const std::int32_t place = distribution.shape.first + static_cast<std::int32_t>(index);
      check(insert_bucket_->whole(samples_)
                .whole(instance)
                .whole(counter)
                .real(bucket_bound(place, distribution.shape.scale))
                .real(bucket_bound(place + 1, distribution.shape.scale))
                .count(distribution.buckets[index])
                .run());
    }
  }

  std::int64_t host_of(const ProviderView& provider) {
    const std::string& name = provider.outside.host.empty() ? host_ : provider.outside.host;
    const auto [id, is_new] = hosts_.take(name);
    if (is_new) check(insert_host_->whole(id).text(text_of(name)).run());
    return id;
  }

  std::int64_t provider_of(const ProviderView& provider) {
    const auto [id, is_new] =
        providers_.take({provider.segment_id[0], provider.created_realtime_ns});
    if (!is_new) return id;
    const std::int64_t host = host_of(provider);
    SqliteStatement& row = insert_provider_->whole(id).whole(host).text(text_of(provider.name));
    row.whole(provider.named_pid()).whole(provider.uid);
    for (const std::string* const label :
         {&provider.outside.container, &provider.outside.pod, &provider.outside.unit}) {
      label->empty() ? row.null() : row.text(text_of(*label));
    }
    check(row.run());
    return id;
  }

  std::int64_t set_of(const Row& row) {
    const Counterset* const set = &row.set();
    const auto [id, is_new] = sets_.take(set);
    if (!is_new) return id;
    sets_kept_[set] = row.registered->set;
    check(insert_set_->whole(id)
              .text(set->guid.text())
              .text(text_of(set->symbol))
              .text(text_of(set->name))
              .text(text_of(set->help))
              .run());
    return id;
  }

  std::int64_t instance_of(const Row& row) {
    const std::int64_t provider = provider_of(*row.provider);
    const std::int64_t set = set_of(row);
    const auto [id, is_new] =
        instances_.take({provider, set, static_cast<std::int64_t>(row.registered->generation),
                         row.instance->slot, static_cast<std::int64_t>(row.instance->generation)});
    if (is_new) {
      check(insert_instance_->whole(id)
                .whole(provider)
                .whole(set)
                .text(text_of(row.name()))
                .whole(row.id())
                .run());
    }
    return id;
  }

  std::int64_t counter_of(const Row& row, const CounterView& counter) {
    const std::int64_t set = set_of(row);
    const auto [id, is_new] = counters_.take({set, counter.word});
    if (is_new) {
      check(insert_counter_->whole(id)
                .whole(set)
                .whole(counter.id)
                .text(text_of(counter.symbol))
                .text(text_of(counter.name))
                .text(kind_of(counter).kind)
                .text(type_text(counter.type))
                .text(text_of(stored_unit(counter)))
                .text(text_of(counter.help))
                .run());
    }
    return id;
  }

  SqliteDatabase database_;
  std::optional<SqliteStatement> insert_host_, insert_provider_, insert_set_, insert_instance_,
      insert_counter_, sample_, insert_value_, insert_text_, insert_distribution_, insert_bucket_,
      insert_status_;
  std::string host_;
  Ids<std::string> hosts_;
  Ids<std::pair<std::uint64_t, std::uint64_t>> providers_;
  Ids<const Counterset*> sets_;
  // So that no other set gets the address of one that is known by it.
  std::map<const Counterset*, std::shared_ptr<const Counterset>> sets_kept_;
  Ids<std::array<std::int64_t, 5>> instances_;
  Ids<std::pair<std::int64_t, std::uint32_t>> counters_;
  std::optional<Error> error_;
  std::int64_t samples_ = 0;  // id of the present one
  std::uint64_t values_ = 0;
};

}  // namespace

int convert_to_sqlite(const Invocation& invocation, Console& console) {
  const auto refuse = [&](const Error& error) {
    complain(console, error);
    return exit_code_of(error.code);
  };
  auto file = record::NewFile::at(invocation.output);
  if (!file) return refuse(file.error());
  auto writer = DatabaseWriter::open(file->temporary());
  if (!writer) return refuse(writer.error());
  const int exit_code = convert_moments(invocation, *writer, console);
  if (!is_kept(exit_code, writer->samples())) return exit_code;
  if (auto ended = writer->finish(); !ended) return refuse(ended.error());
  if (auto kept = file->keep(); !kept) return refuse(kept.error());
  if (!invocation.quiet) {
    say(console,
        fmt::format("{} of {} in {}", counted(writer->values(), "value"),
                    counted(writer->samples(), "sample"), escape_for_terminal(invocation.output)));
  }
  return exit_code;
}

}  // namespace meterbank::cli
