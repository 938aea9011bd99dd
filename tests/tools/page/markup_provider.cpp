// SPDX-License-Identifier: Apache-2.0
//
// A provider whose words are markup. A page that took one of them for more than text would set
// `document.title` to "taken". Ends with its standard input.
#include <array>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "meterbank/publisher.hpp"

namespace {

using meterbank::CounterSpec;
using meterbank::CounterType;

constexpr const char* kImage = "<img src=x onerror=\"document.title='taken'\">";
constexpr const char* kScript = "</script><script>document.title='taken'</script>";

enum class Markup : std::uint32_t { kCount, kText, kTime };

constexpr std::array kCounters{
    CounterSpec{
        .id = 1, .name = kScript, .symbol = "a_count", .unit = "{<i>x</i>}", .help = kImage},
    CounterSpec{.id = 2,
                .name = kImage,
                .symbol = "b_text",
                .type = CounterType::kText,
                .help = kScript,
                .form = meterbank::ValueForm::kText,
                .text_bytes = 64},
    CounterSpec{.id = 3,
                .name = "<b>Time</b>",
                .symbol = "c_time",
                .unit = "s",
                .help = "' onmouseover='document.title=1",
                .form = meterbank::ValueForm::kDistribution,
                .buckets = {.scale = 3, .least = 1e-3, .most = 10}}};
constexpr meterbank::CountersetSpec kSet{.name = kImage,
                                         .symbol = "markup",
                                         .help = kScript,
                                         .label = "<u>label</u>",
                                         .counters = kCounters};

}  // namespace

int main() {
  auto provider = meterbank::Provider::create({.name = "markup"});
  auto set = provider ? provider->add(kSet) : tl::make_unexpected(provider.error());
  auto instance = set ? set->create_instance(kImage) : tl::make_unexpected(set.error());
  if (!instance) {
    std::cerr << instance.error().message() << '\n';
    return 3;
  }
  instance->text(Markup::kText).set(kScript);
  std::jthread counting([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      instance->add(Markup::kCount, 1U);
      instance->recorder(Markup::kTime).record(0.02);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}
