// SPDX-License-Identifier: Apache-2.0
//
// Rows as other collectors read them. What the programs themselves make of it is in
// real_collectors.py.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/session/exit_code.hpp"
#include "distribution/kitchen_fixture.hpp"

namespace meterbank::cli {
namespace {

class CollectorFormats : public CliTest {
 protected:
  void open_aisles(const std::vector<std::string>& names) {
    provider_.emplace(*Provider::create({.name = "shop", .directory = directory_}));
    sales_ = *provider_->add(kSales);
    for (const std::string& name : names) aisles_.push_back(*sales_.create_instance(name));
  }
};
class CollectorFormatsOfDishes : public KitchenTest {};

// A provider in a process of its own, which can be killed.
class LostShop {
 public:
  explicit LostShop(const std::string& directory)
      : child_([&] {
          std::array<int, 2> ready{};
          EXPECT_EQ(::pipe(ready.data()), 0);
          const pid_t child = ::fork();
          if (child == 0) {
            auto shop = Provider::create({.name = "other", .directory = directory});
            auto sales = *shop->add(kSales);
            const Instance lost = *sales.create_instance("lost");
            static_cast<void>(::write(ready[1], "r", 1) == 1);
            while (true) ::pause();
          }
          char letter = 0;
          EXPECT_EQ(::read(ready[0], &letter, 1), 1);
          ::close(ready[0]);
          ::close(ready[1]);
          return child;
        }()) {}
  LostShop(const LostShop&) = delete;
  LostShop& operator=(const LostShop&) = delete;
  ~LostShop() { kill(); }

  void kill() {
    if (child_ == 0) return;
    ::kill(child_, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(std::exchange(child_, 0), &status, 0) > 0, true);
  }

