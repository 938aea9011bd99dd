// SPDX-License-Identifier: Apache-2.0
//
// Question: how does what a reader pays grow with the number of instances, and of providers?
// There is no limit to compare with. The result is the exponent of the growth: at 1 the cost is
// proportional to the size.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../tests/support/temporary_directory.hpp"
#include "rows.hpp"
#include "rows/scale/reader_costs.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kInstancesEach = 10;

struct Size {
  std::size_t providers = 1, instances_each = 1;
};

// The slope of the straight line through log(size), log(cost) with the least squares.
std::string exponent(std::span<const double> sizes, std::span<const double> costs) {
  const auto points = static_cast<double>(sizes.size());
  double x_sum = 0, y_sum = 0, xx_sum = 0, xy_sum = 0;
  for (std::size_t point = 0; point < sizes.size(); ++point) {
    if (costs[point] <= 0) return "-";
    const double x = std::log(sizes[point]), y = std::log(costs[point]);
    x_sum += x;
    y_sum += y;
    xx_sum += x * x;
    xy_sum += x * y;
  }
  const double width = points * xx_sum - x_sum * x_sum;
  if (width <= 0) return "-";
  return fmt::format("n^{:.2f}", (points * xy_sum - x_sum * y_sum) / width);
}

void print_costs(std::string_view name, const std::vector<std::string>& cells,
                 std::string_view growth, std::string_view last) {
  fmt::print("{:<40}", name);
  for (const std::string& cell : cells) fmt::print(" {:>11}", cell);
  fmt::print("  {:>7}  {:>9}\n", growth, last);
}

std::string bytes_text(double bytes) {
  if (bytes < 1e4) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e7) return fmt::format("{:.1f} KiB", bytes / 1024);
  return fmt::format("{:.1f} MiB", bytes / (1024 * 1024));
}

std::string cost_text(const ReaderCost& cost) {
  if (cost.unit == "B") return bytes_text(cost.value.median);
  return value_text(cost.value.median, cost.unit);
}

// `growing` names what the sizes count.
void scale(const Effort& effort, Table& table, std::string_view growing,
           const std::vector<double>& sizes, const std::vector<Size>& shapes) {
  std::vector<std::vector<ReaderCost>> all;
  std::vector<std::string> heads;
  for (const Size& shape : shapes) {
    const test::TemporaryDirectory directory;
    const OtherProviders providers(directory.path(), shape.providers, shape.instances_each);
    all.push_back(
        reader_costs(effort, directory.path(), providers, shape.providers * shape.instances_each));
    heads.push_back(fmt::format("{:.0f}", sizes[heads.size()]));
  }
  std::printf("\n");
  print_costs(growing, heads, "growth", "last step");
  for (std::size_t step = 0; step < all.front().size(); ++step) {
    std::vector<double> values;
    std::vector<std::string> cells;
    for (std::size_t size = 0; size < all.size(); ++size) {
      const ReaderCost& cost = all[size][step];
      values.push_back(cost.value.median);
      cells.push_back(cost_text(cost));
      table.record({.name = fmt::format("{}, {} {}", cost.step, heads[size], growing),
                    .unit = std::string(cost.unit),
                    .measured = cost.value,
                    .once = cost.once,
                    .verdict = "-"});
    }
    const auto last = [](const std::vector<double>& numbers) { return std::span(numbers).last(2); };
    print_costs(all.front()[step].step, cells, exponent(sizes, values),
                exponent(last(sizes), last(values)));
  }
  std::fflush(stdout);
}

}  // namespace

void scale_rows(const Effort& effort, Table& table) {
  std::vector<double> sizes;
  std::vector<Size> shapes;
  for (const std::size_t instances : effort.scale_instances) {
    sizes.push_back(static_cast<double>(instances));
    shapes.push_back({.providers = 1, .instances_each = instances});
  }
  scale(effort, table, "instances of one provider", sizes, shapes);
  sizes.clear();
  shapes.clear();
  for (const std::size_t providers : effort.scale_providers) {
    sizes.push_back(static_cast<double>(providers));
    shapes.push_back({.providers = providers, .instances_each = kInstancesEach});
  }
  scale(effort, table, fmt::format("providers of {} instances", kInstancesEach), sizes, shapes);
}

}  // namespace meterbank::bench
