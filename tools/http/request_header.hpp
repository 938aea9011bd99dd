// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <microhttpd.h>

#include <string_view>

namespace meterbank::http {

// Empty if the request has no such header. Valid as long as the request is.
[[nodiscard]] inline std::string_view request_header(MHD_Connection* connection,
                                                     const char* name) noexcept {
  const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace meterbank::http
