// SPDX-License-Identifier: Apache-2.0
//
// Hosts that load and unload a plugin which publishes. Threads that counted there live on, and end
// afterwards; the host forks and exits.
#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "host.hpp"

namespace meterbank::test {
namespace {

std::string plugin_path(const char* name = "meterbank_plugin.so") {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(name);
}

bool is_loaded(const std::string& path = plugin_path()) {
  void* const object = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (object != nullptr) ::dlclose(object);
  return object != nullptr;
}

template <typename Function>
Function* function_of(void* plugin, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(plugin, name));
}

// The kernel looks at what a thread did last when it comes back to it.
void be_interrupted() {
  for (int i = 0; i < 2000; ++i) ::sched_yield();
}

int use_plugin(const std::string& directory, bool stops) {
  void* const plugin = ::dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return wrong(::dlerror());
  if (function_of<int(const char*)>(plugin, "plugin_start")(directory.c_str()) != 0) {
    return wrong("the plugin does not start");
  }
  auto* const count = function_of<void()>(plugin, "plugin_count");
  std::atomic<int> step{0};
  const auto wait_for = [&step](int wanted) {
    while (step.load(std::memory_order_seq_cst) < wanted) ::sched_yield();
  };
  std::thread other([&] {
    count();
    step.store(1, std::memory_order_seq_cst);
    while (step.load(std::memory_order_seq_cst) < 2) count();
    step.store(3, std::memory_order_seq_cst);
    // No call to the kernel between the last count and the end of the plugin.
    while (step.load(std::memory_order_seq_cst) < 4) continue;
    be_interrupted();
  });
  std::thread([&] { count(); }).join();
  wait_for(1);
  if (stops) function_of<void()>(plugin, "plugin_stop")();
  step.store(2, std::memory_order_seq_cst);
  while (step.load(std::memory_order_seq_cst) < 3) continue;
  count();
  ::dlclose(plugin);
  const bool stays = is_loaded();
  step.store(4, std::memory_order_seq_cst);
  be_interrupted();
  other.join();
  if (!in_forked_child([] { return 0; })) return 1;
  return stays ? 0 : wrong("the plugin was unloaded");
}

// Whether a thread is met where it must not be is a matter of chance.
int use_plugin_often(const std::string& directory, bool stops) {
  for (int round = 0; round < 8; ++round) {
    if (!in_forked_child([&] { return use_plugin(directory, stops); })) return 1;
  }
  return 0;
}

METERBANK_HOST(unloads_a_plugin_that_stopped) { return use_plugin_often(directory, true); }
METERBANK_HOST(unloads_a_plugin_that_publishes) { return use_plugin_often(directory, false); }

// The same object, before its first provider: what is above could be seen to be unloaded.
METERBANK_HOST(control_unloads_a_plugin_that_did_nothing) {
  void* const plugin = ::dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return wrong(::dlerror());
  ::dlclose(plugin);
  return is_loaded() ? wrong("it stays loaded") : 0;
}

// It is loaded by a path that leads nowhere by now.
METERBANK_HOST(unloads_a_plugin_whose_file_is_gone) {
  const std::string copy = directory + "/plugin.so";
  std::filesystem::copy_file(plugin_path(), copy);
  void* const plugin = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return wrong(::dlerror());
  std::filesystem::remove(copy);
  if (function_of<int(const char*)>(plugin, "plugin_start")(directory.c_str()) != 0) {
    return wrong("the plugin does not start");
  }
  auto* const count = function_of<void()>(plugin, "plugin_count");
  count();
  ::dlclose(plugin);
  be_interrupted();
  count();
  return 0;
}

// What links the library is marked to stay, for the sake of sequences that are inline.
METERBANK_HOST(unloads_a_plugin_that_only_counts) {
  const std::string path = plugin_path("meterbank_counting_plugin.so");
  void* const plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return wrong(::dlerror());
  ::dlclose(plugin);
  return is_loaded(path) ? 0 : wrong("the plugin was unloaded");
}

}  // namespace
}  // namespace meterbank::test
