// SPDX-License-Identifier: Apache-2.0
//
// What reaches a terminal: every verb and format is run against providers, files and arguments each
// field of which is hostile, and no output may hold a byte that a terminal obeys or that makes a
// line read other than it is. The same programs with the cleaning taken out must be caught in every
// field.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "hostile_text.hpp"
#include "hostile_world.hpp"
#include "program.hpp"
#if defined(METERBANK_PMUD)
#include "pmud_process.hpp"
#endif

namespace meterbank::test {
namespace {

struct Programs {
  std::string cli = METERBANK_CLI;
  std::string gen = METERBANK_GEN;
#if defined(METERBANK_PMUD)
  std::string pmud = METERBANK_PMUD;
#endif
};

Programs uncleaned() {
  Programs programs{METERBANK_UNCLEANED_CLI, METERBANK_UNCLEANED_GEN};
#if defined(METERBANK_PMUD)
  programs.pmud = METERBANK_UNCLEANED_PMUD;
#endif
  return programs;
}

using Words = std::vector<std::string>;

struct Command {
  std::string program;
  Words words;
  bool is_terminal = false;
  std::string keys = {};
};

std::string text_of(const Command& command) {
  std::string text = command.program;
  for (const auto& word : command.words) text += " " + escape_for_terminal(word);
  return text + (command.is_terminal ? " (on a terminal)" : "");
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// In all formats that a verb has, and as a table on a terminal.
void add_formats(std::vector<Command>& commands, const Programs& programs, const Words& words,
                 const Words& formats) {
  for (const auto& format : formats) {
    auto all = words;
    all.insert(all.end(), {"-f", format});
    commands.push_back({programs.cli, std::move(all)});
  }
  commands.push_back({programs.cli, words, true});
}

const Words kListFormats{"table", "plain", "tsv", "csv", "json", "jsonl"};
const Words kRowFormats{"table",  "plain",   "tsv",     "csv",        "json",
                        "jsonl",  "pdh-csv", "pdh-tsv", "prometheus", "openmetrics",
                        "influx", "statsd",  "collectd"};

void add_reading_verbs(std::vector<Command>& commands, const Programs& programs,
                       HostileWorld& world) {
  const Words dir{"--dir", world.directory()};
  const auto with_dir = [&](Words words) {
    words.insert(words.end(), dir.begin(), dir.end());
    return words;
  };
  for (const Words& words :
       {Words{"list"}, Words{"list", "--providers"}, Words{"list", "-l"},
        Words{"list", "--instances"}, Words{"list", "--registrations"}, Words{"list", "*"}}) {
    add_formats(commands, programs, with_dir(words), kListFormats);
  }
  commands.push_back({programs.cli, with_dir({"list", "-l"})});
  add_formats(commands, programs, with_dir({"get", "-i", "10ms"}), kRowFormats);
  add_formats(commands, programs, with_dir({"get", "--raw", "-i", "10ms"}), kRowFormats);
  add_formats(commands, programs, with_dir({"get", "-p", "50", "-n", "2", "-i", "10ms"}),
              {"table", "csv"});
  commands.push_back({programs.cli, with_dir({"get", "--hist", "-i", "10ms"})});
  commands.push_back({programs.cli, with_dir({"get", "--hist", "-i", "10ms", "-f", "json"})});
  commands.push_back({programs.cli, with_dir({"get", "--units", "base", "-i", "10ms"})});
  commands.push_back(
      {programs.cli, with_dir({"get", "-i", "10ms", "-e", "all = sum({*/*/asked})"})});
  commands.push_back({programs.cli, with_dir({"get", world.hostile("F30")})});
  commands.push_back({programs.cli, with_dir({"get", world.hostile("F30") + "/a/b"})});
  commands.push_back({programs.cli, with_dir({"get", "-e", world.hostile("F30")})});
  commands.push_back({programs.cli, with_dir({"get", "--provider", world.hostile("F30")})});
  commands.push_back({programs.cli, with_dir({"get", "--" + world.hostile("F30")})});
  commands.push_back({programs.cli, {"list", "--dir", "/" + world.hostile("F38")}});
  commands.push_back({programs.cli, {"doctor", "--dir", "/" + world.hostile("F38")}});
  // Down through all rows, details shown, then each way of looking at them.
  commands.push_back({programs.cli, with_dir({"watch", "-i", "100ms"}), true,
                      std::string(24, 'j') + "rjjjjrejjdsskk?k?/F1\rq"});
  commands.push_back({programs.cli, with_dir({"watch", "-i", "100ms"}), true, "jjjjjjq"});
  commands.push_back({programs.cli, with_dir({"watch", "-n", "1", "-f", "csv"})});
  commands.push_back({programs.cli, with_dir({"typeperf", "-q"})});
  commands.push_back({programs.cli, with_dir({"typeperf", "-qx"})});
  commands.push_back({programs.cli, with_dir({"typeperf", "-q", world.hostile("F30")})});
  commands.push_back({programs.cli, with_dir({"typeperf", R"(\*(*)\*)", "-sc", "1"})});
  commands.push_back({programs.cli, with_dir({"typeperf", R"(\*(*)\*)", "-sc", "1", "-f", "TSV"})});
  commands.push_back({programs.cli, with_dir({"doctor"})});
  commands.push_back({programs.cli, with_dir({"doctor"}), true});
  commands.push_back({programs.cli, with_dir({world.hostile("F31")})});
  commands.push_back({programs.cli, {"help", world.hostile("F31")}});
  commands.push_back({programs.cli, {"help"}});
  commands.push_back({programs.cli, {"version", world.hostile("F31")}});
  commands.push_back(
      {programs.cli, {"host", "--name", world.hostile("F31"), "--dir", "/proc/nowhere"}});
  commands.push_back({programs.cli, with_dir({"demo", "-n", "1", "-i", "10ms"})});
  commands.push_back({programs.cli, with_dir({"demo", world.hostile("F31")})});
}

// What was recorded of hostile providers, and what a file claims to be.
void add_recordings(std::vector<Command>& commands, const Programs& programs, HostileWorld& world) {
  const auto recording = world.write("seed", "") + ".mbr";
  const auto named = world.write(world.hostile_file_name("F32") + ".mbr", "no recording");
  commands.push_back(
      {programs.cli,
       {"record", "-o", recording, "-n", "3", "-i", "10ms", "--dir", world.directory()}});
  for (const Words& words : {Words{"list"}, Words{"list", "--providers"}, Words{"list", "-l"},
                             Words{"list", "--instances"}}) {
    auto all = words;
    all.insert(all.end(), {"--log", recording});
    add_formats(commands, programs, all, kListFormats);
  }
  add_formats(commands, programs, {"get", "--log", recording, "-i", "10ms"}, kRowFormats);
  add_formats(commands, programs, {"log", "convert", recording},
              {"csv", "jsonl", "pdh-csv", "openmetrics"});
  add_formats(commands, programs, {"log", "info", recording}, kListFormats);
  for (const Words& words :
       {Words{"log", "check", recording},
        Words{"log", "info", named},
        Words{"log", "check", named},
        Words{"log", world.hostile("F37")},
        Words{"log", "info", "/" + world.hostile("F38")},
        Words{"log", "merge", recording, "-o", recording + "7"},
        Words{"log", "merge", named, recording, "-o", "/proc/" + world.hostile("F38") + "/x"},
        Words{"log", "save", recording, "-o", recording + "4"},
        Words{"log", "save", named, "-o", "/proc/" + world.hostile("F38") + "/x"},
        Words{"check", "*/*/* > 0", "--log", recording, "--from", "@0"},
        Words{"check", "*/*/* > 0", "--log", recording, "-f", "json"},
        Words{"check", "*/*/* > 0", "-i", "10ms"},
        Words{"check", "*/*/* == '" + world.hostile("F30") + "'", "-i", "10ms"},
        Words{"check", world.hostile("F30") + " > 0", "-i", "10ms"},
        Words{"check", "{" + world.hostile("F30") + "} > 0"},
        Words{"check", world.hostile("F30")},
        Words{"check", "--stale", "1ns"},
        Words{"record", "-o", recording + "5/", "-n", "2", "-i", "10ms", "--when", "*/*/* > 0"},
        Words{"record", "-o", recording + "6/", "-n", "2", "-i", "10ms", "--when",
              world.hostile("F30") + " > 0"},
        Words{"get", "--log", recording, "--at", world.hostile("F30")},
        Words{"get", "--log", recording, world.hostile("F30")},
        Words{"watch", "--log", recording, "-n", "1"},
        Words{"diff", recording, recording},
        Words{"diff", recording, named},
        Words{"diff", recording, recording, "--a", world.hostile("F30") + "..", "--all"},
        Words{"record", "-o", recording + "2", "-n", "1", "-i", "10ms", "--rate",
              world.hostile("F30") + "=1"},
        Words{"record", "-o", "/proc/" + world.hostile("F38") + "/x"},
        Words{"record", "-o", recording + "3", "-n", "1", "-i", "10ms", world.hostile("F30")}}) {
    commands.push_back({programs.cli, words});
  }
}

// meterbank-agent and meterbank-view say what is wrong with options and files, and end.
void add_agent(std::vector<Command>& commands, const Programs& programs, HostileWorld& world) {
  const auto settings = world.write("agent.toml", "dir = 1\n" + world.hostile("F33") + " = 2\n");
  for (const Words& words :
       {Words{"--" + world.hostile("F30")}, Words{"--listen", world.hostile("F30")},
        Words{"--prefix", world.hostile("F30")}, Words{"--trust", world.hostile("F30")},
        Words{"--config", "/" + world.hostile("F38")}, Words{"--config", settings, "--check"},
        Words{"--listen", "127.0.0.1:0", "a/b/c/d/" + world.hostile("F30")}}) {
    auto all = words;
    all.insert(all.begin(), "serve");
    commands.push_back({programs.cli, std::move(all)});
  }
  for (const std::string& text : {world.hostile("F30"), "otlp=" + world.hostile("F30"),
                                  "otlp=http://127.0.0.1:1/" + world.hostile("F38")}) {
    commands.push_back({programs.cli, {"push", text, "--once"}});
  }
  for (const auto* option : {"--port", "-i", "--log", "--for"}) {
    commands.push_back({programs.cli, {"view", option, world.hostile("F30")}});
  }
  commands.push_back({programs.cli, {"view", "--" + world.hostile("F30")}});
}

void add_logs(std::vector<Command>& commands, const Programs& programs, HostileWorld& world) {
  auto path = world.hostile("F33");
  auto zone = world.hostile("F34");
  for (auto* text : {&path, &zone}) {
    std::erase(*text, '\0');
    std::erase(*text, '\n');
  }
  const auto name = world.hostile_file_name("F32");
  const auto header = "\"(PDH-CSV 4.0) (" + zone + ")(0)\",\"\\\\m\\" + path + "\",\"=1+1\"\r\n";
  const auto good =
      world.write("good.csv", header + "\"11/21/2026 09:04:39.002\",\"1\",\"-2\"\r\n");
  const auto named =
      world.write(name, header + "\"11/21/2026 09:04:39.002\",\"1\",\"" + path + "\"\r\n");
  const auto bad_time = world.write("time.csv", header + "\"" + path + "\",\"1\",\"2\"\r\n");
  for (const Words& words :
       {Words{good}, Words{good, "-q"}, Words{good, "-f", "tsv"}, Words{named}, Words{named, "-q"},
        Words{bad_time}, Words{good, bad_time}, Words{good, "-c", world.hostile("F30")},
        Words{"/" + name}, Words{good, "-o", named}, Words{good, "-b", world.hostile("F30")}}) {
    auto all = words;
    all.insert(all.begin(), "relog");
    commands.push_back({programs.cli, std::move(all)});
  }
}

// Spelled so that the reader of the manifest lets it pass.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c >= 0 && (c < ' ' || c == '\x7f' || c == '"' || c == '\\')) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string manifest_with(const std::string& help) {
  return "[provider]\nname = \"orders\"\nsymbol = \"orders\"\n\n[[counterset]]\nname = "
         "\"Orders\"\nsymbol = \"orders\"\n"
         "help = " +
         help +
         "\n\n[[counterset.counter]]\nid = 1\nname = \"Accepted\"\n"
         "symbol = \"accepted\"\ntype = \"bulk_count\"\nhelp = " +
         help + "\n";
}

void add_generator(std::vector<Command>& commands, const Programs& programs, HostileWorld& world) {
  const auto file = world.hostile_file_name("F35");
  const auto word = world.hostile("F36");
  const auto toml = "schema = 1\n[provider]\nname = " + toml_string(word) +
                    "\nguid = " + toml_string(word) + "\n";
  const std::string xml = "<instrumentationManifest xmlns=\"" + word + "\"><" + word + " a=\"" +
                          word + "\"/></instrumentationManifest>\n";
  const auto help = world.write("help.toml", manifest_with(toml_string(world.hostile("F48"))));
  for (const char* const output : {"--markdown", "--man", "--migrate", "--rules", "--dashboard"}) {
    commands.push_back({programs.gen, {help, output, "-"}});
  }
  const Words files{world.write(file + ".toml", toml), world.write("words.toml", toml),
                    world.write(file + ".man", xml), world.write("words.man", xml), "/" + file};
  for (const auto& manifest : files) {
    commands.push_back({programs.gen, {manifest, "--check"}});
    commands.push_back({programs.cli, {"gen", manifest, "--markdown", "-"}});
  }
  commands.push_back({programs.gen, {"--" + world.hostile("F46")}});
  commands.push_back({programs.gen, {"--print-template", world.hostile("F46")}});
}

void add_pmu_words(std::vector<Command>& commands, const Programs& programs, HostileWorld& world) {
  commands.push_back({programs.cli, {"pmu", world.hostile("F37")}});
  commands.push_back({programs.cli, {"pmu", "run", "-e", world.hostile("F37"), "--", "true"}});
  commands.push_back({programs.cli, {"pmu", "leases", "--dir", "/" + world.hostile("F38")}});
}

#if defined(METERBANK_PMUD)
void add_arbiter(std::vector<Command>& commands, const Programs& programs, HostileWorld& world) {
  const auto policy = world.write(world.hostile_file_name("F40"), world.hostile("F41") + "\n");
  const auto plain = world.write(
      "policy", "[[rule]]\nuser = " + toml_string(world.hostile("F41")) + "\nallow = []\n");
  const auto keyed = world.write("keyed", toml_string(world.hostile("F41")) + " = 1\n");
  const auto topology = world.write(world.hostile_file_name("F42"), world.hostile("F43") + "\n");
  const auto pmu = world.write("topology", "[[pmu]]\nname = " + toml_string(world.hostile("F43")) +
                                               "\ncpus = \"0\"\ngeneral = 1\n");
  for (const Words& words :
       {Words{"--check-policy", policy}, Words{"--check-policy", plain},
        Words{"--check-policy", keyed}, Words{"--check-policy", "/" + world.hostile("F40")},
        Words{"--simulate", topology, "--dir", "/proc/nowhere"},
        Words{"--simulate", pmu, "--dir", "/proc/nowhere"}, Words{"--" + world.hostile("F44")},
        Words{"--simulate", "/" + world.hostile("F42")}}) {
    commands.push_back({programs.pmud, words});
  }
}

void add_leases(std::vector<Command>& commands, const Programs& programs, const PmudProcess& pmud,
                HostileWorld& world) {
  const auto with_dir = [&](Words words) {
    words.insert(words.begin() + 2, {"--dir", pmud.directory()});
    return words;
  };
  for (const Words& words : {Words{"pmu", "list"}, Words{"pmu", "leases"},
                             Words{"pmu", "leases", "-q", "-v"}, Words{"pmu", "who"}}) {
    add_formats(commands, programs, with_dir(words), kListFormats);
  }
  for (const Words& words :
       {Words{"pmu", "list", world.hostile("F37")}, Words{"pmu", "who", world.hostile("F37")},
        Words{"pmu", "run", "-e", "cycles", "--cpus", "1", "--", "true", world.hostile("F37")},
        Words{"pmu", "hold", "-e", "r82", "--cpus", "0", "--for", "1ms"},
        Words{"pmu", "hold", "-e", "r82", "--cpus", "1", "--for", "1ms"},
        Words{"pmu", "hold", "99", "--label", world.hostile("F47"), "--for", "1ms"},
        Words{"pmu", "revoke", world.hostile("F37")}}) {
    commands.push_back({programs.cli, with_dir(words)});
  }
}
#endif

// What a person sees, without "\r".
std::string without_drawing(const std::string& text) {
  static const std::regex kDrawing("\x1b\\[\\??[0-9]*[a-zA-Z]|\r");
  return std::regex_replace(text, kDrawing, "");
}

// Runs everything; `look` is shown each output.
void run_everything(const Programs& programs, const std::string& group,
                    const std::function<void(const Command&, const Ended&)>& look) {
  HostileWorld world(group);
  std::vector<Command> commands;
  add_reading_verbs(commands, programs, world);
  add_logs(commands, programs, world);
  add_recordings(commands, programs, world);
  add_agent(commands, programs, world);
  add_generator(commands, programs, world);
  add_pmu_words(commands, programs, world);
#if defined(METERBANK_PMUD)
  add_arbiter(commands, programs, world);
  const PmudProcess pmud;
  // The name of a process is that of its file, and is published by the arbiter.
  auto name = world.hostile_file_name("F45");
  const auto holder = pmud.directory() + "/" + name;
  static_cast<void>(!::symlink(METERBANK_CLI, holder.c_str()));
  const Background hold(holder,
                        {"pmu", "hold", "-e", "r80,r81", "--cpus", "0", "--dir", pmud.directory()});
  EXPECT_NE(hold.said(), "");
  // Refused at once where the label has control characters.
  const Background labelled(METERBANK_CLI,
                            {"pmu", "hold", "-e", "r80,r81", "--cpus", "1", "--label",
                             world.hostile("F47"), "--dir", pmud.directory()});
  add_leases(commands, programs, pmud, world);
#endif
  for (const auto& command : commands) {
    look(command, command.is_terminal
                      ? run_on_terminal(command.program, command.words, command.keys)
                      : run_on_pipes(command.program, command.words));
  }
}

constexpr std::size_t kControls = 0;  // in hostile_groups()
constexpr std::size_t kReordering = 5;

class TerminalOutput : public ::testing::TestWithParam<std::size_t> {};

TEST_P(TerminalOutput, HoldsNoForeignByteThatATerminalObeys) {
  std::string everything;
  run_everything({}, hostile_groups()[GetParam()], [&](const Command& command, const Ended& ended) {
    EXPECT_EQ(first_danger(ended.out, command.is_terminal), "") << text_of(command);
    EXPECT_EQ(first_danger(ended.err, false), "") << text_of(command);
    EXPECT_GE(ended.code, 0) << text_of(command);
    everything += ended.out + ended.err;
  });
  for (const auto& field : foreign_fields()) {
    const bool is_shown = everything.find(field.tag) != std::string::npos;
    if (field.is_refusable && !is_shown) continue;
    EXPECT_EQ(is_shown, field.is_printed) << field.tag << ": " << field.what;
  }
}

INSTANTIATE_TEST_SUITE_P(EachGroup, TerminalOutput,
                         ::testing::Range(std::size_t{0}, hostile_groups().size()));

// The negative control.
TEST(UncleanedOutput, IsFoundInEveryField) {
  std::set<std::string_view> found;
  for (const auto& [group, begin] : {std::pair(kControls, "<\x1b"), {kReordering, "<\u202e"}}) {
    const auto look = [&found, begin = begin](const Command&, const Ended& ended) {
      for (const auto& field : foreign_fields()) {
        const auto raw = std::string(field.tag) + begin;
        const auto in_markdown = std::string(field.tag) + "\\" + begin;
        for (const auto* text : {&ended.out, &ended.err}) {
          const bool is_there =
              text->find(raw) != std::string::npos || text->find(in_markdown) != std::string::npos;
          if (!is_there) continue;
          EXPECT_NE(first_danger(*text, true), "");
          found.insert(field.tag);
        }
      }
    };
    run_everything(uncleaned(), hostile_groups()[group], look);
  }
  for (const auto& field : foreign_fields()) {
    const bool is_found = found.contains(field.tag);
    // A screen replaces by itself what it cannot draw.
    if (field.is_refusable && !is_found) continue;
    EXPECT_EQ(is_found, field.is_printed) << field.tag << ": " << field.what;
  }
}

// Sources are for compilers, and keep every character but those that make a line read other than it
// is compiled.
TEST(GeneratedSource, HoldsNoControlAndNoReorderingCharacter) {
  HostileWorld world(hostile_groups()[kReordering]);
  const auto manifest = world.write("help.toml", manifest_with(toml_string(world.hostile("F48"))));
  for (const char* const output : {"--cpp", "--code", "--symbols", "--resources"}) {
    const auto ended = run_on_pipes(METERBANK_GEN, {manifest, output, "-"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(first_danger(ended.out, false), "") << output;
  }
}

// A letter in UTF-8 may have a byte that is a control character to a terminal of Latin-1.
TEST(TerminalWithoutUtf8, GetsAsciiOnly) {
  HostileWorld world("<\u015b<\u00e9<\u4e2d<\U0001F600<");
  std::vector<Command> commands;
  add_reading_verbs(commands, {}, world);
  std::string everything;
  for (const auto& command : commands) {
    if (!command.is_terminal) continue;
    const auto shown = run_on_terminal(command.program, command.words, command.keys, {}, "C").out;
    EXPECT_EQ(std::ranges::count_if(shown, [](char c) { return c < 0; }), 0) << text_of(command);
    everything += shown;
  }
  EXPECT_NE(everything.find("F16<\\u{15b}<\\u{e9}"), std::string::npos);
}

TEST(NarrowTerminal, CutsNamesAndNoLineIsLonger) {
  HostileWorld world(hostile_groups()[kReordering]);
  for (const TerminalSize size : {TerminalSize{80}, TerminalSize{132}}) {
    for (const Words& words :
         {Words{"list"}, Words{"list", "-l"}, Words{"list", "--instances"}, Words{"list", "*"},
          Words{"list", "--providers"}, Words{"get", "-i", "10ms"}, Words{"doctor"}}) {
      auto all = words;
      all.insert(all.end(), {"-q", "--dir", world.directory()});
      const auto shown = run_on_terminal(METERBANK_CLI, all, {}, size).out;
      std::istringstream lines(without_drawing(shown));
      for (std::string line; std::getline(lines, line);) {
        // A message, and the heading of a block, is no row of a table.
        if (line.starts_with("meterbank: ") || line.starts_with('\\')) continue;
        EXPECT_LE(count_code_points(line), size.columns) << words.front() << ": " << line;
      }
    }
  }
}

// ---- Nothing is forgotten ----

std::set<std::string> verbs_of_the_program() {
  const auto help = run_on_pipes(METERBANK_CLI, {"help"}).out;
  static const std::regex kVerb("\n(?:[A-Z][a-z]+ +| {8})([a-z]+) {2,}[a-z]");
  std::set<std::string> verbs;
  const auto table = help.substr(0, help.find("\n\nWith every verb"));
  for (std::sregex_iterator each(table.begin(), table.end(), kVerb), end; each != end; ++each) {
    verbs.insert((*each)[1]);
  }
  return verbs;
}

TEST(TriedCommands, AreOfEveryVerbThatTheProgramHas) {
  HostileWorld world(hostile_groups()[0]);
  std::vector<Command> commands;
  add_reading_verbs(commands, {}, world);
  add_logs(commands, {}, world);
  add_recordings(commands, {}, world);
  add_agent(commands, {}, world);
  add_generator(commands, {}, world);
  add_pmu_words(commands, {}, world);
  std::set<std::string> tried;
  for (const auto& command : commands) {
    if (command.program == METERBANK_CLI) tried.insert(command.words.front());
  }
  const auto verbs = verbs_of_the_program();
  EXPECT_GE(verbs.size(), 12U);
  for (const auto& verb : verbs) {
    EXPECT_TRUE(tried.contains(verb)) << "add commands of the verb " << verb;
  }
}

TEST(TriedFields, AreThoseOfTheSchema) {
  const auto header = read_file(METERBANK_SCHEMA_LAYOUT);
  static const std::regex kRecord("struct (\\w+) \\{\n([^]*?)\n\\};");
  static const std::regex kText("TextRef (\\w+);");
  std::set<std::string> texts;
  for (std::sregex_iterator record(header.begin(), header.end(), kRecord), end; record != end;
       ++record) {
    const std::string members = (*record)[2];
    for (std::sregex_iterator text(members.begin(), members.end(), kText); text != end; ++text) {
      texts.insert((*record)[1].str() + "::" + (*text)[1].str());
    }
  }
  std::set<std::string> tried;
  for (const auto& field : foreign_fields()) {
    if (field.what.find("::") != std::string_view::npos) tried.emplace(field.what);
  }
  EXPECT_EQ(texts, tried);
  EXPECT_EQ(texts.size(), 8U);
}

// A checker that finds nothing proves nothing.
TEST(FirstDanger, FindsEachHostileGroupAndNothingInPlainText) {
  for (const auto& group : hostile_groups()) {
    EXPECT_NE(first_danger(hostile_text("F00", group), false), "") << escape_for_terminal(group);
    EXPECT_EQ(first_danger(escape_for_terminal(hostile_text("F00", group)), false), "");
  }
  EXPECT_EQ(first_danger("a\tb\r\nc\n", false), "");
  EXPECT_EQ(first_danger("\x1b[?25l\x1b[H\x1b[1mCOUNTER\x1b[0m\x1b[K\r\n", true), "");
  EXPECT_NE(first_danger("\x1b[1mCOUNTER", false), "");
}

}  // namespace
}  // namespace meterbank::test
