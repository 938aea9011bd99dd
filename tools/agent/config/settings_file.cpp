// SPDX-License-Identifier: Apache-2.0
//
// What the keys of the file mean.
#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <utility>
#include <vector>

#include "agent/config/headers_file.hpp"
#include "agent/config/settings.hpp"
#include "exposition/family/metric_name.hpp"
#include "push/delivery/http_post.hpp"
#include "syntax/in_quotes.hpp"
#include "syntax/tree.hpp"

namespace meterbank::agent {
namespace {

using exposition::MetricRule;
using syntax::Element;
using syntax::Entry;
using syntax::in_quotes;

// One key and what is done with its value.
struct Key {
  std::string_view name;
  std::function<void(const Entry&)> take;
};

// In MiB.
Result<std::size_t> parse_queue(std::int64_t mebibytes) {
  constexpr std::int64_t kMost = 1024;
  if (mebibytes >= 1 && mebibytes <= kMost) return static_cast<std::size_t>(mebibytes) << 20;
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid queue: {} MiB", mebibytes),
              fmt::format("1 to {}", kMost));
}

class SettingsReader {
 public:
  explicit SettingsReader(syntax::Problems& problems) : problems_(problems) {}

  [[nodiscard]] Settings read(const Element& root);

 private:
  void read_table(const Element& table, std::string_view shown, const std::vector<Key>& keys);
  void read_exporter(const Element& table);
  void read_receiver(const Element& table);
  void read_record(const Element& table);
  void read_view(const Element& table);
  void read_rule(const Element& table);

  [[nodiscard]] Key text(std::string_view name, std::string& value);
  [[nodiscard]] Key flag(std::string_view name, bool& value);
  // A whole number that `parse` makes something of.
  template <typename Parse, typename Value>
  [[nodiscard]] Key number(std::string_view name, Parse parse, Value& value);
  // Texts; `take` is called with each, and its place.
  template <typename Take>
  [[nodiscard]] Key list(std::string_view name, std::string_view wanted, Take take);
  // A text that `parse` makes something of.
  template <typename Parse, typename Value>
  [[nodiscard]] Key parsed(std::string_view name, Parse parse, Value& value);
  // Patterns of counters.
  [[nodiscard]] Key paths(std::string_view name, std::vector<std::string>& patterns);
  void require_absolute(const Element& table, std::string_view name, const std::string& path,
                        std::string_view example);
  void refuse_kind(const Entry& entry, std::string_view wanted) {
    problems_.add(entry.place, fmt::format("{} is not {}", in_quotes(entry.name), wanted));
  }

