// SPDX-License-Identifier: Apache-2.0
#include "page/feed/picture_service.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "page/feed/answers.hpp"
#include "page/feed/tail.hpp"

namespace meterbank::page {

using Clock = std::chrono::steady_clock;

namespace {

// The newest values, one a unit of width of the small plots.
void shorten_trends(view::Picture& picture) {
  constexpr std::size_t kTrendMax = 120;
  for (auto& section : picture.sections) {
    for (auto& line : section.lines) {
      if (line.trend.size() <= kTrendMax) continue;
      line.trend.erase(line.trend.begin(), line.trend.end() - kTrendMax);
    }
  }
}

}  // namespace

std::shared_ptr<const Channel::Moment> Channel::next(std::uint64_t seen) const {
  const std::lock_guard lock(mutex_);
  return newest_ != nullptr && newest_->number > seen ? newest_ : nullptr;
}

std::shared_ptr<const Channel::Moment> Channel::next_or_sleep(std::uint64_t seen, Sleeper& sleeper,
                                                              const std::function<void()>& sleep) {
  const std::lock_guard lock(mutex_);
  if (newest_ != nullptr && newest_->number > seen) return newest_;
  if (has_stopped_) return nullptr;
  sleepers_.insert(&sleeper);
  sleep();
  return nullptr;
}

void Channel::forget(Sleeper& sleeper) {
  const std::lock_guard lock(mutex_);
  sleepers_.erase(&sleeper);
}

bool Channel::has_stopped() const {
  const std::lock_guard lock(mutex_);
  return has_stopped_;
}

const std::string& Channel::Moment::full() const {
  std::call_once(made_, [this] {
    full_ = event_of("picture",
                     json_of(*shown_, {.is_packed = true, .has_plot_values = !plots_apart_}));
  });
  return full_;
}

void Channel::publish(std::shared_ptr<const Shown> shown) {
  const auto tail =
      shown_ == nullptr || request_.plots_apart ? std::nullopt : tail_json(*shown_, *shown);
  auto moment = std::make_shared<Moment>(newest_ == nullptr ? 1 : newest_->number + 1, shown,
                                         request_.plots_apart,
                                         tail ? event_of("tail", *tail) : std::string());
  shown_ = std::move(shown);
  {
    const std::lock_guard lock(mutex_);
    newest_ = std::move(moment);
  }
  wake_all(false);
}

void Channel::wake_all(bool stops) {
  const std::lock_guard lock(mutex_);
  has_stopped_ = has_stopped_ || stops;
  for (Sleeper* const sleeper : std::exchange(sleepers_, {})) sleeper->wake();
}

PictureService::PictureService(Scene& scene, std::chrono::nanoseconds interval)
    : scene_(scene), interval_(interval), thread_([this] { run(); }) {}

void PictureService::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  for (const auto& channel : channels()) channel->wake_all(true);
  std::deque<Question> left;
  {
    const std::lock_guard lock(mutex_);
    left.swap(questions_);
  }
  for (const auto& question : left) question.take(nullptr);
}

std::shared_ptr<Channel> PictureService::join(const ViewRequest& request) {
  const std::string key = request.key() + (request.plots_apart ? " apart" : "");
  const std::lock_guard lock(mutex_);
  auto known = channels_.find(key);
  if (known != channels_.end()) {
    if (auto channel = known->second.lock()) return channel;
    channels_.erase(known);
  }
  if (channels_.size() >= kChannelsMax) {
    std::erase_if(channels_, [](const auto& entry) { return entry.second.expired(); });
    if (channels_.size() >= kChannelsMax) return nullptr;
  }
  auto channel = std::make_shared<Channel>(request);
  channel->has_stopped_ = is_stopped_;
  channels_.emplace(key, channel);
  new_channels_.push_back(channel);
  changed_.notify_one();
  return channel;
}

void PictureService::ask(ViewRequest request, Form form, Take take) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_stopped_) {
      questions_.push_back({std::move(request), form, std::move(take)});
      changed_.notify_one();
      return;
    }
  }
  take(nullptr);
}

std::uint64_t PictureService::pictures_made() const {
  const std::lock_guard lock(mutex_);
  return pictures_;
}

