// SPDX-License-Identifier: Apache-2.0
//
// The bulk kernels, on blocks made here. All tests hold for each width that this processor
// supports.
#include "collect/sweep.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../support/sample_words.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {
namespace {

constexpr std::uint32_t kSlots = 32;

// A row for each slot of one group.
class RowsOfAGroup {
 public:
  RowsOfAGroup(const std::byte* group, const BlockForm& form, const GroupLayout& layout,
               std::uint32_t slots)
      : groups_{{group, 0}} {
    auto described = std::make_shared<Counterset>();
    described->form = form;
    set_.set = std::move(described);
    set_.layouts.push_back(layout);
    auto piece = std::make_shared<InstancePiece>();
    piece->instances.resize(slots);
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      piece->instances[slot].slot = slot & InstanceView::kSlotMask;
      rows_.places.push_back(static_cast<std::uint16_t>(slot));
    }
    rows_.piece = std::move(piece);
    set_.instances = InstanceViews({rows_.piece});
  }
  RowsOfAGroup(const RowsOfAGroup&) = delete;
  RowsOfAGroup& operator=(const RowsOfAGroup&) = delete;

  [[nodiscard]] RowBlocks blocks() const noexcept { return {groups_, set_, rows_, 0}; }

 private:
  std::vector<QueryPlan::Group> groups_;
  QueryPlan::PieceRows rows_;
  RegisteredSet set_;
};

struct Shape {
  BlockForm form;
  SweepWidth width;
  bool past_caches = false;
};

class SweepTest : public testing::TestWithParam<Shape> {
 protected:
  SweepTest() : form_(GetParam().form), layout_(GroupLayout::of(form_, kSlots)) {
    lines_.resize(layout_.bytes / sizeof(Line));
    auto* group = reinterpret_cast<std::byte*>(lines_.data());
    run_.kind = is_tile() ? QueryPlan::Run::Kind::kTiles : QueryPlan::Run::Kind::kLines;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      const auto parts = block_parts(group, form_, layout_, slot);
      writers_.emplace_back(parts);
      seqs_.push_back(parts.seq);
      writers_.back().commit_first([slot](std::uint32_t word) { return slot * 1000U + word; });
    }
    rows_.emplace(group, form_, layout_, kSlots);
    run_.rows = kSlots;
    run_.head = rows_->blocks()[0].seq;
    run_.head_words = form_.head_stride() / sizeof(SharedWord);
    values_.assign(kSlots * form_.words, 77);
    versions_.assign(kSlots, 77);
    status_.assign(kSlots, RowStatus::kBusy);
  }
  void SetUp() override {
    if (GetParam().width > widest_sweep()) {
      GTEST_SKIP() << "this processor, or this build, does not load so many words at once";
    }
  }
  [[nodiscard]] bool is_tile() const { return form_.lanes == 8; }
  std::size_t sweep() {
    const SweepRun sweep_run =
        sweep_of(run_.kind, form_.consistency, form_.words, GetParam().width);
    return sweep_run(run_, rows_->blocks(),
                     {values_.data(), versions_.data(), status_.data(), GetParam().past_caches});
  }
  void expect_row(std::uint32_t slot, std::uint64_t version, RowStatus status) const {
    SCOPED_TRACE(slot);
    EXPECT_EQ(status_[slot], status);
    EXPECT_EQ(versions_[slot], version);
    for (std::uint32_t word = 0; word < form_.words; ++word) {
      EXPECT_EQ(values_[slot * form_.words + word], slot * 1000U + word);
    }
  }

  struct alignas(kCacheLine) Line {
    std::array<std::uint64_t, 8> words{};
  };
  BlockForm form_;
  GroupLayout layout_;
  std::vector<Line> lines_;
  std::vector<BlockWriter<StdAtomics>> writers_;
  std::vector<SharedWord*> seqs_;
  std::optional<RowsOfAGroup> rows_;
  QueryPlan::Run run_;
  SampleWords values_;
  std::vector<std::uint64_t> versions_;
  std::vector<RowStatus> status_;
};

TEST_P(SweepTest, CopiesEveryRow) {
  EXPECT_EQ(sweep(), 0U);
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) expect_row(slot, 1, RowStatus::kFresh);
}

