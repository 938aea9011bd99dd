// SPDX-License-Identifier: Apache-2.0
//
// Providers written for Windows in this process, and a reader that asks them packet by packet.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>

#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../channel/asking_reader.hpp"
#include "../support/cooked_values.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/pcw/clock.hpp"
#include "meterbank/pcw/describe.hpp"
#include "meterbank/pcw/provider_options.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/reader/query.hpp"
#include "wdm.h"

namespace meterbank::test {

// A counted string over a literal.
struct Name {
  template <std::size_t kSize>
  explicit Name(const wchar_t (&text)[kSize]) noexcept {
    RtlInitUnicodeString(&string, text);
  }
  explicit Name(const std::wstring& text) noexcept { RtlInitUnicodeString(&string, text.c_str()); }
  operator PCUNICODE_STRING() const noexcept { return &string; }

  UNICODE_STRING string{};
};

struct SeenRow {
  std::uint32_t id = 0;
  std::vector<std::uint64_t> values;
};
using SeenRows = std::multimap<std::string, SeenRow>;

// Of the only row.
inline std::vector<std::uint64_t> only_values(const SeenRows& rows) {
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? std::vector<std::uint64_t>() : rows.begin()->second.values;
}
inline std::vector<std::uint64_t> values_of(const SeenRows& rows, const std::string& name) {
  const auto row = rows.find(name);
  EXPECT_NE(row, rows.end()) << name;
  return row == rows.end() ? std::vector<std::uint64_t>() : row->second.values;
}

// One registration of one provider, and a connection to it.
struct Asked {
  AskingReader reader;
  ChannelRequest request;

  std::optional<CopiedAnswer> ask(MessageType type) {
    request.type = type;
    return reader.ask_and_wait(request);
  }
};

class PcwTest : public testing::Test {
 protected:
  PcwTest() {
    ::setenv("METERBANK_DIR", directory_.path().c_str(), 1);
    set_options({});
  }
  ~PcwTest() override {
    pcw::forget_descriptions();
    pcw::set_system_clock(nullptr);
    pcw::set_provider_options(pcw::default_provider_options());
    ::unsetenv("METERBANK_DIR");
  }

  static void set_options(ProviderOptions options) {
    options.name = "driver";
    options.heartbeat = std::chrono::milliseconds(0);
    options.registrations_max = kRegistrationsMax;
    pcw::set_provider_options(std::move(options));
  }

  [[nodiscard]] Catalog catalog() const { return *Catalog::open({.directory = directory_.path()}); }

  // Null: no provider has such a set.
  [[nodiscard]] std::shared_ptr<const Counterset> find_set(const std::string& name) const {
    const Catalog catalog = this->catalog();
    for (const auto& provider : catalog.providers()) {
      for (const RegisteredSet& set : provider->sets) {
        if (set.set->name == name && set.state == RegistrationState::kInserted) return set.set;
      }
    }
    return nullptr;
  }

  // Every registration of a set.
  [[nodiscard]] std::vector<Asked> connect(const std::string& name) const {
    std::vector<Asked> found;
    const Catalog catalog = this->catalog();
    for (const auto& provider : catalog.providers()) {
      for (const RegisteredSet& set : provider->sets) {
        if (set.set->name != name || set.state != RegistrationState::kInserted) continue;
        ChannelRequest request;
        request.registration = set.registration;
        request.generation = set.generation;
        found.push_back({AskingReader(alone(provider->record)), request});
      }
    }
    return found;
  }
  // The only registration of a set.
  [[nodiscard]] Asked connect_one(const std::string& name) const {
    auto all = connect(name);
    EXPECT_EQ(all.size(), 1U);
    return std::move(all.at(0));
  }

  // Rows of all registrations of a set, as they are computed.
  [[nodiscard]] SeenRows collect(const std::string& name,
                                 MessageType type = MessageType::kCollect) const {
    SeenRows rows;
    for (Asked& asked : connect(name)) {
      const auto answer = asked.ask(type);
      if (!answer) {
        ADD_FAILURE() << "no answer";
        continue;
      }
      for (const CopiedRow& row : answer->rows) rows.emplace(row.name, SeenRow{row.id, row.values});
    }
    return rows;
  }

