// SPDX-License-Identifier: Apache-2.0
#include "command_fixture.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "generator/command/command.hpp"

namespace meterbank::generator::test {

Outcome generate_with(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = generate(arguments, out, err);
  return {code, out.str(), err.str()};
}

Outcome generate_in_child(const std::function<bool()>& prepare,
                          const std::vector<std::string>& arguments) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!prepare()) ::_exit(255);
    const auto outcome = generate_with(arguments);
    const auto text = outcome.out + outcome.err;
    const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? outcome.code : 254);
  }
  ::close(ends[1]);
  Outcome outcome;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto count = ::read(ends[0], buffer.data(), buffer.size());
    if (count <= 0) break;
    outcome.err.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  outcome.code = WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
  return outcome;
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
