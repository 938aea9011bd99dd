// SPDX-License-Identifier: Apache-2.0
//
// Paths in parts, and the description of a counter. Nothing is looked up but by the last.
#include "meterbank/base/machine_name.hpp"
#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

struct Parts {
  std::string machine, object, parent, instance, counter;
  DWORD index = 0;

  friend bool operator==(const Parts&, const Parts&) = default;
};

std::string text_or_dash(const char* text) { return text == nullptr ? "-" : text; }

PDH_STATUS parse(const char* path, Parts& parts) {
  DWORD bytes = 0;
  const PDH_STATUS status = PdhParseCounterPathA(path, nullptr, &bytes, 0);
  if (status != PDH_MORE_DATA) return status;
  std::vector<std::max_align_t> room(bytes);
  auto* const elements = reinterpret_cast<PDH_COUNTER_PATH_ELEMENTS_A*>(room.data());
  DWORD too_few = bytes - 1;
  EXPECT_EQ(PdhParseCounterPathA(path, elements, &too_few, 0), PDH_MORE_DATA);
  EXPECT_EQ(PdhParseCounterPathA(path, elements, &bytes, 0), kDone);
  parts = {text_or_dash(elements->szMachineName),    text_or_dash(elements->szObjectName),
           text_or_dash(elements->szParentInstance), text_or_dash(elements->szInstanceName),
           text_or_dash(elements->szCounterName),    elements->dwInstanceIndex};
  return kDone;
}

std::string made(const Parts& parts) {
  const auto text = [](const std::string& part) {
    return part == "-" ? nullptr : const_cast<LPSTR>(part.c_str());
  };
  PDH_COUNTER_PATH_ELEMENTS_A elements{text(parts.machine),  text(parts.object),
                                       text(parts.instance), text(parts.parent),
                                       parts.index,          text(parts.counter)};
  char path[PDH_MAX_COUNTER_PATH];
  DWORD characters = sizeof path;
  const PDH_STATUS status = PdhMakeCounterPathA(&elements, path, &characters, 0);
  if (status != kDone) return "status " + std::to_string(status);
  EXPECT_EQ(characters, std::strlen(path) + 1);
  return path;
}

constexpr DWORD kNone = 0xffffffff;

TEST(PdhPaths, AreTheSameWhenTheyWereTakenApartAndPutTogether) {
  const std::map<const char*, Parts> paths{
      {"\\o\\c", {"-", "o", "-", "-", "c", kNone}},
      {"\\o(i)\\c", {"-", "o", "-", "i", "c", kNone}},
      {"\\o(i#3)\\c", {"-", "o", "-", "i", "c", 3}},
      {"\\o(p/i)\\c", {"-", "o", "p", "i", "c", kNone}},
      {"\\o(p/i#1)\\c", {"-", "o", "p", "i", "c", 1}},
      {"\\\\m\\o\\c", {"\\\\m", "o", "-", "-", "c", kNone}},
      {"\\\\m\\o(i)\\c", {"\\\\m", "o", "-", "i", "c", kNone}},
      {"\\\\m\\o(i#3)\\c", {"\\\\m", "o", "-", "i", "c", 3}},
      {"\\\\m\\o(p/i)\\c", {"\\\\m", "o", "p", "i", "c", kNone}},
      {"\\\\m\\o(p/i#1)\\c", {"\\\\m", "o", "p", "i", "c", 1}},
      {"\\o(/home (old))\\% c/sec", {"-", "o", "-", "/home (old)", "% c/sec", kNone}},
      {"\\o(*)\\*", {"-", "o", "-", "*", "*", kNone}}};
  for (const auto& [path, parts] : paths) {
    Parts parsed;
    EXPECT_EQ(parse(path, parsed), kDone) << path;
    EXPECT_EQ(parsed, parts) << path;
    EXPECT_EQ(made(parsed), path);
  }
}

TEST(PdhPaths, LeaveOutTheFirstIndexAndBackslashesOfTheMachine) {
  EXPECT_EQ(made({"m", "o", "-", "i", "c", 0}), "\\\\m\\o(i)\\c");
  EXPECT_EQ(made({"-", "o", "p", "-", "c", 4}), "\\o\\c") << "what only instances have";
}

TEST(PdhPaths, MustHaveAnObjectAndACounterAndReadAsTheyWereMeant) {
  const std::string invalid = "status " + std::to_string(PDH_INVALID_ARGUMENT);
  EXPECT_EQ(made({"-", "-", "-", "i", "c", kNone}), invalid);
  EXPECT_EQ(made({"-", "o", "-", "i", "-", kNone}), invalid);
  EXPECT_EQ(made({"-", "o", "-", "i", "c\\d", kNone}), invalid);
  EXPECT_EQ(made({"-", "o(x", "-", "i", "c", kNone}), invalid);
  EXPECT_EQ(made({"-", "\xff", "-", "i", "c", kNone}), invalid);
}

TEST(PdhPaths, AreRefusedWhereTheyAreNone) {
  Parts parts;
  for (const char* const path : {"", "o", "\\o", "o\\c", "\\o(i\\c", "\\o()\\c", "\\\\m",
                                 "\\\xff\\c", "set/instance/counter"}) {
    EXPECT_EQ(parse(path, parts), PDH_INVALID_PATH) << path;
  }
  EXPECT_EQ(parse(("\\o(" + std::string(3000, 'i') + ")\\c").c_str(), parts), PDH_INVALID_PATH);
}