TEST_P(SweepTest, ReadsTheOtherCopyOfARowThatIsInTheMiddleOfACommit) {
  // What a writer leaves behind that dies between its two steps: odd, and copy 0 half written.
  for (const std::uint32_t slot : {0U, 7U, 13U, 31U}) {
    seqs_[slot]->store(3, std::memory_order_relaxed);
    const_cast<SharedWord*>(rows_->blocks()[slot].copy0)->store(~0ULL, std::memory_order_relaxed);
  }
  EXPECT_EQ(sweep(), 0U);  // an odd number is no failed attempt
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    const bool is_odd = slot == 0 || slot == 7 || slot == 13 || slot == 31;
    expect_row(slot, is_odd ? 2 : 1, RowStatus::kFresh);
  }
}

TEST_P(SweepTest, StaysInsideItsRows) {
  const std::size_t rows = 16;
  run_.rows = rows;
  sweep();
  for (std::uint32_t slot = 0; slot < rows; ++slot) expect_row(slot, 1, RowStatus::kFresh);
  for (std::size_t slot = rows; slot < kSlots; ++slot) {
    EXPECT_EQ(versions_[slot], 77U);
    EXPECT_EQ(status_[slot], RowStatus::kBusy);
    EXPECT_EQ(values_[slot * form_.words], 77U);
  }
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const SweepWidth width :
       {SweepWidth::kOneWord, SweepWidth::kFourWords, SweepWidth::kEightWords}) {
    for (const std::uint32_t lanes : {1U, 8U}) {
      for (const std::uint32_t words : {1U, 2U, 3U, 4U, 6U, 7U, 8U, 17U, 64U}) {
        for (const bool past_caches : {false, true}) {
          all.push_back({{.words = words, .lanes = lanes}, width, past_caches});
        }
      }
    }
  }
  return all;
}

std::string name_of_shape(const testing::TestParamInfo<Shape>& made) {
  static constexpr std::array kNames{"OneWord", "FourWords", "EightWords"};
  const auto& [form, width, past_caches] = made.param;
  return std::string(kNames[static_cast<std::size_t>(width)]) +
         (form.lanes == 8 ? "Tile" : "Line") + std::to_string(form.words) +
         (past_caches ? "PastCaches" : "");
}

INSTANTIATE_TEST_SUITE_P(AllForms, SweepTest, testing::ValuesIn(shapes()), name_of_shape);

TEST(SweepOfIndependentCounters, CopiesThemAsTheyAre) {
  const BlockForm form{.words = 3, .lanes = 8, .consistency = Consistency::kIndependent};
  const GroupLayout layout = GroupLayout::of(form, 8);
  struct alignas(kCacheLine) Line {
    std::array<std::uint64_t, 8> words{};
  };
  std::vector<Line> lines(layout.bytes / sizeof(Line));
  auto* group = reinterpret_cast<std::byte*>(lines.data());
  for (std::uint32_t slot = 0; slot < 8; ++slot) {
    for (std::uint32_t word = 0; word < 3; ++word) {
      block_parts(group, form, layout, slot)
          .copy0[word]
          .store(slot * 10 + word, std::memory_order_relaxed);
    }
  }
  const RowsOfAGroup rows(group, form, layout, 8);
  const QueryPlan::Run run{0, 8, rows.blocks()[0].seq, form.head_stride() / sizeof(SharedWord),
                           QueryPlan::Run::Kind::kTiles};
  std::vector<std::uint64_t> values(24), versions(8);
  std::vector<RowStatus> status(8, RowStatus::kBusy);
  for (const SweepWidth width : {SweepWidth::kOneWord, widest_sweep()}) {
    const SweepRun sweep_run = sweep_of(run.kind, form.consistency, form.words, width);
    std::fill(values.begin(), values.end(), 0);
    EXPECT_EQ(sweep_run(run, rows.blocks(), {values.data(), versions.data(), status.data()}), 0U);
    for (std::uint32_t slot = 0; slot < 8; ++slot) {
      EXPECT_EQ(status[slot], RowStatus::kFresh);
      for (std::uint32_t word = 0; word < 3; ++word)
        EXPECT_EQ(values[slot * 3 + word], slot * 10 + word);
    }
  }
}

}  // namespace
}  // namespace meterbank
