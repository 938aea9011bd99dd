// SPDX-License-Identifier: Apache-2.0
//
// Mounted file systems, totals over disks, and paging files, on the made-up machine.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <string>
#include <vector>

#include "host/probe/probe.hpp"
#include "host_tree.hpp"

namespace meterbank::host {
namespace {

class FileSystems : public testing::Test {
 protected:
  [[nodiscard]] bool sample() { return probe_.sample_disks() && probe_.sample_file_systems(); }
  [[nodiscard]] const FileSystemReading* find(std::string_view name) const {
    for (const FileSystemReading& reading : probe_.file_systems().file_systems()) {
      if (reading.name.view() == name) return &reading;
    }
    return nullptr;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const FileSystemReading& reading : probe_.file_systems().file_systems()) {
      names.emplace_back(reading.name.view());
    }
    return names;
  }
  [[nodiscard]] std::uint64_t total(DiskField field) const {
    return probe_.file_systems().total().values().get(field);
  }

  HostTree tree_;
  HostProbe probe_{{.root = tree_.root(), .cpu = {}, .process = {}, .units = {}}};
};

TEST(MountLine, IsTakenWithAnyNumberOfOptionalFields) {
  for (const char* const line :
       {"36 35 98:7 /sub /mnt/a\\040b rw - ext3 /dev/root rw,errors=continue",
        "36 35 98:7 /sub /mnt/a\\040b rw master:1 propagate_from:2 unbindable - ext3 /dev/root "
        "rw"}) {
    const auto mount = parse_mount_line(line);
    ASSERT_TRUE(mount) << line;
    EXPECT_EQ(mount->major, 98U);
    EXPECT_EQ(mount->minor, 7U);
    EXPECT_FALSE(mount->is_whole);
    EXPECT_EQ(mount->point.view(), "/mnt/a b");
    EXPECT_EQ(mount->type, "ext3");
    EXPECT_EQ(mount->source, "/dev/root");
  }
}

TEST(MountLine, IsRefusedWhenItIsShortOrHasNoDeviceNumber) {
  for (const char* const line :
       {"", "36 35", "36 35 98 / / rw - ext3 /dev/root rw", "36 35 a:0 / / rw - ext3 /dev/root rw",
        "36 35 98:0 / mnt rw - ext3 /dev/root rw", "36 35 98:0 / / rw ext3 /dev/root rw",
        "36 35 98:0 / / rw - ext3"}) {
    EXPECT_FALSE(parse_mount_line(line)) << line;
  }
  const std::string deep = "36 35 98:0 / /" + std::string(kPathBytesMax, 'd') + " rw - ext3 d rw";
  EXPECT_FALSE(parse_mount_line(deep));
}

TEST(PrintedPath, IsUnescapedAndOtherBackslashesStay) {
  PathText path;
  append_unescaped("a\\011b\\134c\\7\\04\\400", path);
  EXPECT_EQ(path.view(), "a\tb\\c\\7\\04\\400");
}

TEST(FreeSpace, LeavesOutWhatOnlyRootMayFill) {
  struct statvfs status {};
  status.f_frsize = 4096;
  status.f_blocks = 1000;
  status.f_bfree = 300;
  status.f_bavail = 250;
  DiskValues values;
  set_space(status, values);
  EXPECT_EQ(values.get(DiskField::kFreeBytes), 250U * 4096);
  EXPECT_EQ(values.get(DiskField::kUsableBytes), 950U * 4096);
}

TEST_F(FileSystems, AreThoseOfBlockDevicesOnceEachAndTheRoot) {
  ASSERT_TRUE(sample());
  EXPECT_EQ(names(), (std::vector<std::string>{"/", "/boot", "/home", "/mnt/with blank"}));
  EXPECT_EQ(find("/")->values.get(DiskField::kReads), 5U);
  EXPECT_EQ(find("/boot")->values.get(DiskField::kReads), 900U);
  EXPECT_EQ(find("/boot")->life, (std::uint64_t{259} << 32U) + 1);
  EXPECT_EQ(find("/mnt/with blank")->values.get(DiskField::kWriteBytes), 16U * 512);
  // By the name of its device, because its own number is of no device.
  EXPECT_EQ(find("/home")->values.get(DiskField::kWrites), 80U);
}

TEST_F(FileSystems, HaveTheSpaceThatTheSystemTells) {
  ASSERT_TRUE(sample());
  struct statvfs status {};
  ASSERT_EQ(::statvfs(tree_.path("boot").c_str(), &status), 0);
  DiskValues now;
  set_space(status, now);
  const DiskValues& read = find("/boot")->values;
  // Other programs write meanwhile, but not half of what there is.
  EXPECT_NEAR(static_cast<double>(read.get(DiskField::kUsableBytes)),
              static_cast<double>(now.get(DiskField::kUsableBytes)),
              static_cast<double>(now.get(DiskField::kUsableBytes)) / 2);
  EXPECT_LE(read.get(DiskField::kFreeBytes), read.get(DiskField::kUsableBytes));
}

TEST_F(FileSystems, OnMappedDevicesAreFoundByTheirNameThere) {
  ASSERT_TRUE(tree_.replace("proc/self/mountinfo", "253:0", "0:77"));
  ASSERT_TRUE(sample());
  EXPECT_FALSE(find("/")->values.has(DiskField::kReads));

  tree_.write("sys/block/dm-0/dm/name", "vg-root\n");
  ASSERT_TRUE(sample());
  EXPECT_EQ(find("/")->values.get(DiskField::kReads), 5U);
}

TEST_F(FileSystems, HaveARootOnWhateverItLies) {
  tree_.write("proc/self/mountinfo",
              "500 400 0:90 / / rw - overlay overlay rw,lowerdir=/l\n"
              "501 500 259:1 /v/hosts /boot/kernel rw - ext4 /dev/x rw\n");
  ASSERT_TRUE(sample());
  // A file that is mounted, as container runtimes do, is no file system of its own.
  EXPECT_EQ(names(), std::vector<std::string>{"/"});
  EXPECT_FALSE(find("/")->values.has(DiskField::kReads));
  EXPECT_TRUE(find("/")->values.has(DiskField::kFreeBytes));
  tree_.write("proc/self/mountinfo", "1 0 7:0 / / ro - squashfs /dev/loop0 ro\n");
  ASSERT_TRUE(sample());
  EXPECT_EQ(find("/")->values.get(DiskField::kReads), 11U);
}

TEST_F(FileSystems, StayAsTheyWereWhileTheTableCannotBeRead) {
  ASSERT_TRUE(sample());
  tree_.remove("proc/self/mountinfo");
  EXPECT_FALSE(sample());
  EXPECT_EQ(names().size(), 4U);
}

TEST_F(FileSystems, HaveATotalThatDoesNotRunBackwardsWhenOneIsUnmounted) {
  ASSERT_TRUE(sample());
  EXPECT_EQ(total(DiskField::kReads), 5U + 900 + 1 + 70);
  const std::uint64_t free_before = total(DiskField::kFreeBytes);
  ASSERT_TRUE(tree_.replace("proc/self/mountinfo",
                            "32 22 104:0 / /mnt/with\\040blank rw - xfs /dev/cciss/c0d0 rw\n", ""));
  ASSERT_TRUE(tree_.replace("proc/diskstats", "nvme0n1p1 900", "nvme0n1p1 910"));
  ASSERT_TRUE(sample());
  EXPECT_EQ(total(DiskField::kReads), 5U + 900 + 1 + 70 + 10);
  EXPECT_LT(total(DiskField::kFreeBytes), free_before);
}

TEST_F(FileSystems, AreAsManyAsThereIsRoomFor) {
  const auto table_of = [](std::size_t others) {
    std::string table;
    for (std::size_t i = 0; i < others; ++i) {
      const std::string number = std::to_string(i);
      table += "7 1 9:" + number + " / /m" + number + " rw - ext4 /dev/md" + number + " rw\n";
    }
    return table + "7 1 259:1 / /boot rw - ext4 /dev/nvme0n1p1 rw\n";
  };
  tree_.write("proc/self/mountinfo", table_of(kFileSystemsMax - 2));
  ASSERT_TRUE(sample());
  EXPECT_EQ(names(), (std::vector<std::string>{"/", "/boot"}));  // the others have no device
  tree_.write("proc/self/mountinfo", table_of(kFileSystemsMax - 1));
  ASSERT_TRUE(sample());
  EXPECT_EQ(names(), std::vector<std::string>{"/"});
}

TEST_F(FileSystems, HaveTheRootOfAProcessWhoseRootIsNoMount) {
  struct stat root {};
  ASSERT_EQ(::stat(tree_.root().c_str(), &root), 0);
  const std::string number =
      std::to_string(major(root.st_dev)) + ":" + std::to_string(minor(root.st_dev));
  tree_.write("proc/self/mountinfo", "7 1 259:1 / /boot rw - ext4 /dev/nvme0n1p1 rw\n");
  ASSERT_TRUE(sample());
  EXPECT_EQ(names(), (std::vector<std::string>{"/", "/boot"}));
  EXPECT_TRUE(find("/")->values.has(DiskField::kFreeBytes));
  // A bind mount of one of its folders is on the same device and is not listed again.
  tree_.write("proc/self/mountinfo", "7 1 " + number + " /src /src rw - ext4 /dev/nvme0n1p1 rw\n");
  ASSERT_TRUE(sample());
  EXPECT_EQ(names(), std::vector<std::string>{"/"});
}

class DiskTotals : public testing::Test {
 protected:
  void advance(std::vector<DiskReading> now) {
    total_.advance<DiskReading>(before_, now);
    before_ = std::move(now);
  }
  [[nodiscard]] static DiskReading disk(std::string_view name, std::uint64_t reads,
                                        std::uint64_t busy, std::uint64_t in_flight) {
    DiskReading disk;
    disk.name.append(name);
    disk.values.set(DiskField::kReads, reads);
    disk.values.set(DiskField::kBusyTime100ns, busy);
    disk.values.set(DiskField::kInFlight, in_flight);
    return disk;
  }
  [[nodiscard]] std::uint64_t get(DiskField field) const { return total_.values().get(field); }

