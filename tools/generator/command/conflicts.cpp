// SPDX-License-Identifier: Apache-2.0
#include "generator/command/conflicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "generator/manifest/words.hpp"

namespace meterbank::generator {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> conflict(std::string what, std::string remedy) {
  return fail(ErrorCode::kInvalidArgument, std::move(what), std::move(remedy));
}

struct NamedFile {
  std::string option;
  std::string path;
};

// A device or a pipe can take several texts, one after the other, and be read as well.
bool is_device(const std::string& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool is_same_file(const std::string& left, const std::string& right) {
  if (is_device(left)) return false;
  std::error_code ignored;
  if (fs::equivalent(left, right, ignored)) return true;
  return fs::weakly_canonical(left, ignored) == fs::weakly_canonical(right, ignored);
}

Result<void> refuse_same_files(const Request& request, const std::string& manifest) {
  std::vector<NamedFile> written;
  for (const auto& file : request.files) {
    written.push_back({fmt::format("--{}", file.output->name), file.path});
  }
  if (!request.depfile.empty()) written.push_back({"--depfile", request.depfile});
  std::vector<NamedFile> read{{"the manifest", manifest}};
  if (!request.against.empty()) read.push_back({"--against", request.against});
  for (const auto& [output, file] : request.templates) read.push_back({"--template", file});

  for (auto one = written.begin(); one != written.end(); ++one) {
    const auto same = [&](const NamedFile& other) { return is_same_file(one->path, other.path); };
    const auto twice = std::find_if(one + 1, written.end(), same);
    if (twice != written.end()) {
      return conflict(fmt::format("{} and {} are both {}", one->option, twice->option, one->path),
                      "two files");
    }
    const auto lost = std::find_if(read.begin(), read.end(), same);
    if (lost != read.end() && one->path != kStandardOutput) {
      return conflict(fmt::format("{} {} would replace {}", one->option, one->path, lost->option),
                      "another file");
    }
  }
  return {};
}

bool is_namespace(std::string_view text) {
  for (;;) {
    const auto end = text.find("::");
    if (!is_identifier(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
}

// As the agent takes it.
bool is_metric_prefix(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return text.size() <= kBytesMax && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

Result<void> refuse_names(const OutputOptions& options) {
  if (!options.prefix.empty() && !is_identifier(options.prefix)) {
    return conflict(fmt::format("--prefix: '{}' is not a C identifier", options.prefix),
                    "letters, digits and _");
  }
  if (!options.name_space.empty() && !is_namespace(options.name_space)) {
    return conflict(fmt::format("--namespace: '{}' is not a C++ namespace", options.name_space),
                    "orders or shop::orders");
  }
  if (!options.metric_prefix.empty() && !is_metric_prefix(options.metric_prefix)) {
    return conflict(fmt::format("invalid --metric-prefix: {}", options.metric_prefix),
                    "a letter, then letters, digits and _, as in acme_");
  }
  return {};
}

// Everything but a manifest and one output.
bool has_more_than_an_output(const Request& request) {
  const auto& options = request.options;
  return request.files.size() > 1 || !request.against.empty() || !request.depfile.empty() ||
         !request.templates.empty() || !options.prefix.empty() || !options.name_space.empty() ||
         !options.metric_prefix.empty() || !options.sets.empty() || options.notification_callback ||
         !request.remarks.empty();
}

Result<void> refuse_tasks(const Request& request, bool check) {
  const auto is_migration = [](const RequestedFile& file) { return file.output->name == kMigrate; };
  const bool migrates = std::any_of(request.files.begin(), request.files.end(), is_migration);
  if (migrates && (check || has_more_than_an_output(request))) {
    return conflict("--migrate goes with no other option", "--migrate OUT IN, then the rest");
  }
  if (check && (!request.files.empty() || !request.depfile.empty())) {
    return conflict("--check writes nothing", "without --check: every manifest is checked");
  }
  if (request.files.empty() && !check && request.against.empty()) {
    return conflict("nothing to do", "--cpp FILE, --check or --help");
  }
  const auto is_file = [](const RequestedFile& file) { return file.path != kStandardOutput; };
  if (!request.depfile.empty() &&
      std::none_of(request.files.begin(), request.files.end(), is_file)) {
    return conflict("--depfile: no file depends on anything", "--cpp FILE or the like");
  }
  return {};
}

}  // namespace

Result<void> refuse_conflicts(const Request& request, std::span<const std::string> operands,
                              bool check) {
  if (request.task == Task::kPrintTemplate) {
    if (operands.empty() && !check && request.files.empty() && !has_more_than_an_output(request)) {
      return {};
    }
    return conflict("--print-template goes with nothing else", "it alone");
  }
  if (operands.size() > 1) {
    return conflict(fmt::format("two manifests, {} and {}", operands[0], operands[1]),
                    "one call for each");
  }
  if (operands.empty() || operands.front().empty()) {
    return conflict("no manifest", "meterbank-gen --help");
  }
  if (auto made = refuse_tasks(request, check); !made) return made;
  if (auto made = refuse_names(request.options); !made) return made;
  return refuse_same_files(request, operands.front());
}

}  // namespace meterbank::generator