  syntax::Problems& problems_;
  Settings settings_;
};

Key SettingsReader::text(std::string_view name, std::string& value) {
  return {name, [this, &value](const Entry& entry) {
            if (entry.kind != Entry::Kind::kText || entry.text.empty()) {
              return refuse_kind(entry, "a text");
            }
            value = entry.text;
          }};
}

Key SettingsReader::flag(std::string_view name, bool& value) {
  return {name, [this, &value](const Entry& entry) {
            if (entry.kind != Entry::Kind::kBoolean) return refuse_kind(entry, "true or false");
            value = entry.boolean;
          }};
}

template <typename Parse, typename Value>
Key SettingsReader::parsed(std::string_view name, Parse parse, Value& value) {
  return {name, [this, parse, &value](const Entry& entry) {
            if (entry.kind != Entry::Kind::kText) return refuse_kind(entry, "a text");
            auto result = parse(entry.text);
            if (!result)
              return problems_.add(entry.place, result.error().what, result.error().remedy);
            value = *result;
          }};
}

template <typename Parse, typename Value>
Key SettingsReader::number(std::string_view name, Parse parse, Value& value) {
  return {name, [this, parse, &value](const Entry& entry) {
            if (entry.kind != Entry::Kind::kInteger) return refuse_kind(entry, "a whole number");
            const auto result = parse(entry.integer);
            if (!result)
              return problems_.add(entry.place, result.error().what, result.error().remedy);
            value = *result;
          }};
}

template <typename Take>
Key SettingsReader::list(std::string_view name, std::string_view wanted, Take take) {
  return {name, [this, wanted, take](const Entry& entry) {
            if (entry.kind != Entry::Kind::kList) return refuse_kind(entry, wanted);
            for (const Entry& item : entry.items) {
              if (item.kind != Entry::Kind::kText) return refuse_kind(item, wanted);
              take(item);
            }
          }};
}

Key SettingsReader::paths(std::string_view name, std::vector<std::string>& patterns) {
  return list(name, "a list of paths", [this, &patterns](const Entry& item) {
    if (const auto path = parse_path(item.text); !path) {
      problems_.add(item.place, path.error().what, path.error().remedy);
    }
    patterns.push_back(item.text);
  });
}

void SettingsReader::require_absolute(const Element& table, std::string_view name,
                                      const std::string& path, std::string_view example) {
  if (path.starts_with('/')) return;
  problems_.add(table.place, fmt::format("{} {} is not an absolute path", name, in_quotes(path)),
                fmt::format("write {} = \"{}\"", name, example));
}

void SettingsReader::read_table(const Element& table, std::string_view shown,
                                const std::vector<Key>& keys) {
  for (const Entry& entry : table.entries) {
    const Key* known = nullptr;
    std::string names;
    for (const Key& key : keys) {
      if (key.name == entry.name) known = &key;
      names.append(names.empty() ? "" : ", ").append(key.name);
    }
    if (known != nullptr) {
      known->take(entry);
    } else {
      problems_.add(entry.place, fmt::format("{} has no {}", shown, in_quotes(entry.name)),
                    fmt::format("it can have {}", names));
    }
  }
}

void SettingsReader::read_exporter(const Element& table) {
  read_table(table, "[exporter]",
             {text("listen", settings_.address),
              parsed("compress", parse_compression, settings_.server.compression)});
}

void SettingsReader::read_receiver(const Element& table) {
  push::ReceiverOptions receiver;
  std::string headers_file;
  read_table(table, "[[push]]",
             {text("name", receiver.name), parsed("protocol", parse_protocol, receiver.protocol),
              text("url", receiver.url), number("interval_ms", parse_interval, receiver.interval),
              number("timeout_ms", parse_timeout, receiver.timeout),
              number("queue_mib", parse_queue, receiver.queue_bytes),
              parsed("compress", parse_coding, receiver.coding), text("headers_file", headers_file),
              text("ca_file", receiver.ca_file),
              list("labels", "a list of labels", [&](const Entry& item) {
                auto label = parse_label(item.text);
                if (!label)
                  return problems_.add(item.place, label.error().what, label.error().remedy);
                receiver.labels.push_back(std::move(*label));
              })});
  if (const auto sound = push::check_url(receiver.url); !sound) {
    problems_.add(table.place, sound.error().what, sound.error().remedy);
  }
  if (!receiver.ca_file.empty() && ::access(receiver.ca_file.c_str(), R_OK) != 0) {
    problems_.add(table.place,
                  fmt::format("cannot read the ca_file {}", in_quotes(receiver.ca_file)),
                  "the path and its permissions");
  }
  if (!headers_file.empty()) {
    auto headers = read_headers_file(headers_file);
    if (headers) {
      receiver.headers = std::move(*headers);
    } else {
      problems_.add(table.place, headers.error().what, headers.error().remedy);
    }
  }
  if (const auto added = add_receiver(settings_.receivers, std::move(receiver)); !added) {
    problems_.add(table.place, added.error().what, added.error().remedy);
  }
}

void SettingsReader::read_record(const Element& table) {
  RecordSettings& record = settings_.record;
  read_table(table, "[record]",
             {text("directory", record.directory),
              number("interval_ms", parse_record_interval, record.interval),
              number("size_mib", parse_ring_size, record.bytes_max), paths("paths", record.paths)});
  require_absolute(table, "directory", record.directory, "/var/lib/meterbank-agent/recording");
}

void SettingsReader::read_view(const Element& table) {
  ViewSettings& view = settings_.view;
  read_table(
      table, "[view]",
      {parsed("listen", parse_loopback, view.address), text("address_file", view.address_file),
       number("interval_ms", parse_view_interval, view.interval), paths("paths", view.paths)});
  if (!view.is_on()) {
    problems_.add(table.place, "no address to listen on", "write listen = \"127.0.0.1:19401\"");
  }
  require_absolute(table, "address_file", view.address_file, "/run/meterbank-agent/view");
}

void SettingsReader::read_rule(const Element& table) {
  MetricRule rule;
  std::string set, counter;
  read_table(table, "[[rule]]",
             {text("set", set), text("counter", counter), text("name", rule.name),
              text("help", rule.help), text("label", rule.label), flag("drop", rule.drop)});
  if (!set.empty()) rule.set = Glob(set);
  if (!counter.empty()) rule.counter = Glob(counter);
  if (!rule.name.empty() && exposition::snake_case(rule.name) != rule.name) {
    problems_.add(table.place, fmt::format("name {} is not a metric name", in_quotes(rule.name)),
                  fmt::format("write {}", exposition::snake_case(rule.name)));
  }
  if (!rule.name.empty() && rule.counter.matches_everything()) {
    problems_.add(table.place, "a rule with a name applies to every counter",
                  "write counter = and the counter that is called so");
  }
  if (!rule.drop && rule.name.empty() && rule.help.empty() && rule.label.empty()) {
    problems_.add(table.place, "a rule without effect", "write name, help, label or drop");
  }
  settings_.snapshots.names.rules.push_back(std::move(rule));
}

Settings SettingsReader::read(const Element& root) {
  exposition::SnapshotOptions& snapshots = settings_.snapshots;
  read_table(
      root, "the file",
      {text("dir", snapshots.catalog.directory),
       flag("all_namespaces", snapshots.catalog.all_namespaces),
       parsed("trust", parse_trust, snapshots.catalog.trust),
       parsed("prefix", parse_prefix, snapshots.names.prefix),
       number("timeout_ms", parse_timeout, snapshots.timeout), paths("paths", snapshots.patterns)});
  for (const Element& child : root.children) {
    if (child.name == "exporter" && !child.listed) {
      read_exporter(child);
    } else if (child.name == "record" && !child.listed) {
      read_record(child);
    } else if (child.name == "view" && !child.listed) {
      read_view(child);
    } else if (child.name == "push" && child.listed) {
      read_receiver(child);
    } else if (child.name == "rule" && child.listed) {
      read_rule(child);
    } else {
      problems_.add(child.place, fmt::format("the file has no table {}", in_quotes(child.name)),
                    "it can have [exporter], [record], [view], [[push]] and [[rule]]");
    }
  }
  complete(settings_.receivers);
  return std::move(settings_);
}

}  // namespace

std::optional<Settings> parse_settings(std::string_view text, syntax::Problems& problems) {
  const auto source = syntax::SourceText::decode(text, problems);
  if (!source) return std::nullopt;
  const auto root = syntax::read_toml(*source, problems);
  if (!root) return std::nullopt;
  Settings settings = SettingsReader(problems).read(*root);
  if (!problems.empty()) return std::nullopt;
  return settings;
}

}  // namespace meterbank::agent
