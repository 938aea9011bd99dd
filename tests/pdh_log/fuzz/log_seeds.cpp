// SPDX-License-Identifier: Apache-2.0
//
//   log_seeds DIRECTORY
//
// Writes text logs as inputs to begin with: both formats, with and without what may be left out.
#include <fstream>
#include <string>

#include "meterbank/pdh_log/log_format.hpp"

int main(int argc, char** argv) {
  using namespace meterbank;
  if (argc != 2) return 2;
  const LogTime time = parse_log_time("11/21/2026 09:04:39.002").value_or(LogTime());
  for (const auto format : {LogFormat::kCsv, LogFormat::kTsv}) {
    const LogHeader header{format,
                           LogZone{"Mitteleuropa (MEZ)", -60},
                           {R"(\\vm\Shop(a "quoted", name)\Sold/sec)", R"(\\vm\Memory\% Used)"}};
    const auto rows = print_log_record(format, {time, {"", "1.5"}}) +
                      print_log_record(format, {time, {"7.4120356", "-1e+22"}});
    const std::string place =
        std::string(argv[1]) + (format == LogFormat::kCsv ? "/csv-" : "/tsv-");
    const auto write = [&place](const char* name, const std::string& text) {
      std::ofstream(place + name, std::ios::binary) << text;
    };
    write("whole", print_log_header(header) + rows);
    write("marked", "\xEF\xBB\xBF" + print_log_header(header) + "\r\n" + rows);
    write("zoneless", print_log_header({format, {}, header.paths}) + rows);
    write("empty", print_log_header({format, LogZone{"UTC", 0}, {}}));
    write("cut", (print_log_header(header) + rows).substr(0, 150));
  }
  return 0;
}