std::vector<std::shared_ptr<Channel>> PictureService::channels() {
  std::vector<std::shared_ptr<Channel>> alive;
  const std::lock_guard lock(mutex_);
  std::erase_if(channels_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [key, channel] : channels_) {
    if (auto held = channel.lock()) alive.push_back(std::move(held));
  }
  return alive;
}

void PictureService::run() {
  auto moment = Clock::now();
  auto pulse = moment + kPulse;
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    const auto now = Clock::now();
    if (now >= moment && scene_.is_live()) {
      lock.unlock();
      take_moment();
      lock.lock();
      // A moment that was worked through is missed, and the later ones stay where they are.
      while (moment <= Clock::now()) moment += interval_;
      continue;
    }
    if (!questions_.empty()) {
      const Question question = std::move(questions_.front());
      questions_.pop_front();
      lock.unlock();
      answer(question);
      lock.lock();
      continue;
    }
    if (!new_channels_.empty()) {
      const auto channel = std::move(new_channels_.front());
      new_channels_.pop_front();
      lock.unlock();
      const bool is_unfinished = show(*channel);
      lock.lock();
      if (is_unfinished && channel.use_count() > 1) new_channels_.push_back(channel);
      continue;
    }
    if (now >= pulse) {
      lock.unlock();
      give_pulse();
      lock.lock();
      pulse = Clock::now() + kPulse;
      continue;
    }
    changed_.wait_until(lock, scene_.is_live() ? std::min(moment, pulse) : pulse);
  }
}

void PictureService::take_moment() {
  shown_.clear();
  try {
    scene_.take();
    for (const auto& channel : channels()) {
      // What was at a moment of the past does not change.
      const bool is_past = channel->shown_ != nullptr && channel->shown_->picture.is_frozen;
      if (!is_past) show(*channel);
    }
  } catch (const std::bad_alloc&) {  // the next moment may have memory
  }
}

void PictureService::give_pulse() {
  try {
    for (const auto& channel : channels()) channel->wake_all(false);
  } catch (const std::bad_alloc&) {  // viewers wait for the next one
  }
}

bool PictureService::show(Channel& channel) {
  try {
    auto shown = shown_of(channel.request_);
    const bool is_unfinished = shown->picture.is_unfinished;
    channel.publish(std::move(shown));
    return is_unfinished;
  } catch (const std::bad_alloc&) {
    // Its viewers go on looking at the moment before.
    return false;
  }
}

std::shared_ptr<const Shown> PictureService::shown_of(const ViewRequest& request) {
  const std::string key = request.key();
  const auto known = shown_.find(key);
  if (known != shown_.end() && !known->second->picture.is_unfinished) return known->second;
  auto made = scene_.picture(request.place, request.window);
  shorten_trends(made.picture);
  auto shown = std::make_shared<const Shown>(std::move(made));
  if (shown_.size() >= kShownMax) shown_.clear();
  shown_.insert_or_assign(key, shown);
  const std::lock_guard lock(mutex_);
  ++pictures_;
  return shown;
}

void PictureService::answer(const Question& question) {
  std::shared_ptr<const std::string> text;
  try {
    text = answer_of(question);
  } catch (const std::bad_alloc&) {
    text = nullptr;
  }
  question.take(std::move(text));
}

std::shared_ptr<const std::string> PictureService::answer_of(const Question& question) {
  const ViewRequest& request = question.request;
  switch (question.form) {
    case Form::kJson:
      return std::make_shared<const std::string>(
          json_of(*shown_of(request), {.has_plot_values = !request.plots_apart}));
    case Form::kSeries:
      return std::make_shared<const std::string>(series_of(*shown_of(request)));
    case Form::kLinkOfStep:
      break;
  }
  std::optional<std::uint64_t> moment = request.place.at_ns;
  if (request.step == Step::kEarlier) moment = scene_.moment_before(request.place.at_ns);
  if (request.step == Step::kLater) {
    moment = request.place.at_ns ? scene_.moment_after(*request.place.at_ns) : std::nullopt;
  }
  if (!moment) return nullptr;
  view::Place place = request.place;
  place.at_ns = moment;
  return std::make_shared<const std::string>(view::link_of(place));
}

}  // namespace meterbank::page