  // The value of a row that lies in shared memory.
  [[nodiscard]] std::optional<std::uint64_t> shared_value(const std::string& path) const {
    return value_of(path, [](Query& query, Sample& sample) { query.collect(sample); });
  }
  // The value of a row that its provider is asked for.
  [[nodiscard]] std::optional<std::uint64_t> asked_value(const std::string& path) const {
    return value_of(
        path, [](Query& query, Sample& sample) { query.collect(sample, std::chrono::seconds(5)); });
  }

  template <typename Collect>
  [[nodiscard]] std::optional<std::uint64_t> value_of(const std::string& path,
                                                      Collect&& collect_into) const {
    const Catalog catalog = this->catalog();
    auto query = Query::compile(catalog, {path});
    if (!query) return std::nullopt;
    Sample sample;
    collect_into(*query, sample);
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample)) {
      return row.raw.value;
    }
    return std::nullopt;
  }

  TemporaryDirectory directory_;

 private:
  // AskingReader takes the socket that lies beside a record, so each gets a directory of its own.
  [[nodiscard]] std::string alone(const std::string& record) const {
    std::ifstream file(record);
    std::stringstream text;
    text << file.rdbuf();
    const auto parsed = PointerRecord::parse(text.str());
    const auto own = std::filesystem::path(links_.path()) / parsed->socket;
    std::filesystem::create_directory(own);
    std::error_code exists;
    std::filesystem::create_symlink(std::filesystem::path(directory_.path()) / parsed->socket,
                                    own / parsed->socket, exists);
    return (own / "record").string();
  }

  TemporaryDirectory links_;
};

// What a registration says, with room for its parts.
class Information {
 public:
  Information(const wchar_t* name, std::vector<PCW_COUNTER_DESCRIPTOR> counters,
              PPCW_CALLBACK callback = nullptr, void* context = nullptr)
      : counters_(std::move(counters)) {
    RtlInitUnicodeString(&name_, name);
    info_.Version = PCW_CURRENT_VERSION;
    info_.Name = &name_;
    info_.CounterCount = static_cast<ULONG>(counters_.size());
    info_.Counters = counters_.data();
    info_.Callback = callback;
    info_.CallbackContext = context;
  }
  Information(const Information&) = delete;
  Information& operator=(const Information&) = delete;
  PCW_REGISTRATION_INFORMATION* operator->() noexcept { return &info_; }
  operator PPCW_REGISTRATION_INFORMATION() noexcept { return &info_; }

 private:
  std::vector<PCW_COUNTER_DESCRIPTOR> counters_;
  UNICODE_STRING name_{};
  PCW_REGISTRATION_INFORMATION info_{};
};

// A registration for as long as a test needs it.
class Registered {
 public:
  explicit Registered(PPCW_REGISTRATION_INFORMATION info) {
    EXPECT_EQ(PcwRegister(&handle_, info), STATUS_SUCCESS) << pcw::last_refusal();
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { unregister(); }
  void unregister() noexcept {
    if (handle_ != nullptr) PcwUnregister(std::exchange(handle_, nullptr));
  }
  [[nodiscard]] PPCW_REGISTRATION get() const noexcept { return handle_; }

 private:
  PPCW_REGISTRATION handle_ = nullptr;
};

// Two counters of 4 and 8 bytes.
struct Pool {
  ULONG used;
  ULONG unused;
  ULONGLONG bytes;
};
inline std::vector<PCW_COUNTER_DESCRIPTOR> pool_counters() {
  return {{1, 0, FIELD_OFFSET(Pool, used), RTL_FIELD_SIZE(Pool, used)},
          {2, 0, FIELD_OFFSET(Pool, bytes), RTL_FIELD_SIZE(Pool, bytes)}};
}
template <typename Block>
PCW_DATA block_of(const Block& block) noexcept {
  return {&block, sizeof block};
}

}  // namespace meterbank::test
