// SPDX-License-Identifier: Apache-2.0
//
// A table of values as a recording. The table is read twice: once to learn what each column
// of values is, and once to write them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/convert/conversions.hpp"
#include "cli/convert/table/table_lines.hpp"
#include "cli/format/quantity.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/waiter.hpp"
#include "cli/verbs.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "meterbank/shm/utf8.hpp"
#include "record/new_file.hpp"
#include "record/ring_files.hpp"

namespace meterbank::cli {
namespace {

template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What the values of one counter are.
struct ColumnFacts {
  bool fits_unsigned = true, fits_signed = true, is_real = true;
  bool is_exact_real = true;  // each whole number among them is one of double
  std::size_t bytes_max = 1;  // of a value as text
  std::uint64_t values = 0;
  std::string unit;
  std::uint32_t word = 0, more = 0, more_words = 0;
  ValueForm form = ValueForm::kUnsigned;

  void look_at(const std::string& text) {
    ++values;
    bytes_max = std::max(bytes_max, text.size());
    const auto whole = number_in<std::uint64_t>(text);
    const auto less = number_in<std::int64_t>(text);
    fits_unsigned = fits_unsigned && whole.has_value();
    fits_signed = fits_signed && less.has_value();
    const auto real = number_in<double>(text);
    is_real = is_real && real.has_value();
    // 2^53, which 2^53 + 1 becomes as well.
    constexpr double kBeyondExact = 9007199254740992.0;
    const bool is_whole = whole || less;
    if (is_whole && (!real || std::abs(*real) >= kBeyondExact)) is_exact_real = false;
  }
  // `rows`: of its set, in all moments.
  void decide(std::uint64_t rows) {
    const bool is_whole = values == rows && (fits_unsigned || fits_signed);
    if (is_whole) {
      form = fits_unsigned ? ValueForm::kUnsigned : ValueForm::kSigned;
    } else if (is_real && is_exact_real) {
      form = ValueForm::kReal;
    } else {
      form = ValueForm::kText;
      more_words = static_cast<std::uint32_t>((bytes_max + 7) / 8);
    }
  }
};

struct SetFacts {
  std::map<std::string, ColumnFacts> columns;
  std::vector<std::string> order;                  // of the columns
  std::map<std::string, std::uint64_t> last_rows;  // moment of each instance
  std::uint64_t rows = 0;
  std::optional<ReplaySetId> number;
  struct Row {
    ReplayRowId number{};
    std::uint64_t moment = 0;
  };
  std::map<std::string, Row> instances;
};
using ProviderKey = std::pair<std::string, std::string>;  // host, label
using SetKey = std::pair<ProviderKey, std::string>;

Guid guid_of(const SetKey& key) {
  // FNV-1a: the same table makes the same recording.
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : key.first.first + key.first.second + "\n" + key.second) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  Guid guid;
  guid.part1 = static_cast<std::uint32_t>(hash >> 32U) | 1U;
  guid.part2 = static_cast<std::uint16_t>(hash >> 16U);
  guid.part3 = static_cast<std::uint16_t>(hash);
  return guid;
}

class Importer {
 public:
  explicit Importer(const std::string& path) : path_(path) {}

