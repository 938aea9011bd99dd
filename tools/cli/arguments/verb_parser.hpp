// SPDX-License-Identifier: Apache-2.0
//
// Verbs with options of their own. What is typed wrong is said the same way for all of them: no
// such verb, no such option, the nearest one. verb_parser.cpp alone knows the library behind it,
// which takes long to compile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are those of CLI11.
namespace CLI {
class App;
}
// NOLINTEND(readability-identifier-naming)

namespace meterbank::cli {

struct VerbText {
  const char* name;
  const char* operands;  // behind the options in the usage line
  const char* summary;
  const char* examples;
};

template <typename Verb>
struct VerbWords {
  Verb verb;
  VerbText text;
};

// The entry of that name in an array of VerbWords, or null.
template <typename Table>
[[nodiscard]] constexpr auto find_verb(const Table& table, std::string_view name) noexcept
    -> decltype(table.data()) {
  for (const auto& words : table) {
    if (name == words.text.name) return &words;
  }
  return nullptr;
}

// Options of one verb, or those that stand with every verb, by names like "-f,--format". Targets
// are filled while the command line is parsed and live as long as the parser.
class OptionTable {
 public:
  explicit OptionTable(CLI::App& app) noexcept : app_(&app) {}

  void flag(const char* names, bool& target, const char* description);
  void flag_that_clears(const char* names, bool& target, const char* description);
  // The last one counts, so that an alias can be overridden. An empty value is an error.
  void text(const char* names, std::string& target, const char* placeholder,
            const char* description);
  // One value each (repeatable).
  void texts(const char* names, std::vector<std::string>& target, const char* placeholder,
             const char* description);
  // What stands without an option. It has no line of help.
  void operands(std::vector<std::string>& target);

 private:
  CLI::App* app_;
};

class VerbParser {
 public:
  struct Form {
    std::string call = "meterbank";  // what is typed before the verb
    std::string noun = "verb";       // what verbs are called here
  };
  explicit VerbParser(Form form);
  VerbParser(const VerbParser&) = delete;
  VerbParser& operator=(const VerbParser&) = delete;
  ~VerbParser();

  [[nodiscard]] OptionTable options_of_all();
  // `set_up` is called only if the verb could be meant, because setting up options takes time.
  void add(const VerbText& text, std::function<void(OptionTable)> set_up);
  // A verb that is parsed elsewhere, where it stands before all options. It is suggested.
  void add_elsewhere(std::string_view name);
  // What to try where an option of this verb is unknown and near to none.
  void set_remedy(std::string_view verb, std::string remedy);

  struct Parsed {
    std::string verb;  // empty: none
    bool wants_help = false;
  };
  // Errors: kInvalidArgument, with a remedy.
  [[nodiscard]] Result<Parsed> parse(std::span<const std::string> arguments);
  // How the help of the parsed verb is asked for.
  [[nodiscard]] std::string help_call() const;

  // Usage, options and examples of a verb that was added.
  [[nodiscard]] std::string help_of(const VerbText& text);

 private:
  struct Known {
    std::string summary;
    std::function<void(OptionTable)> set_up;  // empty: done, or elsewhere
    std::string remedy;
  };
  CLI::App& app_of(const std::string& verb);
  [[nodiscard]] const CLI::App* chosen() const;
  [[nodiscard]] std::string full_name(std::string_view verb) const;
  [[nodiscard]] Result<void> refuse_unknown() const;
  [[nodiscard]] tl::unexpected<Error> unknown_option(std::string option) const;
  [[nodiscard]] tl::unexpected<Error> unknown_verb(const std::string& word) const;

  Form form_;
  std::unique_ptr<CLI::App> app_;
  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace meterbank::cli
