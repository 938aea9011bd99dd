// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/events/libpfm_names.hpp"

#include <perfmon/pfmlib_perf_event.h>

namespace meterbank::arbiter {
namespace {

using Events = std::vector<std::pair<std::string, EventCode>>;

// Left out where libpfm4 cannot encode it, as an event that must have a unit mask.
void add_event(Events& events, const std::string& prefix, const std::string& name) {
  perf_event_attr attributes = {};
  pfm_perf_encode_arg_t encoded = {};
  encoded.attr = &attributes;
  encoded.size = sizeof encoded;
  if (::pfm_get_os_event_encoding((prefix + name).c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT,
                                  &encoded) != PFM_SUCCESS) {
    return;
  }
  events.emplace_back(
      name, EventCode{.type = attributes.type,
                      .words = {attributes.config, attributes.config1, attributes.config2}});
}

void add_events_of(Events& events, const pfm_pmu_info_t& pmu) {
  const std::string prefix = std::string(pmu.name) + "::";
  for (int i = pmu.first_event; i != -1; i = ::pfm_get_event_next(i)) {
    pfm_event_info_t event = {};
    event.size = sizeof event;
    if (::pfm_get_event_info(i, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS) continue;
    // With its default unit mask, if it has one.
    add_event(events, prefix, event.name);
    for (int j = 0; j < event.nattrs; ++j) {
      pfm_event_attr_info_t attribute = {};
      attribute.size = sizeof attribute;
      if (::pfm_get_event_attr_info(i, j, PFM_OS_PERF_EVENT, &attribute) != PFM_SUCCESS) continue;
      if (attribute.type != PFM_ATTR_UMASK) continue;
      add_event(events, prefix, std::string(event.name) + ":" + attribute.name);
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, EventCode>> libpfm_events() {
  Events events;
  if (::pfm_initialize() != PFM_SUCCESS) return events;
  for (int number = 0; number < PFM_PMU_MAX; ++number) {
    pfm_pmu_info_t pmu = {};
    pmu.size = sizeof pmu;
    if (::pfm_get_pmu_info(static_cast<pfm_pmu_t>(number), &pmu) != PFM_SUCCESS) continue;
    if (pmu.is_present != 0 && pmu.type == PFM_PMU_TYPE_CORE) add_events_of(events, pmu);
  }
  ::pfm_terminate();
  return events;
}

}  // namespace meterbank::arbiter
