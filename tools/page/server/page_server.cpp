// SPDX-License-Identifier: Apache-2.0
#include "page/server/page_server.hpp"

#include <microhttpd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/deadlines.hpp"
#include "http/request_header.hpp"
#include "page/asset.hpp"
#include "view/place.hpp"

namespace meterbank::page {
namespace {

constexpr std::size_t kConnectionBytes = std::size_t{48} << 10;
constexpr std::size_t kReadBytes = std::size_t{16} << 10;
// Until something wakes a viewer that waits for the next moment, it owes nothing.
constexpr std::chrono::hours kNoHurry{24};

constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr const char* kPlain = "text/plain; charset=utf-8";
constexpr const char* kJson = "application/json";
constexpr const char* kColumns = "application/octet-stream";
constexpr const char* kEvents = "text/event-stream; charset=utf-8";

enum class Path : std::uint8_t { kDocument, kStream, kPicture, kSeries, kMoment, kOther };

Path path_of(std::string_view path) noexcept {
  if (path == "/") return Path::kDocument;
  if (path == "/stream") return Path::kStream;
  if (path == "/picture") return Path::kPicture;
  if (path == "/series") return Path::kSeries;
  if (path == "/moment") return Path::kMoment;
  return Path::kOther;
}

const char* type_of(Path path) noexcept {
  switch (path) {
    case Path::kPicture:
      return kJson;
    case Path::kSeries:
      return kColumns;
    default:
      return kPlain;
  }
}

struct Answer {
  unsigned status = MHD_HTTP_OK;
  std::string text;
  const char* type = kPlain;
};

void add_safety(MHD_Response* response, const char* type) {
  static const std::string policy = page_asset().policy + "; frame-ancestors 'none'";
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  MHD_add_response_header(response, "Content-Security-Policy", policy.c_str());
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "X-Frame-Options", "DENY");
  MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
  MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
  MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
}

}  // namespace

struct PageServer::State {
  // One request, from its headers to the end of its answer.
  struct Request final : Sleeper {
    State* state = nullptr;
    MHD_Connection* connection = nullptr;
    std::string query;
    std::optional<Answer> answer;
    Path path = Path::kOther;
    ViewRequest view;
    // Of one answer.
    bool has_asked = false;
    std::shared_ptr<const std::string> text;
    // Of a stream.
    std::shared_ptr<Channel> channel;
    std::shared_ptr<const Channel::Moment> moment;
    std::string_view rest;  // of the event that is being sent
    std::uint64_t seen = 0;
    bool has_slept = false;

    void wake() noexcept override {
      state->deadlines.extend(connection, state->limits.answer_time);
      MHD_resume_connection(connection);
    }
    void begin_event(std::shared_ptr<const Channel::Moment> next);
    std::size_t read(char* out, std::size_t bytes);
  };

