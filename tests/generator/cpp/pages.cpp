// SPDX-License-Identifier: Apache-2.0
//
// pages FOLDER MANIFEST...: all outputs of all manifests, each typed header in a namespace of its
// own, and all.hpp, which includes these. It takes the locale of its environment, as a host of the
// generator might.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <locale>
#include <string>
#include <vector>

#include "generator/input/load.hpp"
#include "generator/manifest/check.hpp"
#include "generator/output/output.hpp"

namespace {

namespace generator = meterbank::generator;
using Output = meterbank::Result<std::string> (*)(const generator::Manifest&,
                                                  const generator::OutputOptions&);
struct NamedOutput {
  Output make;
  std::string_view name;
};
constexpr std::array kOutputs{
    NamedOutput{generator::cpp_header, "typed.hpp"},
    NamedOutput{generator::c_header, "tables.h"},
    NamedOutput{generator::code_header, "code.h"},
    NamedOutput{generator::symbol_header, "symbols.h"},
    NamedOutput{generator::resource_script, "resources.rc"},
    NamedOutput{generator::manual_page, "page.7"},
    NamedOutput{generator::markdown, "page.md"},
    NamedOutput{generator::toml_manifest, "manifest.toml"},
};

bool write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  return file.good();
}

bool write_outputs(const std::string& path, const std::filesystem::path& folder,
                   const std::string& name) {
  const auto text = generator::read_manifest(path);
  generator::Problems problems;
  const auto manifest = text ? generator::parse_manifest(*text, path, problems) : std::nullopt;
  if (manifest) generator::check(*manifest, problems);
  if (!manifest || !problems.empty()) {
    std::fputs(problems.text(path).c_str(), stderr);
    return false;
  }
  generator::OutputOptions options;
  options.name_space = name;
  for (const NamedOutput& output : kOutputs) {
    // Not every manifest has all of them: then the reason has to be the same, too.
    const auto made = output.make(*manifest, options);
    const std::string file = name + "_" + std::string(output.name);
    if (!write(folder / (made ? file : file + ".none"), made ? *made : made.error().message())) {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.size() < 2) return 1;
  try {
    std::locale::global(std::locale(""));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "no such locale: %s\n", error.what());
    return 1;
  }
  const std::filesystem::path folder(arguments.front());
  std::string all;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string name = "page_" + std::to_string(i);
    if (!write_outputs(arguments[i], folder, name)) return 1;
    all += "#include \"" + name + "_typed.hpp\"\n";
  }
  return write(folder / "all.hpp", all) ? 0 : 1;
}