  DiskTotal total_;
  std::vector<DiskReading> before_;
};

TEST_F(DiskTotals, AddCountsAndAverageTheTimeInWhichADiskWasBusy) {
  advance({disk("a", 100, 1000, 2), disk("b", 50, 500, 3)});
  EXPECT_EQ(get(DiskField::kReads), 150U);
  EXPECT_EQ(get(DiskField::kBusyTime100ns), 750U);
  EXPECT_EQ(get(DiskField::kInFlight), 5U);

  // An odd step each time: what division leaves over is not lost.
  advance({disk("a", 101, 1001, 0), disk("b", 50, 500, 0)});
  advance({disk("a", 102, 1002, 0), disk("b", 50, 500, 1)});
  EXPECT_EQ(get(DiskField::kReads), 152U);
  EXPECT_EQ(get(DiskField::kBusyTime100ns), 751U);
  EXPECT_EQ(get(DiskField::kInFlight), 1U);
}

TEST_F(DiskTotals, CountADiskThatComesOrWasResetFromItsSecondSampleOn) {
  advance({disk("a", 100, 0, 0)});
  advance({disk("new", 7000, 0, 0), disk("a", 101, 0, 0)});
  EXPECT_EQ(get(DiskField::kReads), 101U);
  advance({disk("new", 7003, 0, 0), disk("a", 5, 0, 0)});
  EXPECT_EQ(get(DiskField::kReads), 104U);
  DiskReading other_life = disk("a", 9000, 0, 0);
  other_life.life = 1;
  advance({disk("new", 7003, 0, 0), other_life});
  EXPECT_EQ(get(DiskField::kReads), 104U);
}

TEST_F(FileSystems, PagingFilesHaveSizesInBytesAndATotal) {
  ASSERT_TRUE(probe_.sample_paging_files());
  const auto files = probe_.paging_files().files();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].name.view(), "/dev/dm-1");
  EXPECT_EQ(files[0].values.get(PagingField::kSizeBytes), 8'388'604ULL * 1024);
  EXPECT_EQ(files[1].name.view(), "/swap file");
  EXPECT_EQ(files[1].values.get(PagingField::kUsedBytes), 512U * 1024);
  EXPECT_EQ(probe_.paging_files().total().get(PagingField::kUsedBytes), 1536U * 1024);
}

TEST_F(FileSystems, PagingFilesMayBeNoneAndDamagedLinesAreNone) {
  tree_.write("proc/swaps", "Filename Type Size Used Priority\n/a file 12kB 3 -2\n/b file 12\n/c");
  ASSERT_TRUE(probe_.sample_paging_files());
  EXPECT_TRUE(probe_.paging_files().files().empty());
  EXPECT_NE(probe_.paging_files().present_fields(), 0U);
  tree_.remove("proc/swaps");
  EXPECT_FALSE(probe_.sample_paging_files());
}

}  // namespace
}  // namespace meterbank::host
