// SPDX-License-Identifier: Apache-2.0
//
//   request_seeds DIRECTORY
//
// Writes headers, parameters, settings and names, as inputs to begin with.
#include <array>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr std::array kInputs{
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
      "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      "gzip;q=0.5, zstd, x-gzip, identity;q=0",
      "set=demo*\ninstance=eu\nprovider=orders\nname[]=x_*\nshard=1/4\nbuckets=0.1,1,1e3",
      "dir = \"/run\"\ntrust = \"root\"\ntimeout_ms = 5\npaths = [\"a/b\"]\n[exporter]\n"
      "compress = \"never\"\nlisten = \"[::1]:1\"\n",
      "[[rule]]\nset = \"a\"\ncounter = \"b\"\nname = \"c\"\n[[rule]]\nlabel = \"d\"\n"
      "[[rule]]\ndrop = true\nhelp = \"e\"\n",
      "say \"hi\" \\ \xc3\xbc \xff \x01",
      "% Bytes Received/sec"};
  int number = 0;
  for (const char* const input : kInputs) {
    std::ofstream(std::string(argv[1]) + "/request-" + std::to_string(number++)) << input;
  }
  return 0;
}
