// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with what is shown. Without these words, old values look like steady ones.
#include <fmt/format.h>

#include <cmath>

#include "cli/format/time_text.hpp"
#include "cli/session/hung.hpp"
#include "cli/session/left_out.hpp"
#include "view/board_state.hpp"

namespace meterbank::view {

std::string state_text(const ProviderView& provider) {
  switch (provider.state) {
    case ProviderState::kHung:
      if (provider.recorded == nullptr) return cli::cause_of_hang(provider).what;
      return fmt::format(
          "silent for {}",
          cli::print_duration(std::floor(static_cast<double>(provider.heartbeat_age_ns()) / 1e9)));
    case ProviderState::kUnreadable:
    case ProviderState::kForeign:
      return provider.error.what.empty()
                 ? std::string(name_of(provider.state))
                 : fmt::format("{}: {}", name_of(provider.state), clean(provider.error.what));
    case ProviderState::kDead:
    case ProviderState::kLive:
    case ProviderState::kClosed:
      break;
  }
  return std::string(name_of(provider.state));
}

std::vector<std::string> BoardState::problems(const Place& place) const {
  std::vector<std::string> problems;
  for (const auto& provider : selection.catalog().providers()) {
    if (!place.provider.empty() && label_of(*provider) != place.provider) continue;
    const bool is_shown =
        place.set.empty() ||
        std::any_of(provider->sets.begin(), provider->sets.end(), [&](const RegisteredSet& set) {
          return set.set != nullptr && (set.set->symbol == place.set || set.set->name == place.set);
        });
    if (!is_shown) continue;
    if (provider->state == ProviderState::kHung) {
      problems.push_back(clean(label_of(*provider)) + ": " + state_text(*provider));
    } else if (provider->state == ProviderState::kDead && place.screen != Screen::kOverview) {
      problems.push_back(clean(label_of(*provider)) +
                         " is dead; its last values are the stored ones, key r");
    }
    constexpr std::size_t kProblemsMax = 4;
    if (problems.size() == kProblemsMax) break;
  }
  if (auto text = cli::not_in_totals_text(cli::not_in_totals_of(selection.query.left_out()));
      !text.empty()) {
    problems.push_back(std::move(text));
  }
  if (auto line = cli::left_out_of(selection.catalog()).line(); !line.empty()) {
    problems.push_back(std::move(line));
  }
  if (selection.log != nullptr && !selection.log->damages().empty()) {
    problems.push_back(cli::damages_text(selection.log->damages()));
  }
  if (const auto answers = selection.query.answers()) {
    for (const CallbackAnswer& answer : *answers) {
      if (answer.outcome == AnswerOutcome::kAnswered) continue;
      if (!place.provider.empty() && label_of(*answer.provider) != place.provider) continue;
      problems.push_back(
          clean(label_of(*answer.provider) + " " + answer.set->set->name + ": " + answer.reason()));
    }
  }
  return problems;
}

}  // namespace meterbank::view
