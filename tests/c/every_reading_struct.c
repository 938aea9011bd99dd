// SPDX-License-Identifier: Apache-2.0
//
// Compiled as C and as C++ of several standards with warnings as errors: each initialiser of
// reader.h and recording.h, and the umbrella header.
#include <meterbank.h>

static const mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
static const mb_catalog_summary summary = MB_CATALOG_SUMMARY_INIT;
static const mb_left_out left_out = MB_LEFT_OUT_INIT;
static const mb_listed_provider provider = MB_LISTED_PROVIDER_INIT;
static const mb_collected collected = MB_COLLECTED_INIT;
static const mb_unmatched unmatched = MB_UNMATCHED_INIT;
static const mb_answer answer = MB_ANSWER_INIT;
static const mb_values values = MB_VALUES_INIT;
static const mb_row row = MB_ROW_INIT;
static const mb_value value = MB_VALUE_INIT;
static const mb_distribution distribution = MB_DISTRIBUTION_INIT;
static const mb_recording_summary recording = MB_RECORDING_SUMMARY_INIT;
static const mb_flaw flaw = MB_FLAW_INIT;
static const mb_mark mark = MB_MARK_INIT;

uint32_t sizes(void);

uint32_t sizes(void) {
  return options.size + summary.size + provider.size + collected.size + unmatched.size +
         answer.size + values.size + row.size + value.size + distribution.size + left_out.size +
         recording.size + flaw.size + mark.size + (mb_has_value(value.status) ? 1U : 0U);
}
