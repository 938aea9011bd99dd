// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/upgrade/saved_server.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "arbiter/server/system/write_all.hpp"

namespace meterbank::arbiter {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr off_t kBytesMax = off_t{256} << 20;

Json json_of(const SavedClient& client) {
  Json unsent = Json::array();
  for (const SavedPacket& packet : client.unsent) {
    unsent.push_back({{"bytes", Json::binary(packet.bytes)}, {"attached", packet.attached}});
  }
  return {{"number", client.visitor.client}, {"greeted", client.visitor.has_greeted},
          {"faults", client.visitor.faults}, {"heartbeat", client.visitor.heartbeat},
          {"socket", client.socket},         {"unsent", std::move(unsent)}};
}

SavedClient client_of(const Json& json) {
  SavedClient client;
  json.at("number").get_to(client.visitor.client);
  json.at("greeted").get_to(client.visitor.has_greeted);
  json.at("faults").get_to(client.visitor.faults);
  json.at("heartbeat").get_to(client.visitor.heartbeat);
  json.at("socket").get_to(client.socket);
  for (const Json& packet : json.at("unsent")) {
    client.unsent.push_back({packet.at("bytes").get_binary(), packet.at("attached").get<int>()});
  }
  return client;
}

Json json_of(const Opening& opening) {
  return {{"item", opening.item},
          {"pmu", opening.pmu},
          {"cpu", opening.cpu},
          {"task", opening.task},
          {"code", opening.event.code},
          {"unit_mask", opening.event.unit_mask},
          {"configuration", opening.event.configuration},
          {"flags", opening.flags}};
}

Opening opening_of(const Json& json) {
  Opening opening;
  json.at("item").get_to(opening.item);
  json.at("pmu").get_to(opening.pmu);
  json.at("cpu").get_to(opening.cpu);
  json.at("task").get_to(opening.task);
  json.at("code").get_to(opening.event.code);
  json.at("unit_mask").get_to(opening.event.unit_mask);
  json.at("configuration").get_to(opening.event.configuration);
  json.at("flags").get_to(opening.flags);
  return opening;
}

Json json_of(const SavedCarrier& carrier) {
  Json openings = Json::array(), before = Json::array();
  for (const Opening& opening : carrier.openings) openings.push_back(json_of(opening));
  for (const Reading& reading : carrier.before) {
    before.push_back({reading.value, reading.enabled_ns, reading.running_ns,
                      static_cast<int>(reading.has_counter)});
  }
  return {{"carrier", carrier.carrier},
          {"openings", std::move(openings)},
          {"descriptors", carrier.descriptors},
          {"before", std::move(before)},
          {"paused", carrier.is_paused}};
}

SavedCarrier carrier_of(const Json& json) {
  SavedCarrier carrier;
  json.at("carrier").get_to(carrier.carrier);
  for (const Json& opening : json.at("openings")) carrier.openings.push_back(opening_of(opening));
  json.at("descriptors").get_to(carrier.descriptors);
  for (const Json& reading : json.at("before")) {
    carrier.before.push_back({reading.at(0).get<std::uint64_t>(),
                              reading.at(1).get<std::uint64_t>(),
                              reading.at(2).get<std::uint64_t>(), reading.at(3).get<int>() != 0});
  }
  json.at("paused").get_to(carrier.is_paused);
  return carrier;
}

}  // namespace

std::vector<int> SavedServer::descriptors() const {
  std::vector<int> all{listener};
  for (const SavedClient& client : clients) {
    all.push_back(client.socket);
    all.push_back(client.visitor.heartbeat);
    for (const SavedPacket& packet : client.unsent) all.push_back(packet.attached);
  }
  for (const SavedCarrier& carrier : carriers) {
    all.insert(all.end(), carrier.descriptors.begin(), carrier.descriptors.end());
  }
  std::erase(all, -1);
  return all;
}

Result<UniqueFd> store(const SavedServer& saved) {
  Json clients = Json::array(), carriers = Json::array();
  for (const SavedClient& client : saved.clients) clients.push_back(json_of(client));
  for (const SavedCarrier& carrier : saved.carriers) carriers.push_back(json_of(carrier));
  const Json json{{"version", kVersion},
                  {"arbiter", saved.arbiter},
                  {"epoch", saved.epoch},
                  {"next_client", saved.next_client},
                  {"listener", saved.listener},
                  {"listener_name_stays", saved.listener_name_stays},
                  {"connections_refused", saved.connections_refused},
                  {"clients", std::move(clients)},
                  {"carriers", std::move(carriers)}};
  const std::vector<std::uint8_t> bytes = Json::to_cbor(json);
  UniqueFd file(::memfd_create("meterbank-pmud-state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (!file || !write_all(file.get(), std::as_bytes(std::span(bytes))) ||
      ::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    return fail(ErrorCode::kNoSpace, "keep the state in memory", "free some", errno);
  }
  return file;
}

Result<SavedServer> load_saved(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || facts.st_size > kBytesMax) {
    return fail(ErrorCode::kCorrupt, "the state of the image before this one", {}, errno);
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(facts.st_size));
  if (::pread(descriptor, bytes.data(), bytes.size(), 0) != facts.st_size) {
    return fail(ErrorCode::kCorrupt, "read the state of the image before this one", {}, errno);
  }
  try {
    const Json json = Json::from_cbor(bytes);
    if (json.at("version").get<int>() != kVersion) {
      return fail(ErrorCode::kNewerLayout, "the state of the image before this one");
    }
    SavedServer saved;
    json.at("arbiter").get_to(saved.arbiter);
    json.at("epoch").get_to(saved.epoch);
    json.at("next_client").get_to(saved.next_client);
    json.at("listener").get_to(saved.listener);
    json.at("listener_name_stays").get_to(saved.listener_name_stays);
    json.at("connections_refused").get_to(saved.connections_refused);
    for (const Json& client : json.at("clients")) saved.clients.push_back(client_of(client));
    for (const Json& carrier : json.at("carriers")) saved.carriers.push_back(carrier_of(carrier));
    return saved;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt,
                std::string("the state of the image before this one: ") + error.what());
  }
}

void set_close_on_exec(int descriptor, bool is_closed) noexcept {
  ::fcntl(descriptor, F_SETFD, is_closed ? FD_CLOEXEC : 0);
}

}  // namespace meterbank::arbiter
