// SPDX-License-Identifier: Apache-2.0
//
// Kernel-mode headers: rows M86 and M87 of the checklist. Names are held against declarations by
// the compilers themselves.
#include <gtest/gtest.h>

#include "written_files.hpp"

namespace meterbank::generator {
namespace {

// Everything that can go wrong between a manifest and C: quotes, trigraphs, text that turns, long
// lines, a parameter that is called like another one or like its type.
constexpr std::string_view kPumps = R"([provider]
name = "Pumps"
mode = "kernel"
[[counterset]]
name = 'Pumps "A" ??/ \ Größe'
symbol = "Pump"
instances = "multiple"
help = "All \"good\", ??= and \u202E turned; then words, words, words, words, words, words, words."
[[counterset.struct]]
name = "Flow"
type = "PUMP_FLOW"
[[counterset.struct]]
name = "PUMP_HEAT"
type = "PUMP_HEAT"
[[counterset.struct]]
name = "Name"
type = "PUMP_NAME"
[[counterset.counter]]
id = 1
name = "Mean Litres"
type = "average_bulk"
base = 2
struct = "Flow"
field = "Litres"
unit = "l"
scale = -3
aggregate = "max"
[[counterset.counter]]
id = 2
type = "average_base"
struct = "Flow"
field = "Strokes"
[[counterset.counter]]
id = 3
name = "Kelvin"
type = "large_rawcount"
form = "signed"
struct = "PUMP_HEAT"
field = "Kelvin"
detail = "advanced"
attributes = ["display_as_hex", "reference"]
[[counterset.counter]]
id = 70
name = "Letters"
type = "rawcount"
struct = "Name"
field = "Letters"
)";

// Includes everything; -DWRONG gives one field another width.
constexpr std::string_view kDriver = R"(#include <wdm.h>
typedef struct { ULONGLONG Litres; ULONG Strokes; } PUMP_FLOW;
typedef struct { LONGLONG Kelvin; } PUMP_HEAT;
#if defined(WRONG)
typedef struct { ULONGLONG Letters; } PUMP_NAME;
#else
typedef struct { ULONG Letters; } PUMP_NAME;
#endif
typedef struct { ULONG Square; ULONG Triangle; } GEOMETRIC_WAVE_VALUES;
typedef struct { ULONG Constant; ULONG Cosine; ULONG Sine; } TRIGONOMETRIC_WAVE_VALUES;
typedef struct { ULONG64 Packets; ULONG Length; } QUEUE_COUNTERS;
typedef struct { ULONG64 cars; ULONG waiting; } ferry_ramp_counters;
typedef struct { ULONG64 cars; } ferry_deck_counters;
#include "pumps.h"
#include "waves.h"
#include "queues.h"
#include "ferry.h"

PPCW_REGISTRATION* variable = &MyPump;
VOID (*init_of)(PPCW_CALLBACK, PVOID, PPCW_REGISTRATION_INFORMATION) =
    MyInitRegistrationInformationPump;
NTSTATUS (*register_of)(PPCW_CALLBACK, PVOID) = MyRegisterPump;
VOID (*unregister_of)(VOID) = MyUnregisterPump;
NTSTATUS (*create_of)(PPCW_INSTANCE*, PCUNICODE_STRING, const PUMP_FLOW*, const PUMP_HEAT*,
                      const PUMP_NAME*) = MyCreatePump;
VOID (*close_of)(PPCW_INSTANCE) = MyClosePump;
NTSTATUS (*add_of)(PPCW_BUFFER, PCUNICODE_STRING, ULONG, const PUMP_FLOW*, const PUMP_HEAT*,
                   const PUMP_NAME*) = MyAddPump;
NTSTATUS (*create_wave)(PPCW_INSTANCE*, PCUNICODE_STRING, const GEOMETRIC_WAVE_VALUES*) =
    WaveCreateGeometricWave;
NTSTATUS (*create_ramp)(PPCW_INSTANCE*, PCUNICODE_STRING, const ferry_ramp_counters*) =
    CreateFerryRamp;
NTSTATUS (*add_queue)(PPCW_BUFFER, PCUNICODE_STRING, ULONG, const QUEUE_COUNTERS*) = AddQueues;
)";