TEST(PdhPaths, NeedTheirArguments) {
  DWORD bytes = 0;
  PDH_COUNTER_PATH_ELEMENTS_A elements{};
  char path[8];
  EXPECT_EQ(PdhParseCounterPathA(nullptr, nullptr, &bytes, 0), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhParseCounterPathA("\\o\\c", nullptr, nullptr, 0), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhParseCounterPathA("\\o\\c", nullptr, &bytes, 1), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhMakeCounterPathA(nullptr, path, &bytes, 0), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhMakeCounterPathA(&elements, path, nullptr, 0), PDH_INVALID_ARGUMENT);
  elements.szObjectName = const_cast<LPSTR>("o");
  elements.szCounterName = const_cast<LPSTR>("c");
  EXPECT_EQ(PdhMakeCounterPathA(&elements, path, &bytes, 1), PDH_INVALID_ARGUMENT);
  bytes = 4;
  EXPECT_EQ(PdhMakeCounterPathA(&elements, path, &bytes, 0), PDH_MORE_DATA);
  EXPECT_EQ(bytes, 5U);
  EXPECT_EQ(PdhMakeCounterPathA(&elements, path, &bytes, 0), kDone);
  EXPECT_STREQ(path, "\\o\\c");
}

TEST(PdhInstanceNames, AreTakenApart) {
  char name[16], parent[16];
  DWORD name_size = sizeof name, parent_size = sizeof parent, index = 9;
  ASSERT_EQ(PdhParseInstanceNameA("p/i#2", name, &name_size, parent, &parent_size, &index), kDone);
  EXPECT_STREQ(name, "i");
  EXPECT_STREQ(parent, "p");
  EXPECT_EQ(index, 2U);
  EXPECT_EQ(name_size, 2U);
  name_size = sizeof name;
  parent_size = sizeof parent;
  ASSERT_EQ(PdhParseInstanceNameA("i", name, &name_size, parent, &parent_size, &index), kDone);
  EXPECT_STREQ(parent, "");
  EXPECT_EQ(index, 0U);
}

TEST(PdhInstanceNames, HaveTheirCodes) {
  char name[16], parent[16];
  DWORD none = 0, none_either = 0, index = 0;
  EXPECT_EQ(PdhParseInstanceNameA("p/i", nullptr, &none, nullptr, &none_either, &index),
            PDH_MORE_DATA);
  EXPECT_EQ(none, 2U);
  EXPECT_EQ(none_either, 2U);
  EXPECT_EQ(PdhParseInstanceNameA("", name, &none, parent, &none_either, &index),
            PDH_INVALID_INSTANCE);
  EXPECT_EQ(PdhParseInstanceNameA("i#99999999999", name, &none, parent, &none_either, &index),
            PDH_INVALID_INSTANCE);
  EXPECT_EQ(PdhParseInstanceNameA(nullptr, name, &none, parent, &none_either, &index),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhParseInstanceNameA("i", name, nullptr, parent, &none_either, &index),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhParseInstanceNameA("i", name, &none, parent, nullptr, &index), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhParseInstanceNameA("i", name, &none, parent, &none_either, nullptr),
            PDH_INVALID_ARGUMENT);
}

class PdhCounterInfo : public DisksTest {};

TEST_F(PdhCounterInfo, DescribesACounter) {
  OpenQuery query;
  PDH_HCOUNTER counter = nullptr;
  ASSERT_EQ(PdhAddCounterA(query.get(), "\\Test Disks(sda#0)\\Reads/sec", 42, &counter), kDone);
  ASSERT_EQ(PdhSetCounterScaleFactor(counter, 3), kDone);
  DWORD bytes = 0;
  ASSERT_EQ(PdhGetCounterInfoA(counter, TRUE, &bytes, nullptr), PDH_MORE_DATA);
  std::vector<std::max_align_t> room(bytes);
  auto* const info = reinterpret_cast<PDH_COUNTER_INFO_A*>(room.data());
  DWORD too_few = bytes - 1;
  EXPECT_EQ(PdhGetCounterInfoA(counter, TRUE, &too_few, info), PDH_MORE_DATA);
  ASSERT_EQ(PdhGetCounterInfoA(counter, TRUE, &bytes, info), kDone);
  EXPECT_EQ(info->dwLength, bytes);
  EXPECT_EQ(info->dwType, static_cast<DWORD>(PERF_COUNTER_BULK_COUNT));
  EXPECT_EQ(info->CStatus, PDH_CSTATUS_ITEM_NOT_VALIDATED);
  EXPECT_EQ(info->lScale, 3);
  EXPECT_EQ(info->lDefaultScale, 1);
  EXPECT_EQ(info->dwUserData, 42U);
  EXPECT_EQ(info->dwQueryUserData, 7U);
  EXPECT_EQ(info->szFullPath, "\\\\" + machine_name() + "\\Test Disks(sda)\\Reads/sec");
  EXPECT_EQ(info->szMachineName, "\\\\" + machine_name());
  EXPECT_STREQ(info->szObjectName, "Test Disks");
  EXPECT_STREQ(info->szInstanceName, "sda");
  EXPECT_EQ(info->szParentInstance, nullptr);
  EXPECT_STREQ(info->CounterPath.szCounterName, "Reads/sec");
  EXPECT_STREQ(info->szExplainText, "Finished reads.");
  bytes = 0;
  ASSERT_EQ(PdhGetCounterInfoA(counter, FALSE, &bytes, nullptr), PDH_MORE_DATA);
  ASSERT_EQ(PdhGetCounterInfoA(counter, FALSE, &bytes, info), kDone);
  EXPECT_EQ(info->szExplainText, nullptr);
  EXPECT_EQ(PdhGetCounterInfoA(counter, FALSE, nullptr, info), PDH_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace meterbank::test
