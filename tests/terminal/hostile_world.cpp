// SPDX-License-Identifier: Apache-2.0
#include "hostile_world.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "hostile_text.hpp"

namespace meterbank::test {
namespace {

enum class Fields : std::uint32_t { kNumber, kState, kSpread };

constexpr CounterSpec counter(std::uint32_t id, std::string_view name, std::string_view symbol) {
  return {.id = id, .name = name, .symbol = symbol};
}

// Memory that this process shares and may write.
std::vector<std::span<char>> shared_memory() {
  std::vector<std::span<char>> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rw-s ") == std::string::npos || line.find("memfd:") == std::string::npos) {
      continue;
    }
    std::size_t begin = 0;
    std::size_t end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): that is what the file says
    found.emplace_back(reinterpret_cast<char*>(begin), end - begin);
  }
  return found;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

const std::vector<ForeignField>& foreign_fields() {
  static const std::vector<ForeignField> fields{
      {"F01", "name in the segment's header"},
      {"F02", "name in the record"},
      {"F03", "name of the record's file, which has a second name"},
      {"F04", "name of a file that is not a record"},
      {"F05", "name of a symbolic link in place of a record"},
      {"F10", "SchemaHeader::name"},
      {"F11", "SchemaHeader::symbol"},
      {"F12", "SchemaHeader::help", true, true},  // where a screen stands on a line of the set
      {"F13", "SchemaHeader::label", false},
      {"F14", "CounterRecord::name"},
      {"F15", "CounterRecord::symbol"},
      {"F16", "CounterRecord::unit"},
      {"F17", "CounterRecord::help"},
      {"F18", "name of an instance"},
      {"F19", "text of a text counter"},
      {"F20", "unit of a distribution"},
      {"F21", "words of an exception in a callback", true, true},
      {"F22", "name of a row in an answer", true, true},
      {"F23", "name of a set with a callback that throws"},
      {"F30", "path on the command line"},
      {"F31", "verb on the command line"},
      {"F32", "name of a log"},
      {"F33", "path in a log"},
      {"F34", "time zone of a log"},
      {"F35", "name of a manifest"},
      {"F36", "name in a manifest", true, true},
      {"F37", "command of pmu run"},
      {"F38", "directory on the command line"},
      {"F40", "name of a policy file"},
      {"F41", "word in a policy file", true, true},
      {"F42", "name of a topology file"},
      {"F43", "word in a topology file", true, true},
      {"F44", "option of the arbiter"},
      {"F45", "name of a holder's process"},
      {"F46", "option of the generator"},
      {"F47", "label of a lease", true, true},
      {"F48", "help in a manifest", true, true}};
  return fields;
}

HostileWorld::HostileWorld(std::string group) : group_(std::move(group)) {
  publish();
  publish_callbacks();
  overwrite_fields();
  rewrite_records();
  add_odd_files();
}

std::string HostileWorld::hostile(std::string_view tag) const { return hostile_text(tag, group_); }

