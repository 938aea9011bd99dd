// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "exposition/page/page_layout.hpp"
#include "push/otlp/process_context.hpp"

namespace meterbank::push::otlp {

// A Resource message that describes a provider by OpenTelemetry's semantic conventions:
//
//   service.name          the provider
//   service.instance.id   a UUID; a service that was started again has another one
//   process.pid           as this machine sees it
//   process.user.id
//   host.name             of this machine
//   container.id, k8s.pod.uid, systemd.unit   as the kernel knows them; missing if there are none
//
// then what its process says of itself (`context`), which takes the place of the first two but not
// of what the kernel knows; where that names the service, the provider is `meterbank.provider`.
// Then `more`, an attribute of which takes the place of any of these.
[[nodiscard]] std::string encode_resource(const exposition::PageProvider& provider,
                                          const std::vector<Attribute>& context,
                                          const std::vector<exposition::Label>& more);
// Of the agent itself, for metrics that no provider has published.
[[nodiscard]] std::string encode_own_resource(const std::vector<exposition::Label>& more);

}  // namespace meterbank::push::otlp
