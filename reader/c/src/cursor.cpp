// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>

#include "iteration.hpp"

namespace meterbank::border {
namespace {

static_assert(MB_ROW_FRESH == static_cast<int>(RowStatus::kFresh));
static_assert(MB_ROW_CHECKPOINT == static_cast<int>(RowStatus::kCheckpoint));
static_assert(MB_ROW_BUSY == static_cast<int>(RowStatus::kBusy));
static_assert(MB_ROW_GONE == static_cast<int>(RowStatus::kGone));
static_assert(MB_ROW_CLOSED == static_cast<int>(RowStatus::kClosed));
static_assert(MB_ROW_DEAD == static_cast<int>(RowStatus::kDead));
static_assert(MB_ROW_TIMEOUT == static_cast<int>(RowStatus::kTimeout));
static_assert(MB_ROW_OVERLOADED == static_cast<int>(RowStatus::kOverloaded));
static_assert(MB_ROW_UNANSWERED == static_cast<int>(RowStatus::kUnanswered));
static_assert(MB_CONSISTENCY_BLOCK == static_cast<int>(RowConsistency::kBlock));
static_assert(MB_CONSISTENCY_INDEPENDENT == static_cast<int>(RowConsistency::kIndependent));
static_assert(MB_CONSISTENCY_SHARDS == static_cast<int>(RowConsistency::kShards));
static_assert(MB_CONSISTENCY_SHARED == static_cast<int>(RowConsistency::kSharedCounters));
static_assert(MB_VALUE_NEW == static_cast<int>(CookStatus::kNew));
static_assert(MB_VALUE_UNCHANGED == static_cast<int>(CookStatus::kUnchanged));
static_assert(MB_VALUE_BELOW_RANGE == static_cast<int>(CookStatus::kBelowRange));
static_assert(MB_VALUE_ABOVE_RANGE == static_cast<int>(CookStatus::kAboveRange));
static_assert(MB_VALUE_FIRST_SAMPLE == static_cast<int>(CookStatus::kFirstSample));
static_assert(MB_VALUE_NO_NEW_SAMPLE == static_cast<int>(CookStatus::kNoNewSample));
static_assert(MB_VALUE_RESET == static_cast<int>(CookStatus::kReset));
static_assert(MB_VALUE_NEGATIVE_BASE == static_cast<int>(CookStatus::kNegativeBase));
static_assert(MB_VALUE_NEGATIVE_TIME == static_cast<int>(CookStatus::kNegativeTime));
static_assert(MB_VALUE_ZERO_BASE == static_cast<int>(CookStatus::kZeroBase));
static_assert(MB_VALUE_TYPE_CHANGED == static_cast<int>(CookStatus::kTypeChanged));
static_assert(MB_VALUE_NOT_COOKABLE == static_cast<int>(CookStatus::kNotCookable));
static_assert(MB_VALUE_NOT_FINITE == static_cast<int>(CookStatus::kNotFinite));
static_assert(MB_VALUE_NO_VALUE == static_cast<int>(CookStatus::kNoValue));
static_assert(MB_FORM_UNSIGNED == static_cast<int>(ValueForm::kUnsigned));
static_assert(MB_FORM_SIGNED == static_cast<int>(ValueForm::kSigned));
static_assert(MB_FORM_REAL == static_cast<int>(ValueForm::kReal));
static_assert(MB_FORM_TEXT == static_cast<int>(ValueForm::kText));
static_assert(MB_FORM_DISTRIBUTION == static_cast<int>(ValueForm::kDistribution));

mb_row row_of(const Row& row, const std::string& instance) noexcept {
  mb_row filled = MB_ROW_INIT;
  filled.status = static_cast<std::uint32_t>(row.status);
  filled.consistency = static_cast<std::uint32_t>(row.consistency);
  filled.cut = static_cast<std::uint32_t>(row.cut);
  filled.time_ns = row.time_ns;
  filled.skew_ns = row.skew_ns;
  filled.instance_id = row.id();
  filled.is_total = row.is_total ? 1 : 0;
  filled.pid = row.provider->named_pid();
  filled.uid = row.provider->uid;
  filled.is_trusted = row.provider->trusted ? 1 : 0;
  filled.needs_provider = row.needs_provider() ? 1 : 0;
  filled.provider = row.provider->name.c_str();
  filled.set = row.set().name.c_str();
  filled.set_symbol = row.set().symbol.c_str();
  filled.set_label = row.set_label().c_str();
  filled.instance = instance.c_str();
  return filled;
}

mb_value value_of(const Value& value, const std::string& text) noexcept {
  mb_value filled = MB_VALUE_INIT;
  filled.status = static_cast<std::uint32_t>(value.cooked.status);
  filled.type = static_cast<std::uint32_t>(value.kind());
  filled.form = static_cast<std::uint32_t>(value.counter->form);
  filled.cooked = value.cooked.value;
  filled.raw = value.raw.value;
  filled.base = value.raw.base;
  filled.set_ns = value.set_ns;
  filled.id = value.counter->id;
  filled.scale = value.counter->scale;
  filled.name = value.name().c_str();
  filled.symbol = value.symbol().c_str();
  filled.unit = value.unit().c_str();
  filled.help = value.help().c_str();
  if (value.text) {
    filled.text = text.c_str();
    filled.text_length = text.size();
  }
  return filled;
}

mb_distribution distribution_of(const Distribution& distribution) noexcept {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  mb_distribution filled = MB_DISTRIBUTION_INIT;
  filled.scale = distribution.shape.scale;
  filled.first = distribution.shape.first;
  filled.bucket_count = static_cast<std::uint32_t>(distribution.buckets.size());
  filled.buckets = distribution.buckets.data();
  filled.count = distribution.count;
  filled.below = distribution.below;
  filled.above = distribution.above;
  filled.refused = distribution.refused;
  filled.sum = distribution.sum;
  filled.least = distribution.least.value_or(kUnknown);
  filled.most = distribution.most.value_or(kUnknown);
  return filled;
}

std::uint32_t status_of(Quantile::Side side) noexcept {
  switch (side) {
    case Quantile::Side::kWithin:
      return MB_VALUE_NEW;
    case Quantile::Side::kBelow:
      return MB_VALUE_BELOW_RANGE;
    case Quantile::Side::kAbove:
      return MB_VALUE_ABOVE_RANGE;
  }
  return MB_VALUE_NO_VALUE;
}

// Where C code is in two samples. What is short enough for a string without memory is refused below
// in as few words, because the end of each row is such a refusal.
class HeldCursor {
 public:
  HeldCursor() = default;
  HeldCursor(const HeldCursor&) = delete;
  HeldCursor& operator=(const HeldCursor&) = delete;
  ~HeldCursor() { stop(); }

