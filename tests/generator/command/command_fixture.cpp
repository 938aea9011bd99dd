// SPDX-License-Identifier: Apache-2.0
#include "command_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "../../support/changed_child.hpp"
#include "generator/command/command.hpp"

namespace meterbank::generator::test {

Outcome generate_with(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = generate(arguments, out, err);
  return {code, out.str(), err.str()};
}

Outcome generate_in_child(const std::function<bool()>& prepare,
                          const std::vector<std::string>& arguments) {
  const auto child = ::meterbank::test::run_in_changed_child(prepare, [&arguments] {
    const auto outcome = generate_with(arguments);
    return ::meterbank::test::ChildOutcome{outcome.code, outcome.out + outcome.err};
  });
  return {child.code, "", child.text};
}

void CommandTest::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
}

std::string CommandTest::read(const std::string& name) const {
  std::ifstream stream(file(name), std::ios::binary);
  if (!stream) return "nothing";
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string CommandTest::listing() const {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(file(""))) {
    names.insert(entry.path().filename());
  }
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace meterbank::generator::test
