// SPDX-License-Identifier: Apache-2.0
//
// What a counterset and its counters can be: the constants that providers declare and readers see.
#ifndef METERBANK_C_SCHEMA_H
#define METERBANK_C_SCHEMA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The name of a counterset, in the field order and text form of Windows. All zero: none.
typedef struct mb_guid {
  uint32_t part1;
  uint16_t part2;
  uint16_t part3;
  uint8_t part4[8];
} mb_guid;

// How readers turn what is stored into a number for people: the 32-bit counter types of Windows.
typedef enum mb_counter_type {
  MB_TYPE_RAW_COUNT_HEX = 0x00000000,
  MB_TYPE_LARGE_RAW_COUNT_HEX = 0x00000100,
  MB_TYPE_RAW_COUNT = 0x00010000,
  MB_TYPE_LARGE_RAW_COUNT = 0x00010100,  // a gauge of 64 bits
  MB_TYPE_DELTA = 0x00400400,
  MB_TYPE_LARGE_DELTA = 0x00400500,
  MB_TYPE_COUNTER = 0x10410400,     // a rate of a 32-bit count
  MB_TYPE_BULK_COUNT = 0x10410500,  // a rate of a 64-bit count
  MB_TYPE_SAMPLE_COUNTER = 0x00410400,
  MB_TYPE_QUEUE_LENGTH = 0x00450400,
  MB_TYPE_LARGE_QUEUE_LENGTH = 0x00450500,
  MB_TYPE_QUEUE_LENGTH_100NS = 0x00550500,
  MB_TYPE_QUEUE_LENGTH_OBJECT = 0x00650500,
  MB_TYPE_TIMER = 0x20410500,
  MB_TYPE_TIMER_INVERSE = 0x21410500,
  MB_TYPE_TIMER_100NS = 0x20510500,
  MB_TYPE_TIMER_100NS_INVERSE = 0x21510500,
  MB_TYPE_TIMER_OBJECT = 0x20610500,
  MB_TYPE_PRECISION_SYSTEM_TIMER = 0x20470500,
  MB_TYPE_PRECISION_100NS_TIMER = 0x20570500,
  MB_TYPE_PRECISION_OBJECT_TIMER = 0x20670500,
  MB_TYPE_MULTI_TIMER = 0x22410500,
  MB_TYPE_MULTI_TIMER_INVERSE = 0x23410500,
  MB_TYPE_MULTI_TIMER_100NS = 0x22510500,
  MB_TYPE_MULTI_TIMER_100NS_INVERSE = 0x23510500,
  MB_TYPE_SAMPLE_FRACTION = 0x20c20400,
  MB_TYPE_RAW_FRACTION = 0x20020400,
  MB_TYPE_LARGE_RAW_FRACTION = 0x20020500,
  MB_TYPE_AVERAGE_TIMER = 0x30020400,
  MB_TYPE_AVERAGE_BULK = 0x40020500,
  MB_TYPE_ELAPSED_TIME = 0x30240500,
  MB_TYPE_NO_DATA = 0x40000200,
  MB_TYPE_TEXT = 0x00000b00,
  MB_TYPE_COMPOSITE = 0x40010100,  // a number that no formula is for
  MB_TYPE_SAMPLE_BASE = 0x40030401,
  MB_TYPE_AVERAGE_BASE = 0x40030402,
  MB_TYPE_RAW_BASE = 0x40030403,
  MB_TYPE_LARGE_RAW_BASE = 0x40030500,  // also the time stamp of precision timers
  MB_TYPE_MULTI_BASE = 0x42030500
} mb_counter_type;

// What is stored for a counter.
typedef enum mb_value_form {
  MB_FORM_UNSIGNED = 0,
  MB_FORM_SIGNED = 1,       // with MB_TYPE_LARGE_RAW_COUNT
  MB_FORM_REAL = 2,         // a double; with MB_TYPE_LARGE_RAW_COUNT
  MB_FORM_TEXT = 3,         // with MB_TYPE_TEXT
  MB_FORM_DISTRIBUTION = 4  // with MB_TYPE_BULK_COUNT or MB_TYPE_LARGE_RAW_COUNT
} mb_value_form;

// What readers make of several instances, in the row _Total: of sets whose instances aggregate, as
// MB_INSTANCES_MULTIPLE_AGGREGATE.
typedef enum mb_aggregate {
  MB_AGGREGATE_UNDEFINED = 0,  // nothing
  MB_AGGREGATE_SUM = 1,
  MB_AGGREGATE_AVERAGE = 2,
  MB_AGGREGATE_MINIMUM = 3,
  MB_AGGREGATE_MAXIMUM = 4
} mb_aggregate;

// Which instances a set has. The values are those of Windows.
typedef enum mb_instances {
  MB_INSTANCES_SINGLE = 0,                    // one row a provider, without a name
  MB_INSTANCES_MULTIPLE = 2,                  // rows with names
  MB_INSTANCES_GLOBAL_AGGREGATE = 4,          // one row: each provider has a share of it
  MB_INSTANCES_MULTIPLE_AGGREGATE = 6,        // rows with names, and _Total, which readers make
  MB_INSTANCES_GLOBAL_AGGREGATE_HISTORY = 12  // as global; providers that ended count on
} mb_instances;

#ifdef __cplusplus
}
#endif

#endif