  Result<void> learn(Waiter& waiter) {
    auto opened = open_table(path_);
    if (!opened) return tl::make_unexpected(std::move(opened.error()));
    TableLines* const lines = opened->get();
    TableValue line;
    std::uint64_t moment = 0, time_ns = 0;
    for (;;) {
      auto read = lines->next(line);
      if (!read) return tl::make_unexpected(std::move(read.error()));
      if (!*read) break;
      if (auto stop = stop_of(waiter)) return tl::make_unexpected(std::move(*stop));
      if (line.time_ns != time_ns || moment == 0) ++moment;
      time_ns = line.time_ns;
      SetFacts& set = sets_[{{line.host, line.provider}, line.set}];
      const auto [last, is_first] = set.last_rows.try_emplace(line.instance, 0);
      if (std::exchange(last->second, moment) != moment) ++set.rows;
      const auto [column, is_new] = set.columns.try_emplace(line.counter);
      if (is_new) set.order.push_back(line.counter);
      if (!line.unit.empty()) column->second.unit = line.unit;
      if (!line.value.empty()) column->second.look_at(line.value);
      if (column->second.bytes_max > kTextBytesMax && !column->second.is_real) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("{}: line {}: a text of {} bytes, and a recording has at most {}",
                                path_, line.line, column->second.bytes_max, kTextBytesMax),
                    "shorter texts");
      }
    }
    bytes_in_ = lines->bytes();
    note_ = lines->note();
    if (sets_.empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("{} has no values", path_), "another table");
    }
    return {};
  }

  Result<void> write(record::RingFiles& files, Waiter& waiter) {
    if (auto made = make_sets(); !made) return made;
    auto opened = open_table(path_);
    if (!opened) return tl::make_unexpected(std::move(opened.error()));
    TableLines* const lines = opened->get();
    TableValue line;
    std::optional<std::uint64_t> time_ns;
    for (;;) {
      auto read = lines->next(line);
      if (!read) return tl::make_unexpected(std::move(read.error()));
      const bool ends = time_ns && (!*read || line.time_ns != *time_ns);
      if (ends) {
        if (auto written = write_moment(files, *time_ns); !written) return written;
      }
      if (!*read) break;
      if (auto stop = stop_of(waiter)) return tl::make_unexpected(std::move(*stop));
      if (!time_ns || ends) ++moment_;
      time_ns = line.time_ns;
      if (auto taken = take(line); !taken) return taken;
    }
    files.end_file();
    return {};
  }
  [[nodiscard]] std::uint64_t bytes_in() const noexcept { return bytes_in_; }
  // "db, web1", of a table of several machines; else empty.
  [[nodiscard]] std::string hosts() const {
    std::set<std::string> hosts;
    for (const auto& [key, set] : sets_) hosts.insert(key.first.first);
    hosts.erase("");
    return fmt::format("{}", fmt::join(hosts, ", "));
  }
  [[nodiscard]] std::uint64_t moments() const noexcept { return moment_; }
  [[nodiscard]] std::uint64_t values() const noexcept { return values_; }
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

 private:
  static std::optional<Error> stop_of(Waiter& waiter) {
    const bool is_stopped = waiter.wait_until(Clock::now()) != Wake::kDeadline;
    if (!is_stopped) return std::nullopt;
    return Error{ErrorCode::kGone, 0, "stopped", {}};
  }

  Result<void> make_sets() {
    std::map<ProviderKey, ReplayProviderId> providers;
    for (auto& [key, set] : sets_) {
      auto known = providers.find(key.first);
      if (known == providers.end()) {
        auto added = replay_.add_provider(facts_of(key.first, providers.size() + 1));
        if (!added) return tl::make_unexpected(std::move(added.error()));
        known = providers.emplace(key.first, *added).first;
      }
      ReplayedSet facts;
      facts.set = std::make_shared<const Counterset>(counterset_of(key, set));
      facts.generation = 1;
      facts.registration = ++registrations_[key.first];
      auto added = replay_.add_set(known->second, std::move(facts));
      if (!added) return tl::make_unexpected(std::move(added.error()));
      set.number = *added;
    }
    return {};
  }

  // "orders@48213" as get has it; a total that a reader made is of none.
  static ReplayedProvider facts_of(const ProviderKey& key, std::uint64_t number) {
    const auto& [host, label] = key;
    ReplayedProvider facts;
    facts.outside.host = host;
    const auto at = label.rfind('@');
    const auto pid =
        at == std::string::npos ? std::nullopt : number_in<std::uint32_t>(label.substr(at + 1));
    facts.name = label.empty() ? "totals" : pid ? label.substr(0, at) : label;
    facts.pid = pid.value_or(0);
    facts.segment_id = {number, 0};
    facts.record = fmt::format("{}", number);
    return facts;
  }

  static Counterset counterset_of(const SetKey& key, SetFacts& facts) {
    Counterset set;
    set.guid = guid_of(key);
    set.name = set.symbol = key.second;
    set.instances = InstanceKind::kMultiple;
    auto words = static_cast<std::uint32_t>(facts.order.size());
    for (const std::string& name : facts.order) {
      ColumnFacts& column = facts.columns[name];
      column.decide(facts.rows);
      column.word = static_cast<std::uint32_t>(set.counters.size());
      column.more = words;
      words += column.more_words;
      CounterView counter;
      counter.id = column.word + 1;
      counter.word = column.word;
      counter.name = counter.symbol = name;
      counter.unit = column.unit;
      counter.form = column.form;
      counter.type =
          column.form == ValueForm::kText ? CounterType::kText : CounterType::kLargeRawCount;
      counter.more = column.more;
      counter.more_words = column.more_words;
      set.counters.push_back(std::move(counter));
    }
    for (CounterView& counter : set.counters) {
      if (counter.more_words == 0) counter.more = words;
    }
    set.form.words = words;
    return set;
  }

  Result<void> take(const TableValue& line) {
    SetFacts& set = sets_[{{line.host, line.provider}, line.set}];
    const auto column = set.columns.find(line.counter);
    auto row = set.instances.find(line.instance);
    if (!set.number || column == set.columns.end()) {
      return fail(ErrorCode::kCorrupt, fmt::format("{} changed while it was read", path_),
                  "a file that no program writes to");
    }
    if (row == set.instances.end()) {
      const auto slot = static_cast<std::uint32_t>(set.instances.size());
      auto begun =
          replay_.begin_instance(*set.number, {slot, line.instance, slot, slot + 1U, false});
      if (!begun) return tl::make_unexpected(std::move(begun.error()));
      row = set.instances.emplace(line.instance, SetFacts::Row{*begun, 0}).first;
    }
    const auto words = replay_.words(*set.number, row->second.number);
    if (std::exchange(row->second.moment, moment_) != moment_) clear(set, words);
    if (!line.value.empty()) ++values_;
    put(column->second, line.value, words);
    return {};
  }

  // Of what a line does not say, a real number is NaN and a text is empty.
  static void clear(const SetFacts& set, std::span<std::uint64_t> words) {
    std::fill(words.begin(), words.end(), 0);
    for (const auto& [name, column] : set.columns) {
      if (column.form != ValueForm::kReal) continue;
      words[column.word] = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
    }
  }

  static void put(const ColumnFacts& column, const std::string& text,
                  std::span<std::uint64_t> words) {
    std::uint64_t& word = words[column.word];
    if (column.form == ValueForm::kText) {
      word = text.size();
      std::memcpy(words.data() + column.more, text.data(),
                  std::min<std::size_t>(text.size(), std::size_t{8} * column.more_words));
    } else if (text.empty()) {
      return;
    } else if (column.form == ValueForm::kUnsigned) {
      word = number_in<std::uint64_t>(text).value_or(0);
    } else if (column.form == ValueForm::kSigned) {
      word = static_cast<std::uint64_t>(number_in<std::int64_t>(text).value_or(0));
    } else {
      word = std::bit_cast<std::uint64_t>(number_in<double>(text).value_or(0));
    }
  }

  Result<void> write_moment(record::RingFiles& files, std::uint64_t time_ns) {
    for (auto& [key, set] : sets_) {
      for (auto& [name, row] : set.instances) {
        const bool is_there = row.moment == moment_;
        replay_.set_row(*set.number, row.number, is_there ? RowStatus::kFresh : RowStatus::kBusy,
                        RowConsistency::kIndependent);
      }
    }
    const Timestamp time{time_ns, time_ns};
    replay_.show(time);
    if (!query_) query_.emplace(*Query::compile(replay_.catalog(), {}));
    query_->update(replay_.catalog());
    query_->collect(sample_, time);
    const recording::RateInput rate{&*query_, &sample_};
    bytes_.clear();
    writer_.tick({replay_.catalog(), {&rate, 1}, time, 0}, schemas_, bytes_);
    if (writer_.left_out() != 0) {
      return fail(ErrorCode::kLimit, fmt::format("{} has a set of too many counters", path_),
                  "a table of fewer counters");
    }
    return files.write(bytes_);
  }

  std::string path_, note_;
  std::map<SetKey, SetFacts> sets_;
  std::map<ProviderKey, Ref> registrations_;
  Replay replay_;
  std::optional<Query> query_;
  Sample sample_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::string bytes_;
  std::uint64_t bytes_in_ = 0, moment_ = 0, values_ = 0;
};

}  // namespace