std::string HostileWorld::hostile_file_name(std::string_view tag) const {
  auto name = hostile(tag);
  std::erase(name, '\0');
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::string HostileWorld::write(const std::string& name, const std::string& text) {
  auto path = beside_.path() + "/" + name;
  write_file(path, text);
  return path;
}

void HostileWorld::publish() {
  provider_ = *Provider::create({.name = harmless_text("F02"), .directory = directory()});
  const std::string name = harmless_text("F14");
  const std::string symbol = harmless_text("F15");
  const std::string unit = harmless_text("F16");
  const std::string help = harmless_text("F17");
  const std::string spread = harmless_text("F20");
  std::vector<CounterSpec> counters(4);
  counters[0] = counter(1, name, symbol);
  counters[0].type = CounterType::kLargeRawCount;
  counters[0].unit = unit;
  counters[0].help = help;
  counters[1] = counter(2, "State", "state");
  counters[1].type = CounterType::kText;
  counters[1].form = ValueForm::kText;
  counters[1].text_bytes = 64;
  counters[2] = counter(3, "Spread", "spread");
  counters[2].type = CounterType::kLargeRawCount;
  counters[2].form = ValueForm::kDistribution;
  counters[2].unit = spread;
  counters[2].buckets = {.scale = 2, .least = 1, .most = 1000};
  counters[3] = counter(4, "Rate/sec", "rate");
  counters[3].type = CounterType::kBulkCount;
  counters[3].unit = unit;
  const std::string set_name = harmless_text("F10");
  const std::string set_symbol = harmless_text("F11");
  const std::string set_help = harmless_text("F12");
  const std::string set_label = harmless_text("F13");
  const auto set = *provider_->add({.name = set_name,
                                    .symbol = set_symbol,
                                    .help = set_help,
                                    .label = set_label,
                                    .counters = counters});
  registrations_.push_back(set);
  for (const std::string& row : {harmless_text("F18"), std::string("plain")}) {
    auto& instance = instances_.emplace_back(*set.create_instance(row));
    instance.set(Fields::kNumber, 7);
    instance.text(Fields::kState).set(hostile("F19"));
  }
  // Histograms show what comes between two samples.
  recording_ = std::jthread([this](const std::stop_token& stop) {
    auto recorder = instances_.front().recorder(Fields::kSpread);
    while (!stop.stop_requested()) {
      for (int value = 1; value < 100; ++value) recorder.record(value);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

void HostileWorld::publish_callbacks() {
  static constexpr std::array kCounters{CounterSpec{
      .id = 1, .name = "Asked", .symbol = "asked", .type = CounterType::kLargeRawCount}};
  const std::string throwing = harmless_text("F23");
  registrations_.push_back(*provider_->add(
      {.name = throwing, .symbol = "throwing", .counters = kCounters},
      [this](CallbackRequest&) -> std::uint32_t { throw std::runtime_error(hostile("F21")); }));
  scripted_ = std::make_unique<ScriptedProvider>(
      directory(), CountersetSpec{.name = "Answered", .symbol = "answered", .counters = kCounters},
      [this](PacketSocket& to, const ChannelRequest& request) {
        const bool has_values = request.type == MessageType::kCollect;
        std::vector<std::uint64_t> values;
        if (has_values) values.push_back(7);
        to.send(rows_answer(request.id, {{1, hostile("F22"), values}}));
      },
      harmless_text("F01"));
}

void HostileWorld::overwrite_fields() {
  for (const auto memory : shared_memory()) {
    for (const auto& field : foreign_fields()) {
      const auto from = harmless_text(field.tag);
      const auto to = hostile(field.tag);
      auto* at = memory.data();
      for (;;) {
        const auto left = static_cast<std::size_t>(memory.data() + memory.size() - at);
        at = static_cast<char*>(::memmem(at, left, from.data(), from.size()));
        if (at == nullptr) break;
        std::memcpy(at, to.data(), to.size());
      }
    }
  }
}

void HostileWorld::rewrite_records() {
  for (const auto& item : std::filesystem::directory_iterator(directory())) {
    if (item.path().extension() != kPointerRecordSuffix) continue;
    auto text = read_file(item.path());
    const auto from = harmless_text("F02");
    // A line is a line, whatever is in it.
    auto to = hostile("F02");
    std::replace(to.begin(), to.end(), '\n', ' ');
    if (const auto at = text.find(from); at != std::string::npos) {
      text.replace(at, from.size(), to);
      write_file(item.path(), text);
    }
  }
}

void HostileWorld::add_odd_files() {
  const auto twice =
      directory() + "/" + hostile_file_name("F03") + std::string(kPointerRecordSuffix);
  write_file(twice, "meterbank 1\n");
  static_cast<void>(!::link(twice.c_str(), (directory() + "/.second").c_str()));
  write_file(directory() + "/" + hostile_file_name("F04"), "x");
  const auto link =
      directory() + "/" + hostile_file_name("F05") + std::string(kPointerRecordSuffix);
  static_cast<void>(!::symlink("/proc/nowhere", link.c_str()));
}

}  // namespace meterbank::test
