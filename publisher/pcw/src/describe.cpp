// SPDX-License-Identifier: Apache-2.0
//
// Descriptions by sources in C.
#include "meterbank/pcw/describe.h"

#include <bit>
#include <exception>
#include <span>
#include <vector>

#include "meterbank/pcw/describe.hpp"
#include "refusal.hpp"

namespace meterbank::pcw {
namespace {

static_assert(METERBANK_NO_COUNTER == kNoCounter);
static_assert(METERBANK_FORM_SIGNED == static_cast<ULONG>(ValueForm::kSigned));
static_assert(METERBANK_FORM_REAL == static_cast<ULONG>(ValueForm::kReal));

std::string_view text_of(PCSTR text) noexcept { return text == nullptr ? "" : text; }

bool is_kind(ULONG type) noexcept {
  switch (type) {
    case PERF_COUNTERSET_SINGLE_INSTANCE:
    case PERF_COUNTERSET_MULTI_INSTANCES:
    case PERF_COUNTERSET_SINGLE_AGGREGATE:
    case PERF_COUNTERSET_MULTI_AGGREGATE:
    case PERF_COUNTERSET_SINGLE_AGGREGATE_HISTORY:
      return true;
    default:
      return false;
  }
}

CounterSpec spec_of(const METERBANK_COUNTER_DESCRIPTION& counter) noexcept {
  return {.id = counter.Id,
          .name = text_of(counter.Name),
          .symbol = text_of(counter.Symbol),
          .type = static_cast<CounterType>(counter.Type),
          .unit = text_of(counter.Unit),
          .help = text_of(counter.Help),
          .base = counter.Links.Base,
          .time = counter.Links.PerfTime,
          .frequency = counter.Links.PerfFreq,
          .multi = counter.Links.Multi,
          .scale = counter.Scale,
          .detail = counter.Detail == 0 ? ULONG{PERF_DETAIL_NOVICE} : counter.Detail,
          .aggregate = counter.Aggregate,
          .attributes = counter.Attributes,
          .form = static_cast<ValueForm>(counter.Form)};
}

Result<void> describe_set(const METERBANK_COUNTERSET_DESCRIPTION* set) {
  if (set == nullptr || (set->Counters == nullptr && set->CounterCount != 0)) {
    return fail(ErrorCode::kInvalidArgument, "no description, or no counters in it");
  }
  if (!is_kind(set->InstanceType)) {
    return fail(ErrorCode::kInvalidArgument,
                "unknown instance type " + std::to_string(set->InstanceType));
  }
  std::vector<CounterSpec> counters;
  for (const METERBANK_COUNTER_DESCRIPTION& counter : std::span(set->Counters, set->CounterCount)) {
    if (counter.Form > METERBANK_FORM_REAL) {
      return fail(ErrorCode::kInvalidArgument,
                  "counter " + std::to_string(counter.Id) + " has an unknown form");
    }
    counters.push_back(spec_of(counter));
  }
  CountersetSpec spec{.name = text_of(set->Name), .symbol = text_of(set->Symbol)};
  spec.help = text_of(set->Help);
  spec.label = text_of(set->Label);
  spec.guid = std::bit_cast<Guid>(set->Guid);
  spec.provider_guid = std::bit_cast<Guid>(set->ProviderGuid);
  spec.instances = static_cast<InstanceKind>(set->InstanceType);
  spec.counters = counters;
  return pcw::describe(spec);
}

}  // namespace
}  // namespace meterbank::pcw

using namespace meterbank::pcw;

extern "C" {

NTSTATUS MeterbankPcwDescribe(const METERBANK_COUNTERSET_DESCRIPTION* description) {
  try {
    const auto good = describe_set(description);
    return good ? STATUS_SUCCESS : refuse(good.error());
  } catch (const std::exception& failure) {
    return refuse(STATUS_NO_MEMORY, failure.what());
  }
}

ULONG MeterbankPerfDescribe(const METERBANK_COUNTERSET_DESCRIPTION* description) {
  try {
    const auto good = describe_set(description);
    return good ? DWORD{ERROR_SUCCESS} : refuse_as_error(good.error());
  } catch (const std::exception& failure) {
    return refuse_as(ERROR_NOT_ENOUGH_MEMORY, failure.what());
  }
}

}  // extern "C"
