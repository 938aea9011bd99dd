// SPDX-License-Identifier: Apache-2.0
//
// The header with the code that a provider includes, as CTRPP -o writes one.
#include "generator/manifest/words.hpp"
#include "generator/output/render.hpp"
#include "set_data.hpp"

namespace meterbank::generator {

Result<std::string> code_header(const Manifest& manifest, const OutputOptions& options) {
  using kainjow::mustache::data;
  const Provider& provider = manifest.provider;
  const bool is_kernel = provider.mode.value == ProviderMode::kKernel;
  if (!is_kernel && provider.symbol.value.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the provider has no symbol",
                "in user mode it names the variable with the provider's handle");
  }
  data sets(data::type::list);
  for (const Counterset& counterset : manifest.countersets) {
    auto set = code_data(manifest, counterset);
    if (!set) return tl::make_unexpected(set.error());
    sets.push_back(*set);
  }
  data page = page_data(manifest, options);
  const std::string& symbol = provider.symbol.value;
  page.set("handle", options.prefix + windows_symbol(symbol, snake_case(symbol)));
  page.set("callback", options.notification_callback || provider.custom_callback.value);
  page.set("sets", sets);
  return render(is_kernel ? "code_kernel" : "code_user", page, options);
}

}  // namespace meterbank::generator
