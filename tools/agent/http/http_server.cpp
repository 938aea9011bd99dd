// SPDX-License-Identifier: Apache-2.0
#include "agent/http/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/http/body.hpp"
#include "agent/http/negotiation.hpp"
#include "agent/http/page_request.hpp"
#include "agent/http/shared_page.hpp"
#include "agent/pages/monitoring_page.hpp"
#include "agent/pages/schema_page.hpp"
#include "http/deadlines.hpp"
#include "http/request_header.hpp"

namespace meterbank::agent {
namespace {

constexpr unsigned kConnectionsMax = 512;
constexpr unsigned kConnectionsOfOneAddressMax = 128;
// From here on, a connection that asks for nothing gets a tenth of the usual time.
constexpr unsigned kConnectionsUsual = kConnectionsMax / 2;
constexpr std::size_t kRequestBytesMax = std::size_t{32} << 10;  // request line and headers
// Memory of a connection: for the request, then for a piece of the answer. A piece leaves in one go
// if it fits with what HTTP puts around it.
constexpr std::size_t kConnectionBytes = std::size_t{72} << 10;
constexpr unsigned kPagesMax = 16;  // written at the same time; each keeps its snapshot
constexpr std::size_t kReadBytes = std::size_t{64} << 10;

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kIndex =
    "meterbank-agent: performance counters as metrics\n"
    "\n"
    "/metrics        metrics of all providers but the host's\n"
    "/metrics/host   metrics of this machine, if `meterbank host` runs\n"
    "/schema         the metrics and the counters that they are made of, as JSON\n"
    "/schema/rules       recording and alert rules for Prometheus, as YAML\n"
    "/schema/dashboard   a dashboard for Grafana, as JSON\n"
    "/-/healthy      200 while this program runs\n"
    "/-/ready        200 if providers can be read\n"
    "\n"
    "Parameters of /metrics: set, instance, provider and name[], all of them globs and "
    "repeatable;\n"
    "shard=I/N for one of N parts; buckets=B,B,... for histograms with these buckets in text.\n"
    "Parameters of /schema/rules and /schema/dashboard: set and provider.\n";

enum class Path : std::uint8_t {
  kMetrics,
  kHostMetrics,
  kSchema,
  kRules,
  kDashboard,
  kReady,
  kOther
};

// Knows the paths that need a snapshot.
Path path_of(std::string_view path) noexcept {
  if (path == "/metrics") return Path::kMetrics;
  if (path == "/metrics/host") return Path::kHostMetrics;
  if (path == "/schema") return Path::kSchema;
  if (path == "/schema/rules") return Path::kRules;
  if (path == "/schema/dashboard") return Path::kDashboard;
  if (path == "/-/ready") return Path::kReady;
  return Path::kOther;
}

bool is_about_sets(Path path) noexcept { return path == Path::kRules || path == Path::kDashboard; }

exposition::HostRows host_rows_of(Path path) noexcept {
  if (is_about_sets(path)) return exposition::HostRows::kWith;
  const bool is_of_host = path == Path::kHostMetrics;
  return is_of_host ? exposition::HostRows::kAlone : exposition::HostRows::kWithout;
}

struct Answer {
  unsigned status = MHD_HTTP_OK;
  std::string text;
  std::string_view type = kPlain;

  [[nodiscard]] bool is_refusal() const noexcept {
    return status >= MHD_HTTP_BAD_REQUEST && status < MHD_HTTP_INTERNAL_SERVER_ERROR;
  }
};

}  // namespace

struct HttpServer::State {
  // One request, from its headers to the end of its answer.
  struct Request {
    State* state = nullptr;
    MHD_Connection* connection = nullptr;
    // Set if the answer needs no snapshot.
    std::optional<Answer> answer;
    Path path = Path::kMetrics;
    exposition::PageOptions options;
    exposition::PageFormat format{};
    Encoding encoding{};
    std::shared_ptr<const exposition::Snapshot> snapshot;  // null: there was no memory for it
    std::string asked_for;                                 // equal in requests for the same bytes
    std::string about_sets;  // rules or a dashboard; empty: no set was meant
    bool has_asked = false;
    bool is_page = false;
    std::unique_ptr<Body> body;

    // Called in the thread that takes snapshots, because selecting the rows of a page or the sets
    // of a dashboard may take long.
    void take(std::shared_ptr<const exposition::Snapshot> taken, std::size_t requests) noexcept;
  };

