// SPDX-License-Identifier: Apache-2.0
#include "generator/output/render.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <exception>

#include "generator/output/built_in.hpp"

namespace meterbank::generator {
namespace {

namespace mustache = kainjow::mustache;

// Text of a manifest is never looked at for tags: with partials, `{{>help}}` in a template of the
// user's would do that.
class NoPartials final : public mustache::context<std::string> {
 public:
  [[nodiscard]] const mustache::data* get_partial(const std::string&) const override {
    return nullptr;
  }
};

// "code_kernel" and "code_user" are both the output "code".
std::string output_of(std::string_view name) { return std::string(name.substr(0, name.find('_'))); }

Result<std::string> text_of(std::string_view name, const OutputOptions& options) {
  if (const auto own = options.templates.find(output_of(name)); own != options.templates.end()) {
    return own->second;
  }
  const auto built_in = built_in_template(name);
  if (built_in) return std::string(*built_in);
  return fail(ErrorCode::kInvalidArgument, "no template '" + std::string(name) + "'");
}

// Whether a line is nothing but tags that print nothing: beginnings and ends of sections, comments.
bool is_silent(std::string_view line) noexcept {
  bool has_tag = false;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r\n"), line.size()));
    if (line.empty()) return has_tag;
    const std::size_t end = line.find("}}");
    const bool is_tag = line.starts_with("{{#") || line.starts_with("{{^") ||
                        line.starts_with("{{/") || line.starts_with("{{!");
    if (!is_tag || end == std::string_view::npos) return false;
    line.remove_prefix(end + 2);
    has_tag = true;
  }
}

// Silent lines leave no trace, whether their sections are printed or not, and empty lines stay.
// The library thinks otherwise; it is outwitted by a mark in each line that is text.
constexpr char kMark = '\x01';

std::string marked(std::string_view text) {
  std::string page;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (!is_silent(line)) {
      (page += kMark).append(line);
      continue;
    }
    const std::size_t first = line.find("{{");
    page.append(line.substr(first, line.rfind("}}") + 2 - first));
  }
  return page;
}

// "Unclosed tag at 120" names a byte; people look for lines.
tl::unexpected<Error> broken(std::string_view name, const std::string& text,
                             const std::string& message) {
  std::size_t position = 0;
  const std::size_t number = message.rfind(' ') + 1;
  std::from_chars(message.data() + number, message.data() + message.size(), position);
  position = std::min(position, text.size());
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n');
  return fail(ErrorCode::kInvalidArgument,
              "template '" + output_of(name) + "', line " + std::to_string(line) + ": " +
                  message.substr(0, message.rfind(" at ")),
              "tags are {{name}}, {{#section}} ... {{/section}} and {{! comments }}");
}

}  // namespace

std::optional<std::string_view> built_in_template(std::string_view name) noexcept {
  for (const BuiltInTemplate& each : built_in_templates()) {
    if (each.name == name) return each.text;
  }
  return std::nullopt;
}

Result<std::string> render(std::string_view name, const mustache::data& data,
                           const OutputOptions& options) try {
  const auto text = text_of(name, options);
  if (!text) return tl::make_unexpected(text.error());
  const mustache::mustache whole(*text);
  if (!whole.is_valid()) return broken(name, *text, whole.error_message());
  mustache::mustache page(marked(*text));
  page.set_custom_escape([](const std::string& value) { return value; });
  NoPartials context;
  context.push(&data);
  std::string rendered = page.render(context);
  std::erase(rendered, kMark);
  return rendered;
} catch (const std::exception& error) {
  // A tag that ends with the text makes the library look behind it.
  return fail(ErrorCode::kInvalidArgument,
              "template '" + output_of(name) + "': " + std::string(error.what()));
}

}  // namespace meterbank::generator
