// SPDX-License-Identifier: Apache-2.0
#include "generator/command/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/command/arguments.hpp"
#include "generator/command/depfile.hpp"
#include "generator/command/files.hpp"
#include "generator/input/load.hpp"
#include "generator/manifest/check.hpp"
#include "generator/output/built_in.hpp"
#include "generator/output/render.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::generator {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitNo = 1;
constexpr int kExitUsage = 2;  // also what is wrong with a manifest or a template
constexpr int kExitEnvironment = 3;

class Command {
 public:
  Command(const Request& request, std::ostream& out, std::ostream& err, Charset err_charset)
      : request_(request), out_(out), err_(err), err_charset_(err_charset) {}

  int run() {
    for (const auto& remark : request_.remarks) say("note: " + remark);
    switch (request_.task) {
      case Task::kHelp:
        return print(help_text());
      case Task::kVersion:
        return print("meterbank-gen " METERBANK_VERSION "\n");
      case Task::kPrintTemplate:
        return print_template();
      case Task::kGenerate:
        break;
    }
    return generate();
  }

  int complain(const Error& error) {
    say(error.message());
    const bool is_ours =
        error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kLimit;
    return is_ours ? kExitUsage : kExitEnvironment;
  }

 private:
  void say(std::string_view message) {
    err_ << "meterbank-gen: " << escape_composed(message, Composed::kLine, err_charset_) << '\n';
    err_.flush();
  }

  int print(std::string_view text) {
    const FileText file{std::string(kStandardOutput), std::string(text)};
    const auto written = write_files({&file, 1}, out_);
    return written ? kExitDone : complain(written.error());
  }

  int print_template() {
    const auto text = built_in_template(request_.print_template);
    if (text) return print(*text);
    std::string names;
    for (const auto& each : built_in_templates()) {
      names.append(names.empty() ? "" : ", ").append(each.name);
    }
    return complain({ErrorCode::kInvalidArgument, 0,
                     fmt::format("--print-template: no '{}'", request_.print_template), names});
  }

  // What is wrong with the manifest has been said if there is none.
  std::optional<Manifest> load(const std::string& path, bool checks) {
    const bool is_standard_input = path == kStandardOutput;
    const auto text = read_manifest(is_standard_input ? "/dev/stdin" : path);
    if (!text) {
      exit_code_ = complain(text.error());
      return std::nullopt;
    }
    const std::string name = is_standard_input ? "stdin" : path;
    Problems problems;
    auto manifest = parse_manifest(*text, name, problems);
    if (manifest && checks) check(*manifest, problems);
    if (problems.empty() && manifest) return manifest;
    err_ << problems.text(name, err_charset_);
    exit_code_ = kExitUsage;
    return std::nullopt;
  }

  bool is_refused_against(const Manifest& manifest) {
    if (request_.against.empty()) return false;
    // Rules may have become stricter since; the old manifest only has to be understood.
    const auto old = load(request_.against, false);
    if (!old) return true;
    Problems problems;
    check_against(manifest, *old, problems);
    if (problems.empty()) return false;
    err_ << problems.text(manifest.file, err_charset_);
    exit_code_ = kExitNo;
    return true;
  }

  Result<OutputOptions> options_for(const Manifest& manifest) {
    auto options = request_.options;
    const bool is_kernel = manifest.provider.mode.value == ProviderMode::kKernel;
    if (options.notification_callback && is_kernel) {
      return fail(ErrorCode::kInvalidArgument,
                  "--notification-callback is for providers of user mode",
                  "callback=\"custom\" in the manifest, which kernel mode knows too");
    }
    for (const auto& [output, file] : request_.templates) {
      auto text = read_manifest(file);
      if (!text) return tl::make_unexpected(text.error());
      options.templates.emplace(output, *std::move(text));
    }
    return options;
  }

  Result<void> append_depfile(std::vector<FileText>& files) {
    if (request_.depfile.empty()) return {};
    std::vector<std::string> outputs;
    for (const auto& file : files) {
      if (file.path != kStandardOutput) outputs.push_back(file.path);
    }
    std::vector<std::string> inputs;
    if (request_.manifest != kStandardOutput) inputs.push_back(request_.manifest);
    if (!request_.against.empty()) inputs.push_back(request_.against);
    for (const auto& [output, file] : request_.templates) inputs.push_back(file);
    auto text = depfile_text(outputs, inputs);
    if (!text) return tl::make_unexpected(text.error());
    files.push_back({request_.depfile, *std::move(text), true});
    return {};
  }

  Result<void> make_files(const Manifest& manifest) {
    const auto options = options_for(manifest);
    if (!options) return tl::make_unexpected(options.error());
    std::vector<FileText> files;
    for (const auto& wanted : request_.files) {
      auto text = wanted.output->make(manifest, *options);
      if (!text) return tl::make_unexpected(text.error());
      files.push_back({wanted.path, *std::move(text)});
    }
    if (auto appended = append_depfile(files); !appended) return appended;
    return write_files(files, out_);
  }

  int generate() {
    const auto manifest = load(request_.manifest, true);
    if (!manifest || is_refused_against(*manifest)) return exit_code_;
    const auto made = make_files(*manifest);
    return made ? kExitDone : complain(made.error());
  }

  const Request& request_;
  std::ostream& out_;
  std::ostream& err_;
  Charset err_charset_;
  int exit_code_ = kExitDone;
};

}  // namespace

int generate(std::span<const std::string> arguments, std::ostream& out, std::ostream& err,
             Charset err_charset) {
  const auto request = parse_arguments(arguments);
  if (!request) return Command({}, out, err, err_charset).complain(request.error());
  return Command(*request, out, err, err_charset).run();
}

}  // namespace meterbank::generator
