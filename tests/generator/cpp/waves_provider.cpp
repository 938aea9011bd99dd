// SPDX-License-Identifier: Apache-2.0
//
// The waves of a CTRPP manifest, published by a program of our own: rows that are computed when
// a reader asks, and an instance whose values are set together. Says "loaded", and ends when it is
// told to.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "waves.hpp"

namespace {

using namespace std::chrono;

struct Wave {
  std::string_view name;
  std::uint32_t minimum, amplitude;
};
constexpr std::array kWaves{Wave{"Small Wave", 40, 20}, Wave{"Medium Wave", 30, 40},
                            Wave{"Large Wave", 20, 60}};

std::array<std::uint64_t, waves::kGeometricWaveCounters.size()> values_of(const Wave& wave,
                                                                          std::uint64_t second) {
  const std::uint64_t index = second % 10;
  const std::uint64_t steps = index < 5 ? 5 - index : index - 5;
  std::array<std::uint64_t, waves::kGeometricWaveCounters.size()> values{};
  const auto at = [&values](waves::GeometricWaveCounter counter) -> std::uint64_t& {
    return values[static_cast<std::size_t>(counter)];
  };
  at(waves::GeometricWaveCounter::kTriangleWave) = wave.minimum + wave.amplitude * steps / 5;
  at(waves::GeometricWaveCounter::kSquareWave) = wave.minimum + (index < 5 ? wave.amplitude : 0);
  return values;
}

std::uint32_t add_waves(meterbank::CallbackRequest& request) {
  const auto now = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
  std::uint32_t id = 0;
  for (const Wave& wave : kWaves) {
    request.add(wave.name, id++, values_of(wave, static_cast<std::uint64_t>(now)));
  }
  return 0;
}

template <typename T>
T or_exit(meterbank::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}

}  // namespace

int main() {
  auto provider =
      or_exit(meterbank::Provider::create({.name = std::string(waves::GeometricWave::kProvider)}));
  const auto geometric = or_exit(waves::GeometricWave::add(provider, add_waves));
  const auto trigonometric = or_exit(waves::TrigonometricWave::add(provider));
  auto circle = or_exit(trigonometric.create());
  const auto turn = [&circle](double angle) {
    circle.update([angle](waves::TrigonometricWaveUpdate& row) noexcept {
      row.set_constant_value(50);
      row.set_cosine_wave(static_cast<std::uint32_t>(50 + 30 * std::cos(angle)));
      row.set_sine_wave(static_cast<std::uint32_t>(50 + 30 * std::sin(angle)));
    });
  };
  turn(0);
  std::puts("loaded");
  std::fflush(stdout);
  for (double angle = 0;; angle += 0.01) {
    turn(angle);
    std::this_thread::sleep_for(milliseconds(10));
  }
}
