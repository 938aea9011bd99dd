// SPDX-License-Identifier: Apache-2.0
//
// Foreign text for files that other programs read: each function writes for one language, so that
// no text ends what it stands in or is taken for an instruction.
#pragma once

#include <string>
#include <string_view>

namespace meterbank::monitoring {

// A double-quoted scalar of YAML 1.1 and 1.2, quotes included: one line, and every character that
// a parser may fold, refuse or hide is an escape.
[[nodiscard]] std::string yaml_quoted(std::string_view text);

// Text between the actions of a Go template, which rules of Prometheus are: no brace begins one.
[[nodiscard]] std::string template_text(std::string_view text);

// Text in a title or description of Grafana: nothing in it is a variable.
[[nodiscard]] std::string grafana_text(std::string_view text);

}  // namespace meterbank::monitoring