  void start(SamplePair pair) {
    stop();
    pair_ = std::move(pair);
    const SamplePair::Locks locks = pair_.lock();
    collections_ = pair_.collections();
  }

  // `work()` with the samples held still. Errors: MB_CLOSED, if they are not what they were.
  template <typename Work>
  [[nodiscard]] Outcome<void> with_samples(Work&& work) {
    if (pair_.empty()) return refuse(MB_NOT_FOUND, "not started", "start it");
    const SamplePair::Locks locks = pair_.lock();
    if (collections_ != pair_.collections()) {
      forget_place();
      return refuse(MB_CLOSED, "a sample of this cursor was collected again",
                    "start the cursor again");
    }
    return work();
  }

  // These need the samples to be held still.
  [[nodiscard]] bool next_row() {
    value_.reset();
    if (is_at_end_) return false;
    if (row_) {
      ++*row_;
    } else {
      row_.emplace(pair_.rows().begin());
    }
    is_at_end_ = *row_ == std::default_sentinel;
    if (!is_at_end_) instance_.assign((*row_)->name());
    return !is_at_end_;
  }
  [[nodiscard]] bool next_value() {
    if (!row_ || is_at_end_) return false;
    if (!value_) {
      value_ = (*row_)->begin();
    } else if (*value_ != std::default_sentinel) {
      ++*value_;
    }
    if (find_value() == nullptr) return false;
    if (const auto& text = (*value_)->text) text_.assign(*text);
    return true;
  }
  [[nodiscard]] mb_row row() const noexcept { return row_of(**row_, instance_); }
  [[nodiscard]] mb_value value() const noexcept { return value_of(**value_, text_); }
  // Null: it is at none.
  [[nodiscard]] const Value* find_value() const noexcept {
    return value_ && *value_ != std::default_sentinel ? &**value_ : nullptr;
  }
  [[nodiscard]] const char* path(mb_path_spelling spelling) {
    path_ = spelling == MB_PATH_SHORT ? (*value_)->short_path() : (*value_)->path();
    return path_.c_str();
  }

  std::mutex mutex;

 private:
  // The memory of an iteration goes back to its sample.
  void stop() noexcept {
    if (pair_.empty()) return;
    const SamplePair::Locks locks = pair_.lock();
    forget_place();
  }
  void forget_place() noexcept {
    value_.reset();
    row_.reset();
    is_at_end_ = false;
  }

