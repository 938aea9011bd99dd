// SPDX-License-Identifier: Apache-2.0
//
// Text logs: written byte by byte as Windows' tools do, read record by record, and refused by code.
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "../support/file_size_limit.hpp"
#include "meterbank/base/machine_name.hpp"
#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

constexpr const char* kGolden =
    "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\vm\\Disk(a)\\Reads\",\"\\\\vm\\Disk(b)\\Reads\","
    "\"\\\\vm\\System\\Load\"\r\n"
    "\"11/21/2026 09:04:39.000\",\"1.5\",\" \",\"7\"\r\n"
    "\"11/21/2026 09:04:40.000\",\"2.5\",\"-3\",\"7\"\r\n"
    "\"11/21/2026 09:04:41.500\",\"4e+20\",\"5\",\" \"\r\n";
// 2026-11-21 09:04:39 as FILETIME counts it.
constexpr LONGLONG kFirstRecord = 134'397'254'790'000'000;
constexpr LONGLONG kOneSecond = 10'000'000;

class PdhLogs : public DisksTest {
 protected:
  PdhLogs() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  ~PdhLogs() override {
    ::unsetenv("TZ");
    ::tzset();
  }

  [[nodiscard]] std::string file(const std::string& name) const {
    return directory_.path() + "/" + name;
  }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

// A query of a log, or what opening it said.
class LogQuery {
 public:
  explicit LogQuery(const std::string& file) { status_ = PdhOpenQueryA(file.c_str(), 0, &query_); }
  LogQuery(const LogQuery&) = delete;
  LogQuery& operator=(const LogQuery&) = delete;
  ~LogQuery() { PdhCloseQuery(query_); }

  [[nodiscard]] PDH_STATUS status() const { return status_; }
  [[nodiscard]] PDH_HQUERY get() const { return query_; }
  [[nodiscard]] PDH_HCOUNTER add(const char* path) {
    PDH_HCOUNTER counter = nullptr;
    EXPECT_EQ(PdhAddCounterA(query_, path, 0, &counter), kDone) << path;
    return counter;
  }
  PDH_STATUS collect(LONGLONG* time = nullptr) {
    LONGLONG ignored = 0;
    return PdhCollectQueryDataWithTime(query_, time == nullptr ? &ignored : time);
  }

