// SPDX-License-Identifier: Apache-2.0
//
// What is shown of providers of other users, and what is made of it.
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "../../support/other_user.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/selection.hpp"
#include "cli/watch/live_table.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"

namespace meterbank::cli {
namespace {

using test::OtherUser;

constexpr const char* kNote =
    "meterbank: totals leave out 1 provider of another user; --across-users adds it\n";

class CliTotals : public CliTest {
 protected:
  // The lines without their time.
  [[nodiscard]] static std::vector<std::string> rows(const Outcome& outcome) {
    std::vector<std::string> rows;
    for (const auto& line : outcome.lines()) rows.push_back(line.substr(line.find('\t') + 1));
    return rows;
  }
};

class CliOtherUsers : public CliTotals {
 protected:
  void SetUp() override {
    if (!test::may_be_two_users()) GTEST_SKIP() << "only root can be two users";
    test::share_directory(directory_);
  }
  // A bakery of another user with the name, the GUID and one row of this user's bakery, and one
  // row more.
  [[nodiscard]] std::function<void(const OtherUser::Pause&)> runs_a_bakery(std::string name) const {
    return [name = std::move(name), directory = directory_](const OtherUser::Pause& pause) {
      auto provider = *Provider::create({.name = name, .directory = directory});
      CountersetSpec spec = kBakery;
      spec.guid = Guid::from_name("shop", "Bakery");
      auto ovens = *provider.add(spec);
      auto left = *ovens.create_instance("left"), cellar = *ovens.create_instance("cellar");
      left.set(0, 1000);
      cellar.set(0, 1000);
      pause();
    };
  }
  void open_both(const OtherUser&) {
    open_shop();
    open_bakery();
  }
  [[nodiscard]] SelectionOptions left_oven() const {
    SelectionOptions options;
    options.directory = directory_;
    options.paths = {"bakery/left"};
    return options;
  }
};

using Lines = std::vector<std::string>;

TEST_F(CliOtherUsers, TotalsLeaveThemOutAndSaySo) {
  const OtherUser other(runs_a_bakery("shop"));
  open_both(other);
  for (const char* const verb : {"get", "watch"}) {
    const auto outcome = meterbank({verb, "bakery/_Total/loaves", "-n", "1", "-f", "plain"});
    EXPECT_EQ(outcome.code, kExitDone);
    EXPECT_EQ(rows(outcome), Lines{"bakery/_Total/loaves\t40\t"});
    EXPECT_EQ(outcome.err, kNote);
  }
}

TEST_F(CliOtherUsers, AreNamedWhereATotalHasNoOtherProvider) {
  const OtherUser other(runs_a_bakery("shop"));
  const auto outcome = meterbank({"get", "bakery/_Total/loaves"});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("'bakery/_Total/loaves': its providers are of other users; try: "
                             "--across-users\n"),
            std::string::npos)
      << outcome.err;
}

TEST_F(CliTotals, OfASetThatHasNoneAreExplained) {
  open_shop();
  for (const char* const path : {"shop_sales/_Total/sold", "\\Shop Sales(_total)\\Sold/sec"}) {
    const auto outcome = meterbank({"get", path});
    EXPECT_EQ(outcome.code, kExitNo);
    EXPECT_NE(outcome.err.find("the set has no total; try: "), std::string::npos) << outcome.err;
  }
  const auto outcome = meterbank({"get", "shop_sales/_Total/sold"});
  EXPECT_NE(outcome.err.find("try: shop_sales/*/sold\n"), std::string::npos) << outcome.err;
}

TEST_F(CliOtherUsers, AcrossUsersAddsThem) {
  const OtherUser other(runs_a_bakery("shop"));
  open_both(other);
  for (const char* const verb : {"get", "watch"}) {
    const auto outcome =
        meterbank({verb, "bakery/_Total/loaves", "-n", "1", "-f", "plain", "--across-users"});
    EXPECT_EQ(rows(outcome), Lines{"bakery/_Total/loaves\t2040\t"});
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(CliOtherUsers, SayNothingWhereNoTotalIsMade) {
  const OtherUser other(runs_a_bakery("shop"));
  open_both(other);
  EXPECT_EQ(meterbank({"get", "bakery/left/loaves"}).err, "");
  EXPECT_EQ(meterbank({"get", "bakery/_Total/loaves", "-q"}).err, "");
}

TEST_F(CliOtherUsers, TheirRowsBeginWithTheProvider) {
  const OtherUser other(runs_a_bakery("shop"));
  open_both(other);
  auto lines = rows(meterbank({"get", "bakery/left/loaves", "-f", "plain"}));
  std::sort(lines.begin(), lines.end());
  Lines both{"shop@" + std::to_string(::getpid()) + ":bakery/left/loaves\t20\t",
             other.at("shop") + ":bakery/left/loaves\t1000\t"};
  std::sort(both.begin(), both.end());
  EXPECT_EQ(lines, both);
  const auto table = meterbank({"get", "bakery/left/loaves", "-f", "table"}).out;
  EXPECT_NE(table.find(other.at("shop") + ":bakery/loaves"), std::string::npos) << table;
  EXPECT_NE(table.find(" bakery/loaves"), std::string::npos) << table;
}

TEST_F(CliOtherUsers, JsonSaysThatTheirRowsAreNotTrusted) {
  const OtherUser other(runs_a_bakery("shop"));
  open_both(other);
  const auto document = parse_json(meterbank({"get", "bakery/left/loaves", "-f", "json"}).out);
  ASSERT_EQ(document["samples"].size(), 2U);
  for (const auto& row : document["samples"]) {
    const bool is_theirs = row["provider"] == other.at("shop");
    EXPECT_EQ(row["value"], is_theirs ? 1000 : 20);
    EXPECT_EQ(row.contains("trusted"), is_theirs);
    EXPECT_EQ(row.value("trusted", true), !is_theirs);
  }
}

TEST_F(CliTotals, HaveNoProvider) {
  open_shop();
  open_bakery();
  const auto rows = parse_json(meterbank({"get", "bakery/*/loaves", "-f", "json"}).out)["samples"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2]["instance"], "_Total");
  EXPECT_EQ(rows[2]["provider"], "");
  EXPECT_NE(rows[0]["provider"], "");
}

TEST_F(CliTotals, AreToldFromARowOfThatName) {
  open_shop();
  open_bakery();
  auto fake = *ovens_.create_instance("_Total");
  fake.set(0, 77);
  const std::string own = "shop@" + std::to_string(::getpid());
  EXPECT_EQ(rows(meterbank({"get", "bakery/_Total/loaves", "-f", "plain"})),
            (Lines{own + ":bakery/_Total/loaves\t77\t", "bakery/_Total/loaves\t40\t"}));
  const auto csv = meterbank({"get", "bakery/_Total/loaves", "-f", "csv"}).lines();
  ASSERT_EQ(csv.size(), 3U);
  EXPECT_NE(csv[1].find("," + own + ",bakery,_Total,loaves,77,"), std::string::npos) << csv[1];
  EXPECT_NE(csv[2].find(",,bakery,_Total,loaves,40,"), std::string::npos) << csv[2];
}

TEST_F(CliOtherUsers, ExpressionsLeaveThemOutAndSaySo) {
  const OtherUser other(runs_a_bakery("shop"));
  open_both(other);
  const Lines formula{"get", "-f", "plain", "-e", "all = sum({bakery/left/loaves})"};
  const auto own = meterbank(formula);
  EXPECT_EQ(rows(own), Lines{"expr/all\t20\t"});
  EXPECT_EQ(own.err, kNote);
  Lines of_everyone = formula;
  of_everyone.emplace_back("--across-users");
  EXPECT_EQ(rows(meterbank(of_everyone)), Lines{"expr/all\t1020\t"});
}

TEST_F(CliOtherUsers, LogsKeepTheNamesOfColumns) {
  const OtherUser other(runs_a_bakery("a"));
  open_both(other);
  const Lines command{"typeperf", R"(\Bakery(*)\Loaves)", "-sc", "1"};
  const auto log = meterbank(command);
  EXPECT_EQ(log.code, kExitDone);
  EXPECT_EQ(log.err, kNote);
  const auto header = log.lines().at(0);
  EXPECT_NE(header.find("\\\\" + other.at("a") + R"(\Bakery(left)\Loaves)"), std::string::npos);
  EXPECT_NE(header.find("\\\\" + other.at("a") + R"(\Bakery(cellar)\Loaves)"), std::string::npos);
  EXPECT_EQ(header.find("\\\\shop@"), std::string::npos) << header;
  Lines of_everyone = command;
  of_everyone.emplace_back("--across-users");
  const auto all = meterbank(of_everyone);
  EXPECT_EQ(all.err, "");
  EXPECT_NE(all.lines().at(1).find("\"2040\""), std::string::npos) << all.out;
}

// A column of the log goes on with rows of the user that it began with.
TEST_F(CliOtherUsers, TakeOverNoColumn) {
  OtherUser other([&](const OtherUser::Pause& pause) {
    pause();
    runs_a_bakery("shop")(pause);
  });
  open_both(other);
  Waiter waiter({});
  auto selection = Selection::open(left_oven(), waiter);
  ASSERT_TRUE(selection);
  Sampler sampler(*selection);
  RowStyle style;
  style.format = Format::kPdhCsv;
  const auto writer = make_row_writer(style);
  sampler.take();
  std::string log;
  const auto to_log = [&log](std::string_view text) {
    log += text;
    return true;
  };
  const RowWalk all_rows = [&sampler](ValueSink take) { sampler.each_row(take); };
  writer->write({sampler.newer(), all_rows, sampler.interval(), left_out_of(selection->catalog())},
                to_log);
  other.go();
  selection->refresh();
  sampler.take();
  std::deque<KeptValue> rows;
  std::vector<const Value*> in_order;
  sampler.each_row([&](const Value& row) {
    in_order.push_back(&rows.emplace_back(row).value());
    return true;
  });
  ASSERT_EQ(in_order.size(), 2U);
  // Whatever comes first.
  if (in_order[0]->provider().uid == 0) std::swap(in_order[0], in_order[1]);
  log.clear();
  const RowWalk in_this_order = [&in_order](ValueSink take) {
    for (const Value* const row : in_order) {
      if (!take(*row)) return;
    }
  };
  writer->write(
      {sampler.newer(), in_this_order, sampler.interval(), left_out_of(selection->catalog())},
      to_log);
  EXPECT_NE(log.find("\"20\""), std::string::npos) << log;
}

TEST_F(CliOtherUsers, TheLiveTableRenamesNothing) {
  const OtherUser other(runs_a_bakery("shop"));
  open_both(other);
  Waiter waiter({});
  auto selection = Selection::open(left_oven(), waiter);
  ASSERT_TRUE(selection);
  Sampler sampler(*selection);
  sampler.take();
  LiveTable table;
  table.update([&sampler](ValueSink take) { sampler.each_row(take); }, selection->query.version(),
               View(), Clock::now());
  Lines names;
  for (const LiveRow* const row : table.shown(View())) names.push_back(row->counter);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Lines{"bakery/loaves", other.at("shop") + ":bakery/loaves"}));
}

TEST_F(CliTotals, AcrossUsersIsInTheHelp) {
  for (const char* const verb : {"list", "get", "watch", "typeperf"}) {
    EXPECT_NE(run_plainly({verb, "--help"}).out.find("--across-users"), std::string::npos) << verb;
  }
}

}  // namespace
}  // namespace meterbank::cli