  State(Gate request_gate, PictureService& pictures, ServerLimits server_limits)
      : limits(server_limits), gate(std::move(request_gate)), service(pictures) {}
  ~State() {
    if (daemon != nullptr) MHD_stop_daemon(daemon);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void begin(Request& request, std::string_view path, std::string_view method);
  MHD_Result go_on(Request& request);
  MHD_Result stream(Request& request);
  static MHD_Result send(MHD_Connection* connection, const Answer& answer);

  static MHD_Result on_request(void* cls, MHD_Connection* connection, const char* url,
                               const char* method, const char* version, const char* upload,
                               std::size_t* upload_size, void** context) noexcept;
  static void on_completed(void* cls, MHD_Connection* connection, void** context,
                           MHD_RequestTerminationCode code) noexcept;
  static void on_connection(void* cls, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code) noexcept;
  static void* on_request_line(void* cls, const char* uri, MHD_Connection* connection) noexcept;
  static ssize_t on_read(void* cls, std::uint64_t position, char* out, std::size_t bytes) noexcept;

  const ServerLimits limits;
  const Gate gate;
  PictureService& service;
  http::Deadlines deadlines;
  std::atomic<unsigned> viewers{0};  // relaxed: a number by itself
  MHD_Daemon* daemon = nullptr;
};

// The request line is the only place where the query is as it was sent. The result is the context
// of the request until on_completed().
void* PageServer::State::on_request_line(void* cls, const char* uri,
                                         MHD_Connection* connection) noexcept {
  State& state = *static_cast<State*>(cls);
  state.deadlines.extend(connection, state.limits.request_time);
  auto* const request = new (std::nothrow) Request;
  if (request == nullptr) return nullptr;
  request->state = &state;
  request->connection = connection;
  try {
    const std::string_view line(uri);
    const auto mark = std::min(line.find('?'), line.size());
    request->query = line.substr(std::min(mark + 1, line.size()));
  } catch (const std::bad_alloc&) {
    delete request;
    return nullptr;
  }
  return request;
}

MHD_Result PageServer::State::on_request(void* cls, MHD_Connection* /*connection*/, const char* url,
                                         const char* method, const char* /*version*/,
                                         const char* /*upload*/, std::size_t* upload_size,
                                         void** context) noexcept {
  auto* const request = static_cast<Request*>(*context);
  if (request == nullptr) return MHD_NO;  // closes the connection: there was no memory
  State& state = *static_cast<State*>(cls);
  try {
    if (request->path == Path::kOther && !request->answer) {
      // An answer before the whole request has been read would end the connection.
      state.begin(*request, url, method);
      return MHD_YES;
    }
    if (*upload_size != 0) {
      *upload_size = 0;
      return MHD_YES;
    }
    return state.go_on(*request);
  } catch (const std::bad_alloc&) {
    return MHD_NO;
  }
}

void PageServer::State::begin(Request& request, std::string_view path, std::string_view method) {
  MHD_Connection* const connection = request.connection;
  deadlines.extend(connection, limits.answer_time);
  const RequestWords words{
      .method = method,
      .path = path,
      .host = http::request_header(connection, MHD_HTTP_HEADER_HOST),
      .origin = http::request_header(connection, MHD_HTTP_HEADER_ORIGIN),
      .authorization = http::request_header(connection, MHD_HTTP_HEADER_AUTHORIZATION),
      .fetch_site = http::request_header(connection, "Sec-Fetch-Site"),
      .fetch_mode = http::request_header(connection, "Sec-Fetch-Mode")};
  if (const auto refusal = gate.refuse(words)) {
    request.answer = Answer{refusal->status, refusal->text};
    return;
  }
  request.path = path_of(path);
  if (request.path == Path::kOther) {
    request.answer = Answer{MHD_HTTP_NOT_FOUND, "not found\n"};
    return;
  }
  if (request.path == Path::kDocument) {
    const Asset& asset = page_asset();
    request.answer = Answer{MHD_HTTP_OK, asset.before + asset.after, kHtml};
    return;
  }
  auto view = parse_view_request(request.query);
  if (!view) {
    request.answer = Answer{MHD_HTTP_BAD_REQUEST, view.error().message() + '\n'};
    return;
  }
  request.view = std::move(*view);
}

MHD_Result PageServer::State::go_on(Request& request) {
  if (request.answer) return send(request.connection, *request.answer);
  if (request.path == Path::kStream) return stream(request);
  if (!request.has_asked) {
    request.has_asked = true;
    auto form = PictureService::Form::kJson;
    if (request.path == Path::kSeries) form = PictureService::Form::kSeries;
    if (request.path == Path::kMoment) form = PictureService::Form::kLinkOfStep;
    MHD_suspend_connection(request.connection);
    service.ask(std::move(request.view), form, [&request](auto text) {
      request.text = std::move(text);
      MHD_resume_connection(request.connection);
    });
    return MHD_YES;
  }
  if (request.text == nullptr) {
    if (request.path == Path::kMoment) return send(request.connection, {MHD_HTTP_NO_CONTENT, ""});
    return send(request.connection,
                {MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory, or ending; try again\n"});
  }
  return send(request.connection, {MHD_HTTP_OK, *request.text, type_of(request.path)});
}

MHD_Result PageServer::State::stream(Request& request) {
  if (viewers.load(std::memory_order_relaxed) >= limits.viewers) {
    return send(request.connection,
                {MHD_HTTP_SERVICE_UNAVAILABLE,
                 "as many viewers as are allowed watch already; close one and try again\n"});
  }
  auto channel = service.join(request.view);
  if (channel == nullptr) {
    return send(request.connection,
                {MHD_HTTP_SERVICE_UNAVAILABLE,
                 "the viewers look at as many different places as are allowed; try again\n"});
  }
  MHD_Response* const response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, kReadBytes, &State::on_read, &request, nullptr);
  if (response == nullptr) throw std::bad_alloc();
  add_safety(response, kEvents);
  const MHD_Result queued = MHD_queue_response(request.connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  if (queued == MHD_YES) {
    request.channel = std::move(channel);
    viewers.fetch_add(1, std::memory_order_relaxed);
  }
  return queued;
}

void PageServer::State::Request::begin_event(std::shared_ptr<const Channel::Moment> next) {
  has_slept = false;
  const bool follows = next->number == seen + 1 && seen != 0 && !next->tail.empty();
  moment = std::move(next);
  seen = moment->number;
  rest = follows ? moment->tail : moment->full();
}

// 0: nothing now.
std::size_t PageServer::State::Request::read(char* out, std::size_t bytes) {
  if (rest.empty()) {
    auto next = channel->next(seen);
    if (next == nullptr && std::exchange(has_slept, false)) {
      constexpr std::string_view kComment = ":\n\n";
      rest = kComment;
    } else if (next == nullptr) {
      next = channel->next_or_sleep(seen, *this, [this] {
        has_slept = true;
        state->deadlines.extend(connection, kNoHurry);
        MHD_suspend_connection(connection);
      });
      if (next == nullptr) return 0;
    }
    if (next != nullptr) begin_event(std::move(next));
  }
  state->deadlines.extend(connection, state->limits.answer_time);
  const std::size_t count = std::min(bytes, rest.size());
  std::memcpy(out, rest.data(), count);
  rest.remove_prefix(count);
  return count;
}

ssize_t PageServer::State::on_read(void* cls, std::uint64_t /*position*/, char* out,
                                   std::size_t bytes) noexcept {
  Request& request = *static_cast<Request*>(cls);
  try {
    if (request.rest.empty() && request.channel->has_stopped()) {
      return MHD_CONTENT_READER_END_OF_STREAM;
    }
    return static_cast<ssize_t>(request.read(out, bytes));
  } catch (const std::bad_alloc&) {
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
}

MHD_Result PageServer::State::send(MHD_Connection* connection, const Answer& answer) {
  MHD_Response* const response = MHD_create_response_from_buffer(
      answer.text.size(), const_cast<char*>(answer.text.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) throw std::bad_alloc();
  add_safety(response, answer.type);
  if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
  }
  if (answer.status == MHD_HTTP_SERVICE_UNAVAILABLE) {
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
  }
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

void PageServer::State::on_completed(void* cls, MHD_Connection* connection, void** context,
                                     MHD_RequestTerminationCode /*code*/) noexcept {
  State& state = *static_cast<State*>(cls);
  state.deadlines.extend(connection, state.limits.idle_time);
  const std::unique_ptr<Request> request(static_cast<Request*>(*context));
  *context = nullptr;
  if (request == nullptr || request->channel == nullptr) return;
  request->channel->forget(*request);
  state.viewers.fetch_sub(1, std::memory_order_relaxed);
}

void PageServer::State::on_connection(void* cls, MHD_Connection* connection, void** /*context*/,
                                      MHD_ConnectionNotificationCode code) noexcept {
  State& state = *static_cast<State*>(cls);
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    state.deadlines.forget(connection);
    return;
  }
  const MHD_ConnectionInfo* const info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == nullptr) return;
  state.deadlines.add(connection, info->connect_fd, state.limits.request_time);
}

Result<PageServer> PageServer::start(UniqueFd listener, Gate gate, PictureService& service,
                                     ServerLimits limits) {
  auto state = std::make_unique<State>(std::move(gate), service, limits);
  // Connections inherit it.
  ::setsockopt(listener.get(), SOL_SOCKET, SO_SNDBUF, &limits.send_buffer,
               sizeof(limits.send_buffer));
  constexpr unsigned kFlags =
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
  state->daemon =
      MHD_start_daemon(kFlags, 0, nullptr, nullptr, &State::on_request, state.get(),            //
                       MHD_OPTION_LISTEN_SOCKET, listener.get(),                                //
                       MHD_OPTION_CONNECTION_LIMIT, limits.viewers + limits.other_connections,  //
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,                    //
                       MHD_OPTION_NOTIFY_COMPLETED, &State::on_completed, state.get(),          //
                       MHD_OPTION_NOTIFY_CONNECTION, &State::on_connection, state.get(),        //
                       MHD_OPTION_URI_LOG_CALLBACK, &State::on_request_line, state.get(),       //
                       MHD_OPTION_END);
  if (state->daemon == nullptr) {
    return fail(ErrorCode::kSystem, "start the HTTP server", {}, errno);
  }
  // It closes the socket when it stops.
  static_cast<void>(listener.release());
  return PageServer(std::move(state));
}

unsigned PageServer::viewers() const noexcept {
  return state_->viewers.load(std::memory_order_relaxed);
}

PageServer::PageServer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
PageServer::PageServer(PageServer&&) noexcept = default;
PageServer& PageServer::operator=(PageServer&&) noexcept = default;
PageServer::~PageServer() = default;

}  // namespace meterbank::page