 private:
  PDH_HQUERY query_ = nullptr;
  PDH_STATUS status_ = kDone;
};

TEST_F(PdhLogs, AreReadRecordByRecord) {
  LogQuery log(write("golden.csv", kGolden));
  ASSERT_EQ(log.status(), kDone);
  EXPECT_FALSE(PdhIsRealTimeQuery(log.get()));
  const PDH_HCOUNTER a = log.add("\\\\vm\\Disk(a)\\Reads");
  const PDH_HCOUNTER b = log.add("\\disk(b)\\reads");
  const PDH_HCOUNTER load = log.add("\\System\\Load");
  const PDH_HCOUNTER all = log.add("\\Disk(*)\\Reads");
  LONGLONG time = 0;
  ASSERT_EQ(log.collect(&time), kDone);
  EXPECT_EQ(time, kFirstRecord);
  EXPECT_EQ(formatted(a).value, 1.5);
  EXPECT_EQ(formatted(b).result, PDH_INVALID_DATA);
  EXPECT_EQ(formatted(b).status, PDH_CSTATUS_INVALID_DATA);
  ASSERT_EQ(log.collect(&time), kDone);
  EXPECT_EQ(time, kFirstRecord + kOneSecond);
  EXPECT_EQ(formatted(b).value, -3.0);
  EXPECT_EQ(formatted(load).status, PDH_CSTATUS_VALID_DATA);
  EXPECT_EQ(formatted(a).status, PDH_CSTATUS_NEW_DATA);
  EXPECT_EQ(array_of(all).at("b").value, -3.0);
  EXPECT_EQ(raw(b).FirstValue, -3);
  ASSERT_EQ(log.collect(), kDone);
  EXPECT_EQ(formatted(a).value, 4e20);
  EXPECT_EQ(log.collect(), PDH_NO_MORE_DATA);
  EXPECT_EQ(log.collect(), PDH_NO_MORE_DATA);
}

TEST_F(PdhLogs, HaveOnlyTheCountersOfTheirHeader) {
  LogQuery log(write("golden.csv", kGolden));
  PDH_HCOUNTER counter = nullptr;
  EXPECT_EQ(PdhAddCounterA(log.get(), "\\Disk(c)\\Reads", 0, &counter), PDH_ENTRY_NOT_IN_LOG_FILE);
  EXPECT_EQ(PdhAddCounterA(log.get(), "\\\\other\\System\\Load", 0, &counter),
            PDH_ENTRY_NOT_IN_LOG_FILE);
  EXPECT_EQ(PdhAddCounterA(log.get(), "System", 0, &counter), PDH_CSTATUS_BAD_COUNTERNAME);
}

TEST_F(PdhLogs, AreCutByTime) {
  const std::string golden = write("golden.csv", kGolden);
  LogQuery log(golden);
  const PDH_HCOUNTER a = log.add("\\Disk(a)\\Reads");
  PDH_TIME_INFO range{kFirstRecord + kOneSecond, kFirstRecord + kOneSecond, 0};
  ASSERT_EQ(log.collect(), kDone);
  ASSERT_EQ(PdhSetQueryTimeRange(log.get(), &range), kDone);
  ASSERT_EQ(log.collect(), kDone);
  EXPECT_EQ(formatted(a).value, 2.5);
  EXPECT_EQ(log.collect(), PDH_NO_MORE_DATA);
  std::swap(range.StartTime, range.EndTime);
  range.EndTime -= 1;
  EXPECT_EQ(PdhSetQueryTimeRange(log.get(), &range), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhSetQueryTimeRange(log.get(), nullptr), PDH_INVALID_ARGUMENT);
  range.EndTime = range.StartTime;
  EXPECT_EQ(PdhSetQueryTimeRange(nullptr, &range), PDH_INVALID_HANDLE);
  OpenQuery live;
  EXPECT_EQ(PdhSetQueryTimeRange(live.get(), &range), PDH_DATA_SOURCE_IS_REAL_TIME);
}

TEST_F(PdhLogs, TellTheirRange) {
  const std::string golden = write("golden.csv", kGolden);
  PDH_TIME_INFO range{};
  DWORD entries = 0, bytes = 0;
  EXPECT_EQ(PdhGetDataSourceTimeRangeA(golden.c_str(), &entries, nullptr, &bytes), PDH_MORE_DATA);
  EXPECT_EQ(bytes, sizeof range);
  ASSERT_EQ(PdhGetDataSourceTimeRangeA(golden.c_str(), &entries, &range, &bytes), kDone);
  EXPECT_EQ(entries, 1U);
  EXPECT_EQ(range.StartTime, kFirstRecord);
  EXPECT_EQ(range.EndTime, kFirstRecord + kOneSecond * 5 / 2);
  EXPECT_EQ(range.SampleCount, 3U);
  EXPECT_EQ(PdhGetDataSourceTimeRangeA(nullptr, &entries, &range, &bytes),
            PDH_DATA_SOURCE_IS_REAL_TIME);
  EXPECT_EQ(PdhGetDataSourceTimeRangeH(nullptr, &entries, &range, &bytes),
            PDH_DATA_SOURCE_IS_REAL_TIME);
  EXPECT_EQ(PdhGetDataSourceTimeRangeA(golden.c_str(), nullptr, &range, &bytes),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhGetDataSourceTimeRangeA(golden.c_str(), &entries, &range, nullptr),
            PDH_INVALID_ARGUMENT);
}

TEST_F(PdhLogs, AreRefusedByCode) {
  const std::string cut = std::string(kGolden).substr(0, std::strlen(kGolden) - 20);
  EXPECT_EQ(LogQuery(file("missing.csv")).status(), PDH_FILE_NOT_FOUND);
  EXPECT_EQ(LogQuery(directory_.path()).status(), PDH_LOG_FILE_OPEN_ERROR);
  EXPECT_EQ(LogQuery(write("empty.csv", "")).status(), PDH_UNABLE_READ_LOG_HEADER);
  EXPECT_EQ(LogQuery(write("noise.csv", "time,value\n1,2\n")).status(), PDH_UNABLE_READ_LOG_HEADER);
  LogQuery log(write("cut.csv", cut));
  ASSERT_EQ(log.status(), kDone);
  static_cast<void>(log.add("\\System\\Load"));
  EXPECT_EQ(log.collect(), kDone);
  EXPECT_EQ(log.collect(), kDone);
  EXPECT_EQ(log.collect(), PDH_INVALID_DATA) << "a record that was cut off";
  EXPECT_EQ(log.collect(), PDH_INVALID_DATA) << "and nothing behind it";
  PDH_TIME_INFO range{};
  DWORD entries = 0, bytes = sizeof range;
  EXPECT_EQ(PdhGetDataSourceTimeRangeA(file("cut.csv").c_str(), &entries, &range, &bytes),
            PDH_INVALID_DATA);
}

TEST_F(PdhLogs, OfTheSameCountersAreOneSource) {
  const std::string header = std::string(kGolden).substr(0, std::string(kGolden).find('\n') + 1);
  const std::string golden = write("golden.csv", kGolden);
  const std::string later =
      write("later.csv", header + "\"11/21/2026 09:05:00.000\",\"9\",\"9\",\"9\"\r\n");
  std::string list = later + '\0' + golden + '\0';
  PDH_HLOG source = nullptr;
  ASSERT_EQ(PdhBindInputDataSourceA(&source, list.c_str()), kDone);
  PDH_HQUERY query = nullptr;
  PDH_HCOUNTER a = nullptr;
  ASSERT_EQ(PdhOpenQueryH(source, 0, &query), kDone);
  ASSERT_EQ(PdhAddCounterA(query, "\\Disk(a)\\Reads", 0, &a), kDone);
  std::vector<double> values;
  while (PdhCollectQueryData(query) == kDone) values.push_back(formatted(a).value);
  EXPECT_EQ(values, (std::vector<double>{1.5, 2.5, 4e20, 9}));
  PDH_TIME_INFO range{};
  DWORD entries = 0, bytes = sizeof range;
  EXPECT_EQ(PdhGetDataSourceTimeRangeH(source, &entries, &range, &bytes), kDone);
  EXPECT_EQ(range.SampleCount, 4U);
  EXPECT_EQ(PdhUpdateLogA(source, nullptr), PDH_INVALID_HANDLE) << "it is read";
  EXPECT_EQ(PdhValidatePathExA(source, "\\Disk(a)\\Reads"), kDone);
  EXPECT_EQ(PdhValidatePathExA(source, "\\Disk(c)\\Reads"), PDH_ENTRY_NOT_IN_LOG_FILE);
  EXPECT_EQ(PdhCloseQuery(query), kDone);
  EXPECT_EQ(PdhCloseLog(source, 0), kDone);
  EXPECT_EQ(PdhCloseLog(source, 0), PDH_INVALID_HANDLE);
  EXPECT_EQ(PdhOpenQueryH(source, 0, &query), PDH_INVALID_HANDLE);
  EXPECT_EQ(PdhValidatePathExW(source, L"\\Disk(a)\\Reads"), PDH_INVALID_HANDLE);
  EXPECT_EQ(PdhBindInputDataSourceA(&source, ""), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhBindInputDataSourceA(nullptr, golden.c_str()), PDH_INVALID_ARGUMENT);
  ASSERT_EQ(PdhBindInputDataSourceA(&source, nullptr), kDone);
  EXPECT_EQ(source, nullptr) << "this machine as it is now";
  ASSERT_EQ(PdhOpenQueryH(source, 0, &query), kDone);
  EXPECT_TRUE(PdhIsRealTimeQuery(query));
  PdhCloseQuery(query);
}

class PdhWrittenLogs : public PdhLogs {
 protected:
  static PDH_STATUS open(const std::string& name, DWORD access, int type, PDH_HQUERY query,
                         PDH_HLOG& log) {
    auto log_type = static_cast<DWORD>(type);
    return PdhOpenLogA(name.c_str(), access, &log_type, query, 0, nullptr, &log);
  }
};

constexpr DWORD kCreate = PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_NEW;

// Times are the only bytes that a test cannot know.
std::string without_times(const std::string& text) {
  return std::regex_replace(text, std::regex(R"("\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d{3}")"), "TIME");
}

TEST_F(PdhWrittenLogs, HaveTheBytesOfTheWindowsForm) {
  OpenQuery query;
  static_cast<void>(query.add("\\Test Disks(*)\\Queue Length"));
  static_cast<void>(query.add("\\Test Disks(sdc)\\Queue Length"));
  static_cast<void>(query.add("\\Test Clock\\Ticks"));
  const std::string host = "\\\\" + machine_name();
  for (const auto type : {PDH_LOG_TYPE_CSV, PDH_LOG_TYPE_TSV}) {
    const std::string name = type == PDH_LOG_TYPE_CSV ? "disks.csv" : "disks.tsv";
    const std::string separator = type == PDH_LOG_TYPE_CSV ? "," : "\t";
    PDH_HLOG log = nullptr;
    ASSERT_EQ(open(file(name), kCreate, type, query.get(), log), kDone);
    count(sda_, 0, 4);
    ASSERT_EQ(PdhUpdateLogA(log, nullptr), kDone);
    Instance sdc = *disks_.create_instance("sdc");
    count(sdc, 0, 3);
    ASSERT_EQ(PdhUpdateLogW(log, nullptr), kDone);
    LONGLONG size = 0;
    ASSERT_EQ(PdhGetLogFileSize(log, &size), kDone);
    EXPECT_EQ(static_cast<std::uintmax_t>(size), std::filesystem::file_size(file(name)));
    ASSERT_EQ(PdhCloseLog(log, 0), kDone);
    std::string expected =
        "\"(PDH-CSV 4.0) (UTC)(0)\",\"" + host + "\\Test Disks(sda)\\Queue Length\",\"" + host +
        "\\Test Disks(sdb)\\Queue Length\",\"" + host + "\\Test Disks(sdc)\\Queue Length\",\"" +
        host + "\\Test Clock\\Ticks\"\r\n" +
        "TIME,\"4\",\"0\",\" \",\"0\"\r\nTIME,\"4\",\"0\",\"3\",\"0\"\r\n";
    if (type == PDH_LOG_TYPE_TSV) {
      expected = std::regex_replace(expected, std::regex("CSV"), "TSV");
      expected = std::regex_replace(expected, std::regex(","), separator);
    }
    EXPECT_EQ(without_times(text_of(name)), expected);
  }
}

TEST_F(PdhWrittenLogs, AreReadBackWithTheSameValues) {
  OpenQuery query;
  const PDH_HCOUNTER reads = query.add("\\Test Disks(sda)\\Reads/sec");
  PDH_HLOG log = nullptr;
  ASSERT_EQ(open(file("reads.tsv"), kCreate, PDH_LOG_TYPE_TSV, query.get(), log), kDone);
  std::vector<Formatted> written;
  for (const std::uint64_t count_of_reads : {10U, 25U, 26U}) {
    count(sda_, count_of_reads);
    ASSERT_EQ(PdhUpdateLogA(log, nullptr), kDone);
    written.push_back(formatted(reads));
  }
  EXPECT_EQ(written[0].result, PDH_INVALID_DATA);
  ASSERT_EQ(PdhCloseLog(log, PDH_FLAGS_CLOSE_QUERY), kDone);
  EXPECT_EQ(query.collect(), PDH_INVALID_HANDLE) << "it was closed, too";
  LogQuery back(file("reads.tsv"));
  ASSERT_EQ(back.status(), kDone);
  const PDH_HCOUNTER read = back.add("\\Test Disks(sda)\\Reads/sec");
  for (const Formatted& value : written) {
    ASSERT_EQ(back.collect(), kDone);
    EXPECT_EQ(formatted(read).result, value.result);
    EXPECT_EQ(formatted(read).value, value.value);
  }
}

TEST_F(PdhWrittenLogs, AreRefusedByCode) {
  OpenQuery query;
  PDH_HLOG log = nullptr;
  const std::string name = file("disks.csv");
  const auto status_of = [&](DWORD access, int type) {
    return open(name, access, type, query.get(), log);
  };
  EXPECT_EQ(status_of(PDH_LOG_UPDATE_ACCESS | PDH_LOG_OPEN_EXISTING, PDH_LOG_TYPE_CSV),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of(PDH_LOG_WRITE_ACCESS, PDH_LOG_TYPE_CSV), PDH_INVALID_ARGUMENT);
  for (const auto type : {PDH_LOG_TYPE_UNDEFINED, PDH_LOG_TYPE_BINARY, PDH_LOG_TYPE_SQL}) {
    EXPECT_EQ(status_of(kCreate, type), PDH_UNKNOWN_LOG_FORMAT);
  }
  EXPECT_EQ(open(name, kCreate, PDH_LOG_TYPE_CSV, nullptr, log), PDH_INVALID_HANDLE);
  EXPECT_FALSE(std::filesystem::exists(name));
  EXPECT_EQ(open(file("no/such/folder.csv"), kCreate, PDH_LOG_TYPE_CSV, query.get(), log),
            PDH_LOG_FILE_CREATE_ERROR);
  ASSERT_EQ(status_of(kCreate, PDH_LOG_TYPE_CSV), kDone);
  EXPECT_EQ(PdhUpdateLogA(log, nullptr), PDH_NO_DATA) << "the query has no counters";
  EXPECT_EQ(PdhGetLogFileSize(log, nullptr), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhCloseLog(log, 2), PDH_INVALID_ARGUMENT);
  ASSERT_EQ(PdhCloseLog(log, 0), kDone);
  EXPECT_EQ(PdhUpdateLogA(log, nullptr), PDH_INVALID_HANDLE);
  EXPECT_EQ(status_of(kCreate, PDH_LOG_TYPE_CSV), PDH_FILE_ALREADY_EXISTS);
  ASSERT_EQ(status_of(PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, PDH_LOG_TYPE_CSV), kDone);
  ASSERT_EQ(PdhCloseLog(log, 0), kDone);
  DWORD type = PDH_LOG_TYPE_CSV;
  EXPECT_EQ(PdhOpenLogA(name.c_str(), kCreate, &type, query.get(), 1, nullptr, &log),
            PDH_INVALID_ARGUMENT)
      << "text logs have no largest size";
  EXPECT_EQ(PdhOpenLogA(nullptr, kCreate, &type, query.get(), 0, nullptr, &log),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhOpenLogA(name.c_str(), kCreate, nullptr, query.get(), 0, nullptr, &log),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhOpenLogA(name.c_str(), kCreate, &type, query.get(), 0, nullptr, nullptr),
            PDH_INVALID_ARGUMENT);
}

TEST_F(PdhWrittenLogs, SayWhenARecordCannotBeWritten) {
  OpenQuery query;
  static_cast<void>(query.add("\\Test Clock\\Ticks"));
  PDH_HLOG log = nullptr;
  ASSERT_EQ(open("/dev/full", PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, PDH_LOG_TYPE_CSV,
                 query.get(), log),
            kDone);
  EXPECT_EQ(PdhUpdateLogA(log, nullptr), static_cast<PDH_STATUS>(ERROR_WRITE_FAULT));
  EXPECT_EQ(PdhCloseLog(log, 0), kDone);
}

TEST_F(PdhWrittenLogs, KeepWholeRecordsOnADiskThatIsFullForAWhile) {
  OpenQuery query;
  static_cast<void>(query.add("\\Test Clock\\Ticks"));
  PDH_HLOG log = nullptr;
  ASSERT_EQ(open(file("full.csv"), kCreate, PDH_LOG_TYPE_CSV, query.get(), log), kDone);
  ASSERT_EQ(PdhUpdateLogA(log, nullptr), kDone);
  const std::string before = text_of("full.csv");
  {
    const FileSizeLimit limit(before.size() + 3);
    EXPECT_EQ(PdhUpdateLogA(log, nullptr), static_cast<PDH_STATUS>(ERROR_WRITE_FAULT));
    EXPECT_EQ(text_of("full.csv"), before);
  }
  EXPECT_EQ(PdhUpdateLogA(log, nullptr), kDone);
  EXPECT_EQ(PdhCloseLog(log, 0), kDone);
  const std::string after = text_of("full.csv");
  EXPECT_EQ(after.substr(0, before.size()), before);
  const std::string record = after.substr(before.size());
  EXPECT_EQ(std::count(record.begin(), record.end(), '\n'), 1);
  EXPECT_EQ(record.front(), '"');
}

TEST_F(PdhWrittenLogs, OpenedToBeReadTellTheirType) {
  const std::string golden = write("golden.csv", kGolden);
  DWORD type = PDH_LOG_TYPE_UNDEFINED;
  PDH_HLOG log = nullptr;
  ASSERT_EQ(PdhOpenLogA(golden.c_str(), PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &type, nullptr,
                        0, nullptr, &log),
            kDone);
  EXPECT_EQ(type, static_cast<DWORD>(PDH_LOG_TYPE_CSV));
  LONGLONG size = 0;
  EXPECT_EQ(PdhGetLogFileSize(log, &size), PDH_INVALID_HANDLE);
  PDH_HQUERY query = nullptr;
  EXPECT_EQ(PdhOpenQueryH(log, 0, &query), kDone);
  EXPECT_EQ(PdhCloseQuery(query), kDone);
  EXPECT_EQ(PdhCloseLog(log, 0), kDone);
}

}  // namespace
}  // namespace meterbank::test