int convert_from_table(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  const auto refuse = [&](const Error& error) { return explain_failure(error, waiter, console); };
  auto file = record::NewFile::at(invocation.output);
  if (!file) return refuse(file.error());
  Importer importer(invocation.selection.log.path);
  if (auto learned = importer.learn(waiter); !learned) return refuse(learned.error());
  recording::Head head;
  static_cast<void>(::getrandom(&head.recorder, sizeof head.recorder, 0));
  head.program = "meterbank " METERBANK_VERSION;
  head.rates.emplace_back();
  head.host = importer.hosts();
  if (!head.host.empty()) head.minor = std::max(head.minor, recording::kMinorOfHosts);
  auto files =
      record::RingFiles::open({.path = file->temporary(), .shown = file->path()}, std::move(head));
  if (!files) return refuse(files.error());
  if (auto written = importer.write(*files, waiter); !written) return refuse(written.error());
  if (auto kept = file->keep(); !kept) return refuse(kept.error());
  if (!importer.note().empty()) complain(console, escape_for_terminal(importer.note()));
  if (!invocation.quiet) {
    say(console,
        fmt::format("{} of {} in {}: {} of {}", counted(importer.values(), "value"),
                    counted(importer.moments(), "sample"), escape_for_terminal(invocation.output),
                    print_quantity(static_cast<double>(files->bytes_written()), "By"),
                    print_quantity(static_cast<double>(importer.bytes_in()), "By")));
  }
  return kExitDone;
}

}  // namespace meterbank::cli
