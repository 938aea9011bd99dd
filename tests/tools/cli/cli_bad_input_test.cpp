// SPDX-License-Identifier: Apache-2.0
//
// What the program says when the directory, the machine or another process is not as it should be:
// a named error with a remedy, the documented exit code, and the rows of all other providers.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "../../support/changed_child.hpp"
#include "../../support/sanitizers.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment_layout.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace meterbank::cli {
namespace {

constexpr int kAllSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
constexpr std::uint64_t kBytes = 65536;

// The undefined-behaviour sanitizer, which is always built together with that of addresses, asks
// the kernel through a pipe whether an object is readable, and takes the lack of one for a bad
// object. The thread sanitizer lets no child of this program start a thread.
constexpr bool kSanitizerIsInTheWay = test::kHasSanitizer;

UniqueFd memory(std::uint64_t bytes, bool allocated, int seals, unsigned flags = 0) {
  UniqueFd fd(::memfd_create("bad", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (!fd) return fd;
  const auto size = static_cast<off_t>(bytes);
  if (::ftruncate(fd.get(), size) != 0) return {};
  const std::string zeros(allocated ? bytes : 0, '\0');
  if (allocated &&
      ::pwrite(fd.get(), zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size())) {
    return {};
  }
  if (seals != 0 && ::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return {};
  return fd;
}

class CliBadInput : public CliTest {
 protected:
  // A record of this process that points at `fd`, whatever that is.
  void point_at(const UniqueFd& fd) {
    struct stat facts {};
    ASSERT_EQ(::fstat(fd.get(), &facts), 0);
    const auto pid = static_cast<std::uint32_t>(::getpid());
    const PointerRecord record{.name = "bad",
                               .pid = pid,
                               .start_time = process_start_time(pid),
                               .boot_id = boot_id(),
                               .descriptor = static_cast<std::uint32_t>(fd.get()),
                               .inode = facts.st_ino,
                               .bytes = kBytes,
                               .layout_major = kLayoutMajor,
                               .layout_minor = kLayoutMinor};
    const auto written = write_record(directory_, record);
    ASSERT_TRUE(written) << written.error().message();
    record_ = *written;
  }
  void expect_refusal(const UniqueFd& fd, const std::string& name) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(fd) << std::strerror(errno);
    point_at(fd);

    const auto list = meterbank({"list"});
    const auto all = meterbank({"get", "--raw"});
    const auto bad = meterbank({"get", "bad:*"});
    const auto good = meterbank({"get", "shop_sales/fruit/stock"});
    const auto doctor = meterbank({"doctor"});
    std::filesystem::remove(record_);

    EXPECT_EQ(list.code, kExitEnvironment);
    EXPECT_NE(list.out.find("shop_sales"), std::string::npos) << list.out;
    expect_named(list.err, name);
    EXPECT_EQ(all.code, kExitEnvironment);
    EXPECT_NE(all.out.find("shop_sales"), std::string::npos) << all.out;
    expect_named(all.err, name);
    EXPECT_EQ(bad.code, kExitEnvironment);
    expect_named(bad.err, name);
    EXPECT_EQ(good.code, kExitDone);
    EXPECT_EQ(good.err, "");
    EXPECT_EQ(doctor.code, kExitNo);
    EXPECT_NE(doctor.out.find(name), std::string::npos) << doctor.out;
    EXPECT_NE(doctor.out.find("shop@"), std::string::npos) << doctor.out;
  }
  static void expect_named(const std::string& text, const std::string& name) {
    EXPECT_NE(text.find("bad@"), std::string::npos) << text;
    EXPECT_NE(text.find("[" + name + "]; try: "), std::string::npos) << text;
  }

  // Runs the program in a child that `prepare` has changed; -1 if it could not be.
  [[nodiscard]] Outcome in_child(const std::function<bool()>& prepare,
                                 const std::vector<std::string>& arguments) const {
    const auto child = test::run_in_changed_child(prepare, [&] {
      const auto outcome = run_plainly(arguments);
      return test::ChildOutcome{outcome.code, outcome.out + outcome.err};
    });
    return {child.code, "", child.text};
  }

  std::string record_;
};

bool limit(__rlimit_resource resource, rlim_t most) {
  const rlimit both{most, most};
  return ::setrlimit(resource, &both) == 0;
}

// ---- In place of a segment ----

TEST_F(CliBadInput, RefusesMemoryThatItsOwnerCouldTakeAway) {
  open_shop();
  expect_refusal(memory(kBytes, true, 0), "UNSEALED");
  expect_refusal(memory(kBytes, true, kAllSeals & ~F_SEAL_SHRINK), "UNSEALED");
}

TEST_F(CliBadInput, RefusesSparseMemory) {
  open_shop();
  expect_refusal(memory(kBytes, false, kAllSeals), "SPARSE");
}

TEST_F(CliBadInput, RefusesSizesThatNoSegmentHas) {
  open_shop();
  expect_refusal(memory(0, true, kAllSeals), "BAD_SIZE");
  expect_refusal(memory(5000, true, kAllSeals), "BAD_SIZE");
  expect_refusal(memory(std::uint64_t{128} << 20, false, kAllSeals), "SPARSE");
}

TEST_F(CliBadInput, LeavesOutMemoryBeyondItsLimit) {
  open_shop();
  const auto huge = memory(std::uint64_t{1} << 40, false, kAllSeals);
  ASSERT_TRUE(huge);
  point_at(huge);

  const auto outcome = meterbank({"get", "--raw"});

  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_NE(outcome.out.find("shop_sales"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err,
            "meterbank: left out 1 of 2 providers: limit of one provider (1G); try: "
            "--segment-bytes-max 2G\n");
}

TEST_F(CliBadInput, RefusesMemoryWithoutASegmentInIt) {
  open_shop();
  expect_refusal(memory(kBytes, true, kAllSeals), "NOT_A_SEGMENT");
}

TEST_F(CliBadInput, RefusesHugePages) {
  const auto huge = memory(std::uint64_t{2} << 20, false, kAllSeals, MFD_HUGETLB);
  if (!huge) GTEST_SKIP() << "no huge pages here: " << std::strerror(errno);
  open_shop();
  expect_refusal(huge, "WRONG_FILESYSTEM");
}

// What is no regular file is never opened, so it cannot be what was announced; a file of a disk is
// opened and found to be no memory.
TEST_F(CliBadInput, RefusesDevicesPipesDirectoriesAndFiles) {
  open_shop();
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  std::ofstream(file("file")) << std::string(kBytes, 'x');
  expect_refusal(UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)), "GONE");
  expect_refusal(UniqueFd(::open(file("pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)), "GONE");
  expect_refusal(UniqueFd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "GONE");
  expect_refusal(UniqueFd(::open(file("file").c_str(), O_RDONLY | O_CLOEXEC)), "NOT_SEALABLE");
}

// ---- In place of a record ----

TEST_F(CliBadInput, NamesWhateverLiesInPlaceOfARecord) {
  open_shop();
  std::filesystem::create_directory(file("folder.provider"));
  std::filesystem::create_symlink("/etc/passwd", file("link.provider"));
  ASSERT_EQ(::mkfifo(file("pipe.provider").c_str(), 0600), 0);
  std::ofstream(file("empty.provider")) << "";
  std::ofstream(file("huge.provider")) << std::string(100'000, '\n');
  std::ofstream(file("words.provider")) << "hello\x1b[2J\n";
  std::ofstream(file("README")) << "of another program\n";

  const auto list = meterbank({"list"});
  const auto good = meterbank({"get", "shop_sales/fruit/stock"});
  const auto doctor = meterbank({"doctor"});

  EXPECT_EQ(list.code, kExitEnvironment);
  EXPECT_NE(list.out.find("shop_sales"), std::string::npos) << list.out;
  EXPECT_EQ(good.code, kExitDone) << good.err;
  EXPECT_EQ(good.err, "");
  EXPECT_EQ(doctor.code, kExitNo);
  for (const char* name : {"folder", "link", "pipe", "empty", "huge", "words"}) {
    const auto path = file(name) + ".provider";
    EXPECT_NE(list.err.find(path), std::string::npos) << list.err;
    EXPECT_NE(doctor.out.find(path), std::string::npos) << doctor.out;
  }
  EXPECT_NE(list.err.find("; try: "), std::string::npos) << list.err;
  EXPECT_EQ(list.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(list.err.find("README"), std::string::npos) << list.err;
  EXPECT_NE(doctor.out.find("README"), std::string::npos) << doctor.out;
}

// ---- The directory ----

TEST_F(CliBadInput, NamesADirectoryThatOthersMayWriteTo) {
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
  for (const char* verb : {"list", "get", "host"}) {
    const auto outcome = meterbank({verb});
    EXPECT_EQ(outcome.code, kExitEnvironment) << verb;
    EXPECT_NE(outcome.err.find("chmod go-w"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("[NO_DIRECTORY]"), std::string::npos) << outcome.err;
  }
}

TEST_F(CliBadInput, NamesAFileOrALinkInPlaceOfTheDirectory) {
  std::ofstream(file("file")) << "x";
  std::filesystem::create_symlink(directory_, file("link"));
  for (const char* place : {"file", "link"}) {
    for (const char* verb : {"list", "get", "host"}) {
      const auto outcome = run_plainly({verb, "--dir", file(place)});
      EXPECT_EQ(outcome.code, kExitEnvironment) << verb << ' ' << place;
      EXPECT_NE(outcome.err.find("[NO_DIRECTORY]"), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
    }
  }
}

TEST_F(CliBadInput, HostNamesADirectoryThatItMayNotWriteTo) {
  ASSERT_EQ(::chmod(directory_.c_str(), 0555), 0);
  const auto outcome = in_child([] { return ::geteuid() != 0 || ::setuid(65534) == 0; },
                                {"host", "--for", "10ms", "--dir", directory_});
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.err;
  EXPECT_NE(outcome.err.find("[NO_DIRECTORY]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
}

TEST_F(CliBadInput, ReadersNameADirectoryThatTheyMayNotRead) {
  ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);
  if (::geteuid() != 0) {
    ASSERT_EQ(::chmod(directory_.c_str(), 0), 0);
  }
  const auto outcome = in_child([] { return ::geteuid() != 0 || ::setuid(65534) == 0; },
                                {"list", "--dir", directory_});
  ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.err;
  EXPECT_NE(outcome.err.find("Permission denied"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
}

TEST_F(CliBadInput, HostNamesAFullDirectory) {
  // A file system of one page, with something in it, that only the child sees.
  const auto fill = [this] {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    if (::mount("none", directory_.c_str(), "tmpfs", 0, "size=4k,mode=0755") != 0) return false;
    std::ofstream(file("rubbish")) << std::string(4096, 'x');
    return true;
  };
  const auto outcome = in_child(fill, {"host", "--for", "10ms", "--dir", directory_});
  if (outcome.code == -1) GTEST_SKIP() << "no file systems may be mounted here";

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.err;
  EXPECT_NE(outcome.err.find("[NO_SPACE]"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
}

// ---- Limits ----

TEST_F(CliBadInput, HostNamesALimitOnTheSizeOfFiles) {
  const auto outcome = in_child([] { return limit(RLIMIT_FSIZE, 4096); },
                                {"host", "--for", "10ms", "--dir", directory_});

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.err;
  EXPECT_NE(outcome.err.find("RLIMIT_FSIZE"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("[NO_SPACE]"), std::string::npos) << outcome.err;
}

TEST_F(CliBadInput, EveryVerbNamesALimitOnDescriptors) {
  if (kSanitizerIsInTheWay) GTEST_SKIP() << "no children at their limits in this build";
  open_shop();
  // The fewest descriptors with which a verb still begins differ, so all small numbers are tried:
  // each is enough, or is named as the reason.
  for (const char* verb : {"host", "list", "doctor"}) {
    std::size_t refused = 0;
    for (rlim_t most = 0; most < 40; ++most) {
      std::vector<std::string> arguments{verb, "--dir", directory_};
      if (std::string_view(verb) == "host") arguments.insert(arguments.end(), {"--for", "1ms"});
      const auto outcome = in_child([most] { return limit(RLIMIT_NOFILE, most); }, arguments);
      if (outcome.code == kExitDone) continue;
      ++refused;
      EXPECT_TRUE(outcome.code == kExitEnvironment || outcome.code == kExitNo)
          << verb << ' ' << most << ' ' << outcome.err;
      EXPECT_NE(outcome.err.find("Too many open files"), std::string::npos)
          << verb << ' ' << most << ' ' << outcome.err;
    }
    EXPECT_GT(refused, 0U) << verb;
  }
}

TEST_F(CliBadInput, NamesAFileThatMayNotGrow) {
  open_shop();
  const auto target = file("out.csv");
  const auto outcome =
      in_child([] { return ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR && limit(RLIMIT_FSIZE, 512); },
               {"get", "shop_sales", "-n", "20", "-i", "1ms", "-f", "csv", "-o", target, "--dir",
                directory_});

  EXPECT_EQ(outcome.code, kExitEnvironment) << outcome.err;
  EXPECT_NE(outcome.err.find("File too large"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(target));
}

}  // namespace
}  // namespace meterbank::cli
