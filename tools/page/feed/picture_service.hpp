// SPDX-License-Identifier: Apache-2.0
//
// One thread that takes samples and makes pictures for all viewers. What several ask for is made
// once a moment.
//
// Thread safety  All functions may be called concurrently; those of a Scene are called by the
//                service's own thread alone.
// Errors         What cannot be answered is null: there was no memory for it.
// Progress       Functions do not wait for the thread. A viewer that is slow skips moments: nothing
//                is queued for it.
// Cost           A channel keeps one moment; the pictures of the last moment are kept up to
//                kShownMax. take() once an interval, and one picture a channel.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "page/feed/scene.hpp"
#include "page/feed/view_request.hpp"

namespace meterbank::page {

// A viewer that waits. Woken once, by the thread of the service.
class Sleeper {
 public:
  virtual void wake() noexcept = 0;

 protected:
  ~Sleeper() = default;
};

// What all viewers of one place get.
class Channel {
 public:
  class Moment {
   public:
    Moment(std::uint64_t of_channel, std::shared_ptr<const Shown> shown, bool plots_apart,
           std::string new_part)
        : number(of_channel),
          tail(std::move(new_part)),
          shown_(std::move(shown)),
          plots_apart_(plots_apart) {}
    // An event that needs no other one. Made when it is first asked for: viewers that keep up ask
    // once.
    [[nodiscard]] const std::string& full() const;

    const std::uint64_t number;  // counts from 1
    const std::string tail;      // an event with what is different from before; empty: use full()

   private:
    const std::shared_ptr<const Shown> shown_;
    const bool plots_apart_;
    mutable std::once_flag made_;
    mutable std::string full_;
  };

  explicit Channel(ViewRequest request) : request_(std::move(request)) {}

  // The newest moment, if it came after `seen`.
  [[nodiscard]] std::shared_ptr<const Moment> next(std::uint64_t seen) const;
  // The same. If there is none, remembers the sleeper, to be woken when one comes, when time passes
  // or when the service stops; then `sleep` is called before anything can wake it.
  [[nodiscard]] std::shared_ptr<const Moment> next_or_sleep(std::uint64_t seen, Sleeper& sleeper,
                                                            const std::function<void()>& sleep);
  void forget(Sleeper& sleeper);
  [[nodiscard]] bool has_stopped() const;

 private:
  friend class PictureService;
  void publish(std::shared_ptr<const Shown> shown);
  void wake_all(bool stops);

  const ViewRequest request_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Moment> newest_;
  std::unordered_set<Sleeper*> sleepers_;
  bool has_stopped_ = false;
  // The picture of newest_, which the next tail is compared with. Only the service's thread uses
  // it.
  std::shared_ptr<const Shown> shown_;
};

class PictureService {
 public:
  static constexpr std::size_t kChannelsMax = 256;
  static constexpr std::size_t kShownMax = 64;
  // Viewers of what does not change hear something so often, which finds those that have left.
  static constexpr std::chrono::seconds kPulse{5};

  // The scene outlives it.
  PictureService(Scene& scene, std::chrono::nanoseconds interval);
  ~PictureService() { stop(); }
  PictureService(const PictureService&) = delete;
  PictureService& operator=(const PictureService&) = delete;
  void stop();

  // Null: other viewers look at kChannelsMax other places.
  [[nodiscard]] std::shared_ptr<Channel> join(const ViewRequest& request);

  enum class Form : std::uint8_t { kJson, kSeries, kLinkOfStep };
  // Null: there is no such moment, or no memory. Called by the thread of the service.
  using Take = std::function<void(std::shared_ptr<const std::string>)>;
  void ask(ViewRequest request, Form form, Take take);

  // Counted for tests and rows of benchmarks.
  [[nodiscard]] std::uint64_t pictures_made() const;

 private:
  struct Question {
    ViewRequest request;
    Form form;
    Take take;
  };
  void run();
  void take_moment();
  void give_pulse();
  // Returns whether the picture is unfinished, so that another one is to follow.
  bool show(Channel& channel);
  void answer(const Question& question);
  std::shared_ptr<const std::string> answer_of(const Question& question);
  std::shared_ptr<const Shown> shown_of(const ViewRequest& request);
  std::vector<std::shared_ptr<Channel>> channels();

  Scene& scene_;
  const std::chrono::nanoseconds interval_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::weak_ptr<Channel>> channels_;
  std::deque<std::shared_ptr<Channel>> new_channels_;
  std::deque<Question> questions_;
  std::map<std::string, std::shared_ptr<const Shown>> shown_;  // of the moment; the thread's own
  std::uint64_t pictures_ = 0;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace meterbank::page
