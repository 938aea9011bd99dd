// SPDX-License-Identifier: Apache-2.0
#include "push/delivery/http_post.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <utility>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank::push {
namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{16} << 10;

struct EndUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
struct EndEasy {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct EndMulti {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct EndList {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
struct EndText {
  void operator()(char* text) const noexcept { curl_free(text); }
};
using Text = std::unique_ptr<char, EndText>;

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  const Text owned(text);
  return owned.get();
}

std::unique_ptr<CURLU, EndUrl> parse_url(const std::string& url) {
  std::unique_ptr<CURLU, EndUrl> parsed(curl_url());
  if (parsed == nullptr) throw std::bad_alloc();
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return nullptr;
  return parsed;
}

// Once in the program, before its threads use the library.
bool start_library() {
  static const bool has_started = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return has_started;
}

}  // namespace

struct HttpPost::State {
  std::unique_ptr<curl_slist, EndList> headers;
  std::unique_ptr<CURL, EndEasy> easy;
  std::unique_ptr<CURLM, EndMulti> multi;
  HttpAnswer answer;  // to the present post()
  std::array<char, CURL_ERROR_SIZE> error{};
  // relaxed: says nothing of other memory; the wakeup that follows it ends the wait.
  std::atomic<bool> is_aborted{false};

  // Called from C, so memory that runs out breaks the answer off.
  static std::size_t on_body(char* data, std::size_t /*one*/, std::size_t bytes,
                             void* state) noexcept {
    try {
      std::string& body = static_cast<State*>(state)->answer.body;
      body.append(data, std::min(bytes, kAnswerBytesMax - body.size()));
      return bytes;
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }
  static std::size_t on_header(char* data, std::size_t /*one*/, std::size_t bytes,
                               void* state) noexcept {
    const std::string_view line(data, bytes);
    const std::string_view name = line.substr(0, line.find(':'));
    if (equal_folded(name, "X-Prometheus-Remote-Write-Samples-Written") ||
        equal_folded(name, "X-Prometheus-Remote-Write-Histograms-Written")) {
      static_cast<State*>(state)->answer.has_written_counts = true;
    }
    return bytes;
  }

  void add_header(const char* line) {
    curl_slist* const longer = curl_slist_append(headers.get(), line);
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  void set_headers(const std::vector<std::string>& lines) {
    headers = nullptr;
    // Without it the library asks for leave before it sends a large body, and waits for a second.
    add_header("Expect:");
    for (const std::string& line : lines) add_header(line.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  }
  void run();
  void finish(CURLcode code);
};

Result<void> check_url(const std::string& url) {
  const auto parsed = parse_url(url);
  const std::string scheme = parsed == nullptr ? "" : part_of(parsed.get(), CURLUPART_SCHEME);
  const bool is_sound =
      (scheme == "http" || scheme == "https") && !part_of(parsed.get(), CURLUPART_HOST).empty();
  if (is_sound && url.find("://") != std::string::npos) return {};
  return fail(ErrorCode::kInvalidArgument, "invalid address of a receiver: " + printable_url(url),
              "http://HOST:PORT/PATH or https://HOST:PORT/PATH");
}

std::string printable_url(const std::string& url) {
  const auto parsed = parse_url(url);
  if (parsed == nullptr) return url.find('@') == std::string::npos ? url : "(not shown)";
  if (part_of(parsed.get(), CURLUPART_USER).empty()) return url;
  curl_url_set(parsed.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(parsed.get(), CURLUPART_PASSWORD, nullptr, 0);
  return part_of(parsed.get(), CURLUPART_URL);
}

Result<HttpPost> HttpPost::open(const std::string& url, const std::vector<std::string>& headers,
                                const std::string& ca_file) {
  if (const auto sound = check_url(url); !sound) return tl::make_unexpected(sound.error());
  auto state = std::make_unique<State>();
  if (start_library()) {
    state->easy.reset(curl_easy_init());
    state->multi.reset(curl_multi_init());
  }
  if (state->easy == nullptr || state->multi == nullptr) {
    return fail(ErrorCode::kNoSpace, "start the HTTP client");
  }
  state->set_headers(headers);
  CURL* const easy = state->easy.get();
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  if (!ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file.c_str());
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "meterbank-agent/" METERBANK_VERSION);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // A name that is being looked up does not hold up the end of the program.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, state->error.data());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &State::on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, state.get());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &State::on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, state.get());
  return HttpPost(std::move(state));
}

HttpAnswer HttpPost::post(std::string_view body, std::chrono::milliseconds timeout) {
  State& state = *state_;
  state.answer = {};
  state.error[0] = '\0';
  CURL* const easy = state.easy.get();
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  state.run();
  return std::exchange(state.answer, {});
}

void HttpPost::State::run() {
  if (curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK) throw std::bad_alloc();
  int running = 1;
  while (running != 0 && !is_aborted.load(std::memory_order_relaxed)) {
    constexpr int kPollMs = 1000;
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) break;
    if (running != 0) curl_multi_poll(multi.get(), nullptr, 0, kPollMs, nullptr);
  }
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  finish(code);
  curl_multi_remove_handle(multi.get(), easy.get());
}

void HttpPost::State::finish(CURLcode code) {
  if (code != CURLE_OK) {
    answer = {};
    answer.error = error[0] != '\0' ? error.data() : curl_easy_strerror(code);
    if (code == CURLE_ABORTED_BY_CALLBACK) answer.error = "broken off";
    return;
  }
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy.get(), CURLINFO_RETRY_AFTER, &retry_after);
  answer.status = static_cast<std::uint32_t>(status);
  if (retry_after > 0) answer.retry_after = std::chrono::seconds(retry_after);
}

void HttpPost::use_headers(const std::vector<std::string>& headers) {
  state_->set_headers(headers);
}

void HttpPost::abort() noexcept {
  state_->is_aborted.store(true, std::memory_order_relaxed);
  curl_multi_wakeup(state_->multi.get());
}

HttpPost::HttpPost(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
HttpPost::HttpPost(HttpPost&&) noexcept = default;
HttpPost& HttpPost::operator=(HttpPost&&) noexcept = default;
HttpPost::~HttpPost() = default;

}  // namespace meterbank::push
