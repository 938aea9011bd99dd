// SPDX-License-Identifier: Apache-2.0
#include "generator/command/depfile.hpp"

namespace meterbank::generator {
namespace {

// A backslash is ordinary but before what it would escape, where it has to be doubled.
void append_name(std::string& out, const std::string& name) {
  std::size_t backslashes = 0;
  for (const char c : name) {
    if (c == ' ' || c == '\t') out.append(backslashes + 1, '\\');
    if (c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
}

}  // namespace

Result<std::string> depfile_text(std::span<const std::string> outputs,
                                 std::span<const std::string> inputs) {
  std::string text;
  for (const auto& names : {outputs, inputs}) {
    for (const auto& name : names) {
      if (name.find_first_of("\r\n") != std::string::npos) {
        return fail(ErrorCode::kInvalidArgument, "--depfile: a file name with a line break",
                    "another name");
      }
      if (!text.empty()) text += " \\\n  ";
      append_name(text, name);
    }
    if (names.data() == outputs.data()) text += ':';
  }
  return text + '\n';
}

}  // namespace meterbank::generator
