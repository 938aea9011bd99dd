// SPDX-License-Identifier: Apache-2.0
//
// Prometheus' remote write: the series of a page, pushed. Names and labels are those of a scrape;
// `more` are the labels that a scraper would have added, "instance" among them.
//
// A series whose row has ended gets a stale marker, as a scraper would write it; of texts, whose
// value is a label, it does not.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "exposition/page/row_selection.hpp"
#include "exposition/page/row_values.hpp"
#include "push/batch/batch.hpp"
#include "push/remote_write/shown_rows.hpp"
#include "push/remote_write/write_request.hpp"

namespace meterbank::push::remote_write {

class RemoteWriteEncoder final : public SnapshotEncoder {
 public:
  RemoteWriteEncoder(Version version, std::vector<exposition::Label> more,
                     std::size_t batch_bytes = kBatchBytes);

  void encode(const exposition::Snapshot& snapshot, const Take& take) override;

 private:
  // One family as its series are called.
  struct Series {
    const exposition::PageFamily* family = nullptr;
    std::string name, sum, count;
    [[nodiscard]] FamilyFacts facts() const noexcept {
      return {family->type, name, family->help, family->unit};
    }
  };
  struct Part {
    std::size_t family = 0;  // in series
    const exposition::FamilyPart* part = nullptr;
    bool is_plain = false;  // its value is one word
  };
  // How the request at hand knows the series of one family.
  struct Described {
    std::uint64_t request = 0;  // 0: none
    SeriesNumber value{}, count{};
  };
  // A label of all rows of a block, or of each of them.
  struct Column {
    std::string name;
    std::string value;
    const std::vector<std::string>* values = nullptr;  // one a row; null: `value`
  };
  // What a layout becomes here.
  struct Plan {
    std::shared_ptr<const exposition::PageLayout> layout;
    std::vector<Series> series;
    std::vector<std::vector<Part>> parts;      // by block
    std::vector<std::vector<Column>> columns;  // by block, sorted by name
  };

  [[nodiscard]] std::shared_ptr<const Plan> make_plan(
      std::shared_ptr<const exposition::PageLayout> layout) const;
  [[nodiscard]] std::vector<Column> columns_of(const exposition::RowBlock& block) const;
  void begin_row(const Plan& plan, std::size_t block, std::size_t row);
  void add_row(const exposition::Snapshot& snapshot, std::size_t block, std::size_t row);
  // The family's value, or its sum and its count.
  [[nodiscard]] const Described& describe(const Plan& plan, std::size_t family);
  void add_plain(const Part& part, const StoredRow& row, const SeriesTimes& times);
  void add_value(const Plan& plan, std::size_t family, const SeriesTimes& times);
  void add_stale(const Plan& plan, std::size_t block, std::size_t row, std::int64_t time_ms);
  void add_about(const exposition::Snapshot& snapshot);
  void end_batch();

  const std::vector<exposition::Label> more_;
  const std::size_t batch_bytes_;
  std::unique_ptr<WriteRequest> request_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<exposition::RowSelection> selection_;
  ShownRows shown_;
  std::shared_ptr<const Plan> shown_plan_;  // of the layout that shown_ has
  exposition::RowValues values_;
  exposition::NativeHistogram histogram_;
  std::vector<LabelView> labels_;     // of the row that is being added
  std::vector<Described> described_;  // by family of the plan that was described last
  const Plan* described_plan_ = nullptr;
  std::uint64_t requests_ = 1;  // the number of the request
  std::size_t points_ = 0;      // in the request
  const Take* take_ = nullptr;
};

}  // namespace meterbank::push::remote_write
