// SPDX-License-Identifier: Apache-2.0
//
// What the templates of Windows headers speak of. The words are in the built-in templates.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>

#include "generator/output/output.hpp"

namespace meterbank::generator {

// A symbol as Windows sources write it: that of a .man as it is, and demo_orders as DemoOrders.
[[nodiscard]] std::string windows_symbol(const std::string& symbol, const std::string& word);

// file, provider, prefix, provider_guid: what all headers begin with.
[[nodiscard]] kainjow::mustache::data page_data(const Manifest& manifest,
                                                const OutputOptions& options);

// name, c_name, set, guid, guid_arguments, has_macros; macros of counters with a symbol, with macro
// and id.
[[nodiscard]] kainjow::mustache::data symbol_data(const Manifest& manifest,
                                                  const Counterset& counterset);

// The same, and what code says of a set: symbol, kind, count, described, and its counters with id,
// type, manifest_type, width, size, described, attributes, detail, scale, offset, struct, field,
// struct_index; structs with type, parameter, initializer.
// Errors: kInvalidArgument, what a Windows header cannot hold.
[[nodiscard]] Result<kainjow::mustache::data> code_data(const Manifest& manifest,
                                                        const Counterset& counterset);

}  // namespace meterbank::generator
