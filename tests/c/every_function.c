// SPDX-License-Identifier: Apache-2.0
//
// Compiled as C and as C++ of several standards with warnings as errors: each inline function, and
// each initialiser, as a program uses them.
#include <meterbank/c/callback.h>
#include <meterbank/c/latency.h>
#include <meterbank/c/publisher.h>
#include <meterbank/c/sharded.h>

static const mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
static const mb_counterset_spec spec = MB_COUNTERSET_SPEC_INIT;
static const mb_instance_options instance_options = MB_INSTANCE_OPTIONS_INIT;
static const mb_callback_options callback_options = MB_CALLBACK_OPTIONS_INIT;
static const mb_link link = MB_LINK(5);
static const mb_tick_clock monotonic = {1e-9, 0};
static const mb_sharded_change change = {0, MB_SHARDED_ADD, 1, 0};

uint64_t count(const mb_instance* instance, const mb_gauge* gauge, const mb_recorder* recorder,
               const mb_text* text);

uint64_t count(const mb_instance* instance, const mb_gauge* gauge, const mb_recorder* recorder,
               const mb_text* text) {
  mb_counter counter = mb_instance_counter(instance, 1);
  mb_update update = mb_update_begin(instance);
  mb_update_add(&update, 0, 1);
  mb_update_set(&update, 1, mb_update_value(&update, 0));
  mb_update_stamp(&update, 5);
  mb_update_record(&update, recorder, 0.5);
  mb_update_set_gauge(&update, gauge, 1);
  mb_update_set_gauge_signed(&update, gauge, -1);
  mb_update_set_gauge_unsigned(&update, gauge, 1);
  mb_update_set_text(&update, text, "up", 2);
  mb_update_commit(&update);
  mb_update_abort(&update);
  mb_instance_add(instance, 0, 1);
  mb_instance_increment(instance, 0);
  mb_instance_set(instance, 0, 1);
  mb_counter_add(&counter, 1);
  mb_counter_increment(&counter);
  mb_counter_set(&counter, 1);
  mb_counter_add_from_any_thread(&counter, 1);
  mb_gauge_set(gauge, 1);
  mb_gauge_set_signed(gauge, -1);
  mb_gauge_set_unsigned(gauge, 1);
  mb_gauge_add(gauge, mb_gauge_value(gauge));
  mb_recorder_record(recorder, 0.5);
  mb_text_set(text, "up", 2);
  mb_recorder_record_ticks(recorder, &monotonic, mb_ticks_at_begin(&monotonic),
                           mb_ticks_at_end(&monotonic));
  return mb_instance_value(instance, 0) + mb_counter_value(&counter) + options.size + spec.size +
         instance_options.size + callback_options.size + change.amount + link.id;
}
