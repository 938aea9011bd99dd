// SPDX-License-Identifier: Apache-2.0
//
// Columns of a PDH log, when rows come in another order than in the first sample.
#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "../cli_fixture.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/selection.hpp"
#include "cli/session/waiter.hpp"

namespace meterbank::cli::log_columns_test {
namespace {

class LogColumns : public CliTest {
 protected:
  void SetUp() override {
    open_shop({"fruit", "bread", "tea"});
    SelectionOptions options;
    options.directory = directory_;
    options.paths = {"shop_sales/*/*"};
    selection_ = *Selection::open(options, waiter_);
    sampler_.emplace(*selection_);
    sampler_->take();
    sampler_->each_row([this](const Value& value) {
      kept_.emplace_back(value);
      return true;
    });
    order_.resize(kept_.size());
    std::iota(order_.begin(), order_.end(), 0);
    style_.format = Format::kPdhCsv;
    style_.raw = true;
    writer_ = make_row_writer(style_);
  }

  // The record of the values in the present order, without its time.
  std::string record() {
    std::string log;
    const RowWalk rows = [this](ValueSink take) {
      for (const std::size_t place : order_) {
        if (!take(kept_[place].value())) return;
      }
    };
    writer_->write({sampler_->newer(), rows, 0, left_out_of(selection_->catalog())},
                   [&log](std::string_view text) {
                     log += text;
                     return true;
                   });
    const std::string line = log.substr(0, log.size() - 2);
    const std::string last = line.substr(line.rfind('\n') + 1);
    return last.substr(last.find(','));
  }

  Waiter waiter_{{}};
  RowStyle style_;
  std::optional<Selection> selection_;
  std::optional<Sampler> sampler_;
  std::deque<KeptValue> kept_;
  std::vector<std::size_t> order_;
  std::unique_ptr<RowWriter> writer_;
};

TEST_F(LogColumns, HaveTheirValuesInWhateverOrderTheyCome) {
  const std::string first = record();
  ASSERT_EQ(kept_.size(), 9U);
  ASSERT_EQ(std::count(first.begin(), first.end(), ','), 9);
  std::reverse(order_.begin(), order_.end());
  EXPECT_EQ(record(), first);
  for (std::size_t turn = 0; turn < 20; ++turn) {
    std::next_permutation(order_.begin(), order_.end());
    EXPECT_EQ(record(), first);
    std::rotate(order_.begin(), order_.begin() + 4, order_.end());
    EXPECT_EQ(record(), first);
  }
  std::sort(order_.begin(), order_.end());
  EXPECT_EQ(record(), first);
}

// Two rows that are called the same in all that counts: here, one row twice.
TEST_F(LogColumns, OfNamesakesAreToldApartByTheirOrder) {
  for (std::size_t place = 0; place < 9; ++place) order_.push_back(place);
  const std::string twice = record();
  ASSERT_EQ(std::count(twice.begin(), twice.end(), ','), 18);
  std::reverse(order_.begin(), order_.end());
  EXPECT_EQ(record(), twice);
  std::rotate(order_.begin(), order_.begin() + 5, order_.end());
  EXPECT_EQ(record(), twice);
  // A third one has no column.
  order_.push_back(0);
  EXPECT_EQ(record(), twice);
}

TEST_F(LogColumns, AreBlankWhereNoValueComes) {
  const std::string first = record();
  const auto blanks = [](const std::string& line) {
    std::size_t count = 0;
    for (auto at = line.find("\" \""); at != std::string::npos; at = line.find("\" \"", at + 1))
      ++count;
    return count;
  };
  ASSERT_EQ(blanks(first), 0U);
  std::reverse(order_.begin(), order_.end());
  order_.resize(4);
  EXPECT_EQ(blanks(record()), 5U);
  order_ = {1, 4};
  EXPECT_EQ(blanks(record()), 7U);
}

}  // namespace
}  // namespace meterbank::cli::log_columns_test
