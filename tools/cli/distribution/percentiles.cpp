// SPDX-License-Identifier: Apache-2.0
#include "cli/distribution/percentiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/format/quantity.hpp"

namespace meterbank::cli {
namespace {

tl::unexpected<Error> wrong(std::string what, std::string remedy) {
  return fail(ErrorCode::kInvalidArgument, "-p: " + std::move(what), std::move(remedy));
}

std::string example() { return fmt::format("-p {}, or -p none", kUsualPercentiles); }

std::optional<double> parse_decimal(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

Result<Percentile> parse_one(std::string_view word) {
  const std::string text(word);
  // Digits and perhaps a point; from_chars alone would take "inf" and "1e1", too.
  const bool is_plain = text.find_first_not_of("0123456789.") == std::string::npos;
  const auto percent = is_plain ? parse_decimal(text) : std::nullopt;
  if (!percent) {
    return wrong(fmt::format("'{}' is not a percentile", text.substr(0, 40)), example());
  }
  if (*percent > 100) {
    return wrong(fmt::format("'{}' is more than 100", text.substr(0, 40)), example());
  }
  // The text says what is meant; a division by a hundred would round a second time.
  return Percentile{*percent, parse_decimal(text + "e-2").value_or(*percent / 100)};
}

}  // namespace

Result<Percentiles> parse_percentiles(std::string_view text) {
  Percentiles percentiles;
  if (text == "none") return percentiles;
  for (;;) {
    const auto comma = std::min(text.find(','), text.size());
    const auto one = parse_one(text.substr(0, comma));
    if (!one) return tl::make_unexpected(one.error());
    const auto same = [&](const Percentile& known) { return known.percent == one->percent; };
    if (std::any_of(percentiles.begin(), percentiles.end(), same)) {
      return wrong(fmt::format("{} is there twice", percent_text(*one)), "each of them once");
    }
    if (percentiles.size() == kPercentilesMax) {
      return wrong(fmt::format("more than {} percentiles", kPercentilesMax), example());
    }
    percentiles.push_back(*one);
    if (comma == text.size()) return percentiles;
    text.remove_prefix(comma + 1);
  }
}

std::string percent_text(const Percentile& percentile) { return print_exact(percentile.percent); }

std::string_view sign_of(Quantile::Side side, bool ascii) noexcept {
  if (side == Quantile::Side::kWithin) return "";
  if (side == Quantile::Side::kAbove) return "> ";
  return ascii ? "<= " : "≤ ";
}

}  // namespace meterbank::cli
