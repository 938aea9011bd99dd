// SPDX-License-Identifier: Apache-2.0
//
// Iterating over a sample. The cursor is lent by the sample, so that its memory is used again; an
// iteration inside another one, or over a copy, makes a cursor of its own.
#include <span>
#include <utility>

#include "meterbank/reader/sample.hpp"
#include "row_cursor.hpp"

namespace meterbank {

Rows Sample::rows(CookOptions options) const noexcept { return {nullptr, *this, options}; }

Rows Sample::since(const Sample& older, CookOptions options) const noexcept {
  return {&older, *this, options};
}

Rows::Iterator::Iterator(const Rows& rows) {
  if (rows.newer_->empty()) return;
  lender_ = SampleAccess::find(*rows.newer_);
  cursor_ = std::exchange(lender_->cursor, nullptr);
  const SampleContent* const older =
      rows.older_ == nullptr ? nullptr : SampleAccess::find(*rows.older_);
  // Two samples take turns: what the other one's cursor has learned is of use here.
  const bool is_new = cursor_ != nullptr && !cursor_->was_used();
  if (is_new && older != nullptr && older->cursor != nullptr) std::swap(cursor_, older->cursor);
  if (cursor_ == nullptr) cursor_ = std::make_shared<RowCursor>();
  cursor_->start(rows.older_, *rows.newer_, rows.options_);
  ++*this;
}

Rows::Iterator::Iterator(Iterator&& other) noexcept
    : lender_(std::exchange(other.lender_, nullptr)), cursor_(std::move(other.cursor_)) {}

Rows::Iterator& Rows::Iterator::operator=(Iterator&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  lender_ = std::exchange(other.lender_, nullptr);
  cursor_ = std::move(other.cursor_);
  return *this;
}

Rows::Iterator::~Iterator() { give_back(); }

void Rows::Iterator::give_back() noexcept {
  if (cursor_ == nullptr) return;
  cursor_->stop();
  lender_->cursor = std::move(cursor_);
}

bool Rows::Iterator::is_at_end() const noexcept { return cursor_ == nullptr; }

const Row& Rows::Iterator::operator*() const noexcept { return cursor_->row(); }

Rows::Iterator& Rows::Iterator::operator++() {
  if (!cursor_->next()) give_back();
  return *this;
}

Row::Iterator Row::begin() const { return Iterator(source_.cursor); }

Row::Iterator::Iterator(RowCursor* cursor) : cursor_(cursor) {
  if (cursor == nullptr) return;
  count_ = cursor->values();
  if (count_ != 0) cook_more();
}

void Row::Iterator::cook_more() {
  const std::span<const Value> cooked = cursor_->cook_from(next_);
  value_ = cooked.data();
  cooked_end_ = value_ + cooked.size();
  next_ += cooked.size();
}

}  // namespace meterbank