class KernelHeader : public testing::Test {
 protected:
  KernelHeader() {
    files_.write("pumps.h", text_of(code_header(manifest_of(kPumps), with_prefix("My"))));
    files_.write("waves.h",
                 text_of(code_header(good_manifest("geometric_waves.man"), with_prefix("Wave"))));
    files_.write("queues.h", text_of(code_header(good_manifest("kernel_mode.toml"), {})));
    files_.write("ferry.h", text_of(code_header(good_manifest("ferry_driver.man"), {})));
    files_.write("driver.c", kDriver);
  }

  WrittenFiles files_;
};

// M86
TEST_F(KernelHeader, HasTheNamesAndParametersThatDriversExpect) {
  for (const Outcome& outcome : files_.compile("driver.c")) {
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
}

// M87; the control is the test before.
TEST_F(KernelHeader, ChecksTheWidthOfFieldsWhereTheProgramAsksForIt) {
  for (const Outcome& outcome : files_.compile("driver.c", "-DWRONG")) {
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
  for (const Outcome& outcome : files_.compile("driver.c", "-DCTRPP_VERIFY_COUNTER_SIZES=1")) {
    EXPECT_TRUE(outcome.is_good) << outcome.said;
  }
  for (const Outcome& outcome :
       files_.compile("driver.c", "-DWRONG -DCTRPP_VERIFY_COUNTER_SIZES=1")) {
    EXPECT_FALSE(outcome.is_good);
    EXPECT_NE(outcome.said.find("PUMP_NAME.Letters: perf_counter_rawcount has 4 bytes"),
              std::string::npos)
        << outcome.said;
  }
}

TEST_F(KernelHeader, DescribesLinksFormsAndTextOfTheManifest) {
  const std::string text = text_of(code_header(manifest_of(kPumps), with_prefix("My")));
  for (const char* const part :
       {R"(.Name = "Pumps \"A\" ?\?/ \\ Größe",)", R"(\u202e turned)", R"(?\?= and)",
        ".Links = {2, METERBANK_NO_COUNTER, METERBANK_NO_COUNTER, METERBANK_NO_COUNTER},",
        ".Scale = -3,", ".Aggregate = PERF_AGGREGATE_MAX,", ".Detail = PERF_DETAIL_ADVANCED,",
        ".Attributes = PERF_ATTRIB_BY_REFERENCE | PERF_ATTRIB_DISPLAY_AS_HEX,",
        ".Form = METERBANK_FORM_SIGNED,", ".InstanceType = PERF_COUNTERSET_MULTI_INSTANCES,"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(KernelHeaderRefusal, NamesWhatHasNoPlaceInAWindowsHeader) {
  const auto said = [](const std::string& set, const std::string& counter) {
    const auto header = code_header(
        manifest_of("[provider]\nname = 'p'\nsymbol = 'p'\n[[counterset]]\nname = 's'\n" + set +
                    "[[counterset.counter]]\nid = 1\nname = 'c'\n" + counter),
        {});
    return header ? std::string() : header.error().what;
  };
  EXPECT_EQ(said("", "type = 'rawcount'\n"), "");
  EXPECT_EQ(said("", "type = 'text'\ntext_bytes = 20\n"),
            "counterset 's': no Windows header can hold 'counter 1: text'");
  EXPECT_EQ(said("", "type = 'histogram'\nbuckets = { least = 1, most = 9 }\n"),
            "counterset 's': no Windows header can hold 'counter 1: histogram'");
  EXPECT_EQ(said("", "type = 'large_rawcount'\ntimed = true\n"),
            "counterset 's': no Windows header can hold 'counter 1: timed'");
  EXPECT_EQ(said("stamped = true\n", ""), "counterset 's': no Windows header can hold 'stamped'");
  EXPECT_EQ(said("cuts = true\n", ""), "counterset 's': no Windows header can hold 'cuts'");
  EXPECT_EQ(said("sharded = true\n", ""), "counterset 's': no Windows header can hold 'sharded'");
}

}  // namespace
}  // namespace meterbank::generator