  SamplePair pair_;
  std::uint64_t collections_ = 0;
  std::optional<Rows::Iterator> row_;  // nothing: before the first one
  bool is_at_end_ = false;
  std::optional<Row::Iterator> value_;  // nothing: before the first one of the row
  std::string instance_, text_, path_;
};

constinit HandleTable<HeldCursor> cursors("cursor");

// `work(cursor)` with the cursor and its samples held still.
template <typename Work>
mb_status use_cursor(mb_cursor* cursor, mb_error* error, Work&& work) noexcept {
  return cross(error, [&] {
    return with(cursors, cursor,
                [&](HeldCursor& held) { return held.with_samples([&] { return work(held); }); });
  });
}

// The same, about the distribution that the cursor is at.
template <typename Work>
mb_status use_distribution(mb_cursor* cursor, mb_error* error, Work&& work) noexcept {
  return use_cursor(cursor, error, [&](const HeldCursor& held) -> Outcome<void> {
    const Value* const value = held.find_value();
    if (value == nullptr || value->distribution == nullptr) {
      return refuse(MB_NOT_FOUND, "the cursor is at no distribution");
    }
    return work(*value->distribution);
  });
}

}  // namespace
}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_cursor_create(mb_cursor** cursor, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear_handle(cursor, "cursor"); !good) return good;
    *cursor = handle_of<mb_cursor>(cursors.insert(std::make_shared<HeldCursor>()));
    return {};
  });
}

void mb_cursor_close(mb_cursor* cursor) { close_handle(cursors, cursor); }

mb_status mb_cursor_start(mb_cursor* cursor, mb_sample* newer, mb_sample* older, mb_error* error) {
  return cross(error, [&] {
    return with(cursors, cursor, [&](HeldCursor& held) -> Outcome<void> {
      auto pair = SamplePair::find(newer, older);
      if (!pair) return tl::make_unexpected(pair.error());
      held.start(std::move(*pair));
      return {};
    });
  });
}

mb_status mb_cursor_next_row(mb_cursor* cursor, mb_row* row, mb_error* error) {
  return use_cursor(cursor, error, [&](HeldCursor& held) -> Outcome<void> {
    if (row != nullptr) {
      if (auto good = can_fill(row, "mb_row"); !good) return good;
    }
    if (!held.next_row()) return refuse(MB_NOT_FOUND, "no more rows");
    if (row != nullptr) fill_struct(row, held.row());
    return {};
  });
}

mb_status mb_cursor_next_value(mb_cursor* cursor, mb_value* value, mb_error* error) {
  return use_cursor(cursor, error, [&](HeldCursor& held) -> Outcome<void> {
    if (value != nullptr) {
      if (auto good = can_fill(value, "mb_value"); !good) return good;
    }
    if (!held.next_value()) return refuse(MB_NOT_FOUND, "no more values");
    if (value != nullptr) fill_struct(value, held.value());
    return {};
  });
}

mb_status mb_cursor_path(mb_cursor* cursor, mb_path_spelling spelling, const char** path,
                         mb_error* error) {
  return use_cursor(cursor, error, [&](HeldCursor& held) -> Outcome<void> {
    if (path == nullptr) return refuse_null("path");
    *path = nullptr;
    if (spelling != MB_PATH_WINDOWS && spelling != MB_PATH_SHORT) {
      return refuse(MB_INVALID_ARGUMENT, "spelling is not of mb_path_spelling");
    }
    if (held.find_value() == nullptr) return refuse(MB_NOT_FOUND, "the cursor is at no value");
    *path = held.path(spelling);
    return {};
  });
}

mb_status mb_cursor_distribution(mb_cursor* cursor, mb_distribution* distribution,
                                 mb_error* error) {
  return use_distribution(cursor, error, [&](const Distribution& held) -> Outcome<void> {
    if (auto good = can_fill(distribution, "mb_distribution"); !good) return good;
    fill_struct(distribution, distribution_of(held));
    return {};
  });
}

mb_status mb_cursor_quantile(mb_cursor* cursor, double share, double* value, uint32_t* status,
                             mb_error* error) {
  return use_distribution(cursor, error, [&](const Distribution& held) -> Outcome<void> {
    if (value == nullptr) return refuse_null("value");
    if (!(share >= 0 && share <= 1)) {
      return refuse(MB_INVALID_ARGUMENT, "share is not a number from 0 to 1");
    }
    const std::optional<Quantile> quantile = held.quantile(share);
    *value = quantile ? quantile->value : std::numeric_limits<double>::quiet_NaN();
    const std::uint32_t end =
        quantile ? status_of(quantile->side) : std::uint32_t{MB_VALUE_NO_VALUE};
    if (status != nullptr) *status = end;
    return {};
  });
}

const char* mb_row_status_text(uint32_t status) {
  return status <= MB_ROW_UNANSWERED ? name_of(static_cast<RowStatus>(status)).data() : "unknown";
}

const char* mb_value_status_text(uint32_t status) {
  return status <= MB_VALUE_NO_VALUE ? name_of(static_cast<CookStatus>(status)).data() : "unknown";
}
