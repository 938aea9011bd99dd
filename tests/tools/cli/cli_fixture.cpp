// SPDX-License-Identifier: Apache-2.0
#include "cli_fixture.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "cli_json.hpp"

template class nlohmann::basic_json<>;

namespace meterbank::cli {

Json parse_json(const std::string& text) { return Json::parse(text); }
bool is_json(const std::string& text) { return Json::accept(text); }

std::string with_nines(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c >= '0' && c <= '9'; }, '9');
  return text;
}

std::vector<std::string> Outcome::lines() const {
  std::vector<std::string> all;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

CliTest::CliTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "meterbank-cli-XXXXXX");
  directory_ = ::mkdtemp(pattern.data());
}

CliTest::~CliTest() {
  close_shop();
  std::filesystem::remove_all(directory_);
}

void CliTest::open_shop(const std::vector<std::string>& aisles) {
  auto provider = Provider::create({.name = "shop", .directory = directory_});
  ASSERT_TRUE(provider) << provider.error().message();
  provider_.emplace(std::move(*provider));
  auto sales = provider_->add(kSales);
  ASSERT_TRUE(sales) << sales.error().message();
  sales_ = *sales;
  for (const auto& aisle : aisles) {
    auto instance = sales_.create_instance(aisle);
    ASSERT_TRUE(instance) << instance.error().message();
    instance->set(Sales::kStock, 17);
    instance->set(Sales::kTurnover, 1'572'864);
    aisles_.push_back(std::move(*instance));
  }
}

void CliTest::open_bakery() {
  auto ovens = provider_->add(kBakery);
  ASSERT_TRUE(ovens) << ovens.error().message();
  ovens_ = *ovens;
  for (const char* const oven : {"left", "right"}) {
    auto instance = ovens_.create_instance(oven);
    ASSERT_TRUE(instance) << instance.error().message();
    instance->set(0, 20);
    aisles_.push_back(std::move(*instance));
  }
}

void CliTest::close_shop() {
  aisles_.clear();
  provider_.reset();
}

Outcome CliTest::run_plainly(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Outcome outcome;
  outcome.code = run(arguments, out, err);
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

Outcome CliTest::meterbank(std::vector<std::string> arguments) const {
  arguments.insert(arguments.end(), {"--dir", directory_});
  return run_plainly(arguments);
}

std::string CliTest::read(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace meterbank::cli