 private:
  pid_t child_;
};

// As InfluxDB 1.x takes a line apart: a backslash makes the next comma, blank or equals sign
// ordinary, and means itself before anything else.
struct Point {
  std::string measurement;
  std::map<std::string, std::string> tags, fields;
  std::string time;
};

std::string up_to(std::string_view& rest, std::string_view ends) {
  std::string text;
  while (!rest.empty() && ends.find(rest[0]) == std::string_view::npos) {
    const bool escapes =
        rest[0] == '\\' && rest.size() > 1 && std::string_view(",= ").find(rest[1]) != ends.npos;
    if (escapes) rest.remove_prefix(1);
    text += rest[0];
    rest.remove_prefix(1);
  }
  return text;
}

std::string field_value(std::string_view& rest) {
  if (!rest.starts_with('"')) return up_to(rest, ", ");
  std::string text = "\"";
  for (rest.remove_prefix(1); !rest.starts_with('"'); rest.remove_prefix(1)) {
    if (rest[0] == '\\') rest.remove_prefix(1);
    text += rest[0];
  }
  rest.remove_prefix(1);
  return text;
}

Point parse_point(std::string_view rest) {
  Point point;
  point.measurement = up_to(rest, ", ");
  while (rest.starts_with(',')) {
    rest.remove_prefix(1);
    const std::string key = up_to(rest, "=");
    rest.remove_prefix(1);
    point.tags[key] = up_to(rest, ", ");
  }
  do {
    rest.remove_prefix(1);
    const std::string key = up_to(rest, "=");
    rest.remove_prefix(1);
    point.fields[key] = field_value(rest);
  } while (rest.starts_with(','));
  point.time = rest.substr(1);
  return point;
}

TEST_F(CollectorFormats, InfluxHasALineARowWithItsCountersAsFields) {
  open_shop();
  aisles_[0].set(Sales::kStock, 7);
  aisles_[0].add(Sales::kSold, 3);

  const auto outcome = meterbank({"get", "shop_sales/*/*", "--raw", "-f", "influx"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_EQ(lines.size(), 2U) << outcome.out;
  const Point fruit = parse_point(lines[0]);
  EXPECT_EQ(fruit.measurement, "shop_sales");
  EXPECT_EQ(fruit.tags,
            (std::map<std::string, std::string>{{"instance", "fruit"}, {"provider", "shop"}}));
  EXPECT_EQ(fruit.fields, (std::map<std::string, std::string>{
                              {"sold", "3i"}, {"stock", "7i"}, {"label_bytes", "1572864i"}}));
  EXPECT_EQ(fruit.time.size(), 19U) << "nanoseconds since 1970";
  EXPECT_EQ(parse_point(lines[1]).tags["instance"], "bread");
}

TEST_F(CollectorFormats, InfluxLinesKeepNamesApartWhateverTheyContain) {
  const std::vector<std::string> names{"a b", "a,b", "a=b", "a\\", "a\\,c=d e=1 2", "\"q\"", "ü"};
  open_aisles(names);

  const auto lines = meterbank({"get", "shop_sales/*/stock", "--raw", "-f", "influx"}).lines();

  ASSERT_EQ(lines.size(), names.size());
  for (std::size_t at = 0; at < names.size(); ++at) {
    Point point = parse_point(lines[at]);
    std::string expected = names[at];
    for (std::size_t found = 0; (found = expected.find('\\')) != std::string::npos;) {
      expected.replace(found, 1, "\uFFFD");
    }
    EXPECT_EQ(point.tags["instance"], expected) << lines[at];
    EXPECT_EQ(point.fields.size(), 1U) << lines[at];
  }
}

TEST_F(CollectorFormats, InfluxWritesCountsBeyondItsIntegersAsRealNumbers) {
  open_shop({"fruit"});
  aisles_[0].set(Sales::kStock, std::uint64_t{1} << 63U);
  aisles_[0].set(Sales::kTurnover, (std::uint64_t{1} << 63U) - 1);

  Point point =
      parse_point(meterbank({"get", "shop_sales/*/*", "--raw", "-f", "influx"}).lines().at(0));

  EXPECT_EQ(point.fields["stock"], "9.223372036854776e+18");
  EXPECT_EQ(point.fields["label_bytes"], "9223372036854775807i");
}

TEST_F(CollectorFormatsOfDishes, InfluxHasTextsAndPercentilesBesideTheCount) {
  serve_a_hundred();
  soup_.text(Dish::kState).set("hot \"and\" C:\\\nready");
  soup_.gauge(Dish::kTemperature).set(61.5);

  Point point = parse_point(
      meterbank({"get", "dishes/*/*", "-n", "2", "-i", "20ms", "-f", "influx"}).lines().at(0));

  EXPECT_EQ(point.fields["state"], "\"hot \"and\" C:\\\uFFFDready");
  EXPECT_EQ(point.fields["temperature"], "61.5");
  EXPECT_FALSE(point.fields.contains("latency"));
  EXPECT_FALSE(point.fields.contains("served")) << "a rate needs two samples";
  const double p50 = std::stod(point.fields.at("latency.p50"));
  EXPECT_NEAR(p50, 0.050, 0.010) << "seconds, within one bucket";
}

TEST_F(CollectorFormatsOfDishes, StatsdHasCountsOfTheIntervalAndGauges) {
  soup_.gauge(Dish::kBalance).set_signed(-5);
  std::ostringstream err;
  int flushes = 0;
  FlushTrap trap([&] {
    // The first sample is out: what is recorded now is in the second one.
    if (++flushes == 1) {
      for (int i = 0; i < 12; ++i) soup_.add(Dish::kServed, 1);
    }
    return 0;
  });
  std::ostream out(&trap);
  const std::vector<std::string> arguments{"get", "dishes/*/*", "--dir", directory_, "-n",
                                           "2",   "-i",         "50ms",  "-f",       "statsd"};
  ASSERT_EQ(run(arguments, out, err), kExitDone) << err.str();

  const std::string text = trap.str();
  EXPECT_NE(text.find("dishes.kitchen.soup.served:12|c\n"), std::string::npos) << text;
  // A sign alone would lower the gauge.
  EXPECT_NE(text.find("dishes.kitchen.soup.balance:0|g\ndishes.kitchen.soup.balance:-5|g\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("state"), std::string::npos) << "it has no texts";
}

TEST_F(CollectorFormats, StatsdNamesStayApartThatMapToTheSameCharacters) {
  const std::vector<std::string> names{"a b", "a.b", "a:b", "a|b", "a@b", "a_b", "a/b"};
  open_aisles(names);

  const auto lines = meterbank({"get", "shop_sales/*/stock", "-f", "statsd"}).lines();

  std::set<std::string> seen;
  for (const std::string& line : lines) {
    const std::string name = line.substr(0, line.find(':'));
    EXPECT_EQ(std::count(name.begin(), name.end(), '.'), 3) << name;
    EXPECT_EQ(name.find_first_of(" |@/"), std::string::npos) << name;
    EXPECT_EQ(line.substr(name.size()), ":0|g");
    seen.insert(name);
  }
  EXPECT_EQ(seen.size(), names.size());
  EXPECT_TRUE(seen.contains("shop_sales.shop.a_b.stock")) << "it had nothing to replace";
}

TEST_F(CollectorFormats, StatsdLinesAreHandedOnInDatagrams) {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("aisle" + std::to_string(i));
  open_aisles(names);
  std::ostringstream err;
  std::size_t handed_on = 0, lines = 0;
  FlushTrap trap([&] {
    const std::string text = trap.str();
    EXPECT_LE(text.size() - handed_on, 1452U);
    EXPECT_TRUE(text.empty() || text.back() == '\n');
    handed_on = text.size();
    lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return 0;
  });
  std::ostream out(&trap);

  const std::vector<std::string> arguments{"get",   "shop_sales/*/stock", "--dir", directory_, "-f",
                                           "statsd"};
  ASSERT_EQ(run(arguments, out, err), kExitDone) << err.str();

  EXPECT_EQ(lines, names.size());
}

TEST_F(CollectorFormats, CollectdGetsIdentifiersThatItDoesNotCut) {
  const std::string longest(200, 'x');
  open_aisles({"a/b", "say \"bread\" \\", longest + "1", longest + "2"});

  const auto outcome =
      meterbank({"get", "shop_sales/*/sold", "--raw", "-f", "collectd", "-i", "10s"});

  std::set<std::string> seen;
  for (const std::string& line : outcome.lines()) {
    ASSERT_TRUE(line.starts_with("PUTVAL \"")) << line;
    const std::size_t end = line.find("\" interval=10.000 ");
    ASSERT_NE(end, std::string::npos) << line;
    std::string identifier;
    for (std::size_t at = 8; at < end; ++at) {
      if (line[at] == '\\') ++at;
      identifier += line[at];
    }
    EXPECT_EQ(std::count(identifier.begin(), identifier.end(), '/'), 2) << identifier;
    EXPECT_TRUE(identifier.ends_with("/derive-sold")) << identifier;
    const std::size_t host = identifier.find('/');
    const std::string plugin = identifier.substr(host + 1, identifier.rfind('/') - host - 1);
    EXPECT_TRUE(plugin.starts_with("shop_sales-shop.")) << plugin;
    EXPECT_LE(plugin.size() - std::string("shop_sales-").size(), 127U);
    seen.insert(identifier);
  }
  EXPECT_EQ(seen.size(), 4U) << outcome.out;
}

TEST_F(CollectorFormats, ValuesOfAProviderThatEndedAreLeftOut) {
  open_shop();
  for (const auto& [format, is_shown] :
       {std::pair{"influx", false}, {"statsd", false}, {"collectd", false}, {"csv", true}}) {
    LostShop lost(directory_);
    std::ostringstream err;
    std::string before;
    FlushTrap trap([&] {
      // Between the first sample and the second.
      if (before.empty() && trap.str().find("lost") != std::string::npos) {
        before = trap.str();
        lost.kill();
      }
      return 0;
    });
    std::ostream out(&trap);
    const std::vector<std::string> arguments{
        "get", "shop_sales/*/stock", "--dir", directory_, "-n", "2", "-i", "20ms", "-f", format};
    ASSERT_EQ(run(arguments, out, err), kExitDone) << err.str();

    const std::string after = trap.str().substr(before.size());
    EXPECT_NE(before.find("lost"), std::string::npos) << format;
    EXPECT_NE(after.find("fruit"), std::string::npos) << format;
    EXPECT_EQ(after.find("lost") != std::string::npos, is_shown) << format << after;
  }
}

TEST_F(CollectorFormatsOfDishes, APageHasTheBucketsThatItIsAskedFor) {
  serve_a_hundred();

  const auto outcome =
      meterbank({"get", "dishes/*/latency", "-f", "prometheus", "--buckets", "16,64"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const std::string name =
      "meterbank_dishes_latency_milliseconds_bucket{provider=\"kitchen\",dish=\"soup\",le=";
  EXPECT_NE(outcome.out.find(name + "\"16.0\"} 16\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(name + "\"64.0\"} 64\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(name + "\"+Inf\"} 100\n"), std::string::npos) << outcome.out;
}

TEST_F(CollectorFormats, APageIsOneSampleOfStoredValues) {
  open_shop();
  for (const auto& [arguments, words] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"-n", "2"}, "a page is one sample"},
           {{"--for", "1s"}, "a page is one sample"},
           {{"-e", "x = 1"}, "-f influx"},
           {{"--cooked"}, "rates made by the receiver"},
           {{"-p", "50"}, "--buckets LIST"},
           {{"--buckets", "2,1"}, "ascending positive numbers"},
           {{"--buckets", "0"}, "ascending positive numbers"},
           {{"--buckets", "1,"}, "ascending positive numbers"},
           {{"--hist"}, "-f json for buckets"}}) {
    std::vector<std::string> all{"get", "shop_sales/*/*", "-f", "prometheus"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto outcome = meterbank(all);
    EXPECT_EQ(outcome.code, kExitUsage) << arguments[0];
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_TRUE(outcome.out.empty());
  }
  EXPECT_EQ(meterbank({"get", "-f", "csv", "--buckets", "1"}).code, kExitUsage);
  EXPECT_EQ(meterbank({"watch", "-f", "prometheus"}).code, kExitUsage);
  EXPECT_EQ(meterbank({"list", "-f", "influx"}).code, kExitUsage);
}

TEST_F(CollectorFormats, APageSaysThatItHasNoTotalsOfReaders) {
  open_shop();
  open_bakery();

  const auto total = meterbank({"get", "bakery/_Total/loaves", "-f", "prometheus"});
  EXPECT_EQ(total.code, kExitUsage);
  EXPECT_NE(total.err.find("a page has no totals that readers make"), std::string::npos);

  const auto rows = meterbank({"get", "bakery/*/loaves", "-f", "prometheus"});
  EXPECT_EQ(rows.code, kExitDone) << rows.err;
  EXPECT_FALSE(rows.out.empty());
}

TEST_F(CollectorFormats, APageShowsPublishedTotalsWhereNothingElseWasAskedFor) {
  open_aisles({"fruit", "_Total"});

  const auto all = meterbank({"get", "shop_sales/*/stock", "-f", "prometheus"}).out;
  EXPECT_NE(all.find("fruit"), std::string::npos);
  EXPECT_EQ(all.find("_Total"), std::string::npos) << "a sum of the rows would count them twice";

  const auto total = meterbank({"get", "shop:shop_sales/_Total/stock", "-f", "prometheus"}).out;
  EXPECT_NE(total.find("_Total"), std::string::npos) << total;
}

TEST_F(CollectorFormats, APageHasNoEscapesThatItsReadersDoNotKnow) {
  open_aisles({"\u202eeman", "quote\" \\ back"});

  const auto page = meterbank({"get", "shop_sales/*/stock", "-f", "prometheus"}).out;

  EXPECT_EQ(page.find("\\u{"), std::string::npos) << page;
  EXPECT_NE(page.find("aisle=\"\uFFFDeman\""), std::string::npos) << page;
  EXPECT_NE(page.find(R"(aisle="quote\" \\ back")"), std::string::npos) << page;
}

}  // namespace
}  // namespace meterbank::cli