  State(ServerOptions server_options, SnapshotService& snapshots, PageCounts& page_counts)
      : options(server_options),
        compression(server_options.compression),
        service(snapshots),
        counts(page_counts) {}
  ~State() {
    if (daemon != nullptr) MHD_stop_daemon(daemon);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  MHD_Result begin(MHD_Connection* connection, std::string_view path, std::string_view method,
                   void** context);
  MHD_Result go_on(Request& request);
  MHD_Result answer_page(Request& request);
  MHD_Result answer_about_sets(Request& request, std::string_view type);
  MHD_Result answer(MHD_Connection* connection, const Answer& answer);
  [[nodiscard]] Encoding encoding_for(MHD_Connection* connection) const;
  // How long a client may take to ask.
  [[nodiscard]] std::chrono::milliseconds time_to_ask(std::chrono::milliseconds usual) const {
    return connections > kConnectionsUsual ? usual / 10 : usual;
  }

  static MHD_Result on_request(void* cls, MHD_Connection* connection, const char* url,
                               const char* method, const char* version, const char* upload,
                               std::size_t* upload_size, void** context) noexcept;
  static void on_completed(void* cls, MHD_Connection* connection, void** context,
                           MHD_RequestTerminationCode code) noexcept;
  static void on_connection(void* cls, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code) noexcept;
  static void* on_request_line(void* cls, const char* uri, MHD_Connection* connection) noexcept;
  static ssize_t on_read(void* cls, std::uint64_t position, char* out, std::size_t bytes) noexcept;

  const ServerOptions options;
  std::atomic<Compression> compression;  // relaxed: a value by itself
  SnapshotService& service;
  PageCounts& counts;
  http::Deadlines deadlines;
  SharedPages shared_pages;  // used only by the thread that takes snapshots
  // Used only by the server's thread.
  unsigned pages = 0;  // being written now
  unsigned connections = 0;
  MHD_Daemon* daemon = nullptr;
};

namespace {

Parameters parameters_of(MHD_Connection* connection) {
  Parameters parameters;
  MHD_get_connection_values(
      connection, MHD_GET_ARGUMENT_KIND,
      [](void* list, MHD_ValueKind /*kind*/, const char* name, const char* value) {
        static_cast<Parameters*>(list)->emplace_back(name, value == nullptr ? "" : value);
        return MHD_YES;
      },
      &parameters);
  return parameters;
}

std::string text_of(Path path, const Parameters& parameters, exposition::PageFormat format,
                    Encoding encoding) {
  std::string text = fmt::format("{} {} {}", static_cast<unsigned>(path),
                                 static_cast<unsigned>(format), static_cast<unsigned>(encoding));
  for (const auto& [name, value] : parameters) {
    text += fmt::format(" {}:{}={}:{}", name.size(), name, value.size(), value);
  }
  return text;
}

bool is_too_large(MHD_Connection* connection) noexcept {
  const MHD_ConnectionInfo* const info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info != nullptr && info->header_size > kRequestBytesMax;
}

std::optional<Answer> answer_at_once(std::string_view path, std::string_view method) {
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
    return Answer{MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed\n"};
  }
  if (path == "/-/healthy") return Answer{MHD_HTTP_OK, "healthy\n"};
  if (path == "/") return Answer{MHD_HTTP_OK, std::string(kIndex)};
  if (path_of(path) != Path::kOther) return std::nullopt;
  return Answer{MHD_HTTP_NOT_FOUND, "not found; / lists the paths\n"};
}

// Answers hold foreign text, which no browser is to take for a page of HTML.
void forbid_guessing(MHD_Response* response) noexcept {
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
}

bool is_loopback(MHD_Connection* connection) noexcept {
  const MHD_ConnectionInfo* const info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  if (info == nullptr || info->client_addr == nullptr) return false;
  constexpr std::uint32_t kNet = 127;
  if (info->client_addr->sa_family == AF_INET) {
    const auto* const address = reinterpret_cast<const sockaddr_in*>(info->client_addr);
    return ntohl(address->sin_addr.s_addr) >> 24 == kNet;
  }
  if (info->client_addr->sa_family != AF_INET6) return false;
  const auto* const address = reinterpret_cast<const sockaddr_in6*>(info->client_addr);
  const std::uint8_t* const bytes = address->sin6_addr.s6_addr;
  constexpr std::size_t kMappedAt = 12;  // where an IPv6 address has the IPv4 address
  const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&address->sin6_addr) != 0;
  return IN6_IS_ADDR_LOOPBACK(&address->sin6_addr) != 0 || (is_mapped && bytes[kMappedAt] == kNet);
}

}  // namespace

MHD_Result HttpServer::State::on_request(void* cls, MHD_Connection* connection, const char* url,
                                         const char* method, const char* /*version*/,
                                         const char* /*upload*/, std::size_t* upload_size,
                                         void** context) noexcept {
  State& state = *static_cast<State*>(cls);
  try {
    if (*context == nullptr) return state.begin(connection, url, method, context);
    // A body is of no use here; it is read and forgotten, as far as the deadline lets it.
    if (*upload_size != 0) {
      *upload_size = 0;
      return MHD_YES;
    }
    return state.go_on(*static_cast<Request*>(*context));
  } catch (const std::bad_alloc&) {
    state.counts.overloaded();
    return MHD_NO;  // closes the connection
  }
}

// The headers are here. An answer before the whole request has been read would end the connection.
MHD_Result HttpServer::State::begin(MHD_Connection* connection, std::string_view path,
                                    std::string_view method, void** context) {
  deadlines.extend(connection, options.answer_time);
  auto request = std::make_unique<Request>();
  request->state = this;
  request->connection = connection;
  request->answer = is_too_large(connection)
                        ? Answer{MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
                                 "the request line and headers are larger than 32 KiB\n"}
                        : answer_at_once(path, method);
  if (!request->answer) {
    request->path = path_of(path);
    const Parameters parameters = parameters_of(connection);
    auto parsed = is_about_sets(request->path) ? parse_set_request(parameters)
                                               : parse_page_request(parameters);
    if (parsed) {
      request->options = std::move(*parsed);
      request->options.host = host_rows_of(request->path);
    } else {
      request->answer = Answer{MHD_HTTP_BAD_REQUEST, parsed.error().message() + "\n"};
    }
    request->format = choose_format(http::request_header(connection, MHD_HTTP_HEADER_ACCEPT));
    request->encoding = encoding_for(connection);
    request->asked_for = text_of(request->path, parameters, request->format, request->encoding);
  }
  *context = request.release();
  return MHD_YES;
}

MHD_Result HttpServer::State::go_on(Request& request) {
  if (request.answer) return answer(request.connection, *request.answer);
  if (!request.has_asked) {
    const bool is_page = request.path == Path::kMetrics || request.path == Path::kHostMetrics;
    if (is_page && pages >= kPagesMax) {
      counts.overloaded();
      return answer(request.connection, {MHD_HTTP_SERVICE_UNAVAILABLE,
                                         "too many pages are being written; try again\n"});
    }
    request.has_asked = true;
    request.is_page = is_page;
    if (is_page) {
      ++pages;
      counts.page_begun();
    }
    MHD_suspend_connection(request.connection);
    service.ask(
        [&request](std::shared_ptr<const exposition::Snapshot> snapshot, std::size_t requests) {
          request.take(std::move(snapshot), requests);
          MHD_resume_connection(request.connection);
        },
        connections > 1 ? Others::kLikely : Others::kNone);
    return MHD_YES;
  }
  if (request.snapshot == nullptr) {
    counts.overloaded();
    return answer(request.connection, {MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory; try again\n"});
  }
  switch (request.path) {
    case Path::kReady:
      return answer(request.connection, {MHD_HTTP_OK, "ready\n"});
    case Path::kSchema:
      return answer(request.connection,
                    {MHD_HTTP_OK, schema_page(*request.snapshot->layout), kJson});
    case Path::kRules:
      return answer_about_sets(request, kYaml);
    case Path::kDashboard:
      return answer_about_sets(request, kJson);
    default:
      return answer_page(request);
  }
}

void HttpServer::State::Request::take(std::shared_ptr<const exposition::Snapshot> taken,
                                      std::size_t requests) noexcept {
  if (taken == nullptr) return;
  try {
    if (path == Path::kRules) about_sets = rules_page(*taken->layout, options);
    if (path == Path::kDashboard) about_sets = dashboard_page(*taken->layout, options);
    if (is_page) {
      const auto make = [taken, shown = std::move(options), as = format, by = encoding] {
        return make_body(exposition::make_page_writer(as, taken, shown), by);
      };
      const std::uint64_t taken_ns = taken->sample.time.monotonic_ns;
      body = requests == 1 ? make() : state->shared_pages.join(taken_ns, asked_for, make);
    }
    snapshot = std::move(taken);
  } catch (const std::bad_alloc&) {
    // Without a snapshot the client is told to try again.
  }
}

MHD_Result HttpServer::State::answer_page(Request& request) {
  MHD_Response* const response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, kReadBytes, &State::on_read, &request, nullptr);
  if (response == nullptr) throw std::bad_alloc();
  const std::string type(exposition::content_type_of(request.format));
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
  forbid_guessing(response);
  if (request.encoding != Encoding::kIdentity) {
    const std::string encoding(name_of(request.encoding));
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, encoding.c_str());
  }
  const MHD_Result queued = MHD_queue_response(request.connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return queued;
}

MHD_Result HttpServer::State::answer_about_sets(Request& request, std::string_view type) {
  if (request.about_sets.empty()) {
    return answer(request.connection,
                  {MHD_HTTP_NOT_FOUND, "no such counterset; /schema lists all\n"});
  }
  return answer(request.connection, {MHD_HTTP_OK, std::move(request.about_sets), type});
}

ssize_t HttpServer::State::on_read(void* cls, std::uint64_t /*position*/, char* out,
                                   std::size_t bytes) noexcept {
  Request& request = *static_cast<Request*>(cls);
  try {
    const std::size_t read = request.body->read(out, bytes);
    if (read == 0) return MHD_CONTENT_READER_END_OF_STREAM;
    if (read == Body::kLater) return 0;
    request.state->counts.sent(read);
    return static_cast<ssize_t>(read);
  } catch (const std::bad_alloc&) {
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
}

MHD_Result HttpServer::State::answer(MHD_Connection* connection, const Answer& answer) {
  if (answer.is_refusal()) counts.refused();
  MHD_Response* const response = MHD_create_response_from_buffer(
      answer.text.size(), const_cast<char*>(answer.text.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) throw std::bad_alloc();
  const std::string type(answer.type);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type.c_str());
  forbid_guessing(response);
  if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  }
  if (answer.status == MHD_HTTP_SERVICE_UNAVAILABLE) {
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
  }
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

Encoding HttpServer::State::encoding_for(MHD_Connection* connection) const {
  const Compression when = compression.load(std::memory_order_relaxed);
  const bool is_wanted =
      when == Compression::kAlways || (when == Compression::kRemote && !is_loopback(connection));
  return is_wanted
             ? choose_encoding(http::request_header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING))
             : Encoding::kIdentity;
}

void HttpServer::State::on_completed(void* cls, MHD_Connection* connection, void** context,
                                     MHD_RequestTerminationCode code) noexcept {
  State& state = *static_cast<State*>(cls);
  state.deadlines.extend(connection, state.time_to_ask(state.options.idle_time));
  const std::unique_ptr<Request> request(static_cast<Request*>(*context));
  *context = nullptr;
  if (request == nullptr || !request->is_page) return;
  --state.pages;
  const std::uint64_t bytes = request->body == nullptr ? 0 : request->body->page_bytes();
  state.counts.page_ended(bytes, code != MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

void HttpServer::State::on_connection(void* cls, MHD_Connection* connection, void** /*context*/,
                                      MHD_ConnectionNotificationCode code) noexcept {
  State& state = *static_cast<State*>(cls);
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    --state.connections;
    state.deadlines.forget(connection);
    return;
  }
  ++state.connections;
  const MHD_ConnectionInfo* const info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == nullptr) return;
  state.deadlines.add(connection, info->connect_fd, state.time_to_ask(state.options.request_time));
}

void* HttpServer::State::on_request_line(void* cls, const char* /*uri*/,
                                         MHD_Connection* connection) noexcept {
  State& state = *static_cast<State*>(cls);
  state.deadlines.extend(connection, state.time_to_ask(state.options.request_time));
  return nullptr;
}

Result<HttpServer> HttpServer::start(UniqueFd listener, ServerOptions options,
                                     SnapshotService& snapshots, PageCounts& counts) {
  auto state = std::make_unique<State>(options, snapshots, counts);
  constexpr unsigned kFlags =
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
  state->daemon =
      MHD_start_daemon(kFlags, 0, nullptr, nullptr, &State::on_request, state.get(),       //
                       MHD_OPTION_LISTEN_SOCKET, listener.get(),                           //
                       MHD_OPTION_CONNECTION_LIMIT, kConnectionsMax,                       //
                       MHD_OPTION_PER_IP_CONNECTION_LIMIT, kConnectionsOfOneAddressMax,    //
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,               //
                       MHD_OPTION_NOTIFY_COMPLETED, &State::on_completed, state.get(),     //
                       MHD_OPTION_NOTIFY_CONNECTION, &State::on_connection, state.get(),   //
                       MHD_OPTION_URI_LOG_CALLBACK, &State::on_request_line, state.get(),  //
                       MHD_OPTION_END);
  if (state->daemon == nullptr) {
    return fail(ErrorCode::kSystem, "start the HTTP server", {}, errno);
  }
  // It closes the socket when it stops.
  static_cast<void>(listener.release());
  return HttpServer(std::move(state));
}

void HttpServer::set_compression(Compression compression) noexcept {
  state_->compression.store(compression, std::memory_order_relaxed);
}

HttpServer::HttpServer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

}  // namespace meterbank::agent
