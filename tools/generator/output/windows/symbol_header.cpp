// SPDX-License-Identifier: Apache-2.0
//
// The header for consumers, as CTRPP -ch writes one.
#include "generator/output/render.hpp"
#include "set_data.hpp"

namespace meterbank::generator {

Result<std::string> symbol_header(const Manifest& manifest, const OutputOptions& options) {
  using kainjow::mustache::data;
  data sets(data::type::list);
  for (const Counterset& counterset : manifest.countersets) {
    sets.push_back(symbol_data(manifest, counterset));
  }
  data page = page_data(manifest, options);
  page.set("sets", sets);
  return render("symbols", page, options);
}

}  // namespace meterbank::generator
