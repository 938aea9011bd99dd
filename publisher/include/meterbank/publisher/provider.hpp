// SPDX-License-Identifier: Apache-2.0
//
// A provider publishes this process's countersets. Set-up can fail and says why; publishing cannot.
//
// Thread safety  All member functions of Registration, and add(), may be called concurrently.
//                Moving and destroying a Provider must not overlap with other calls on it.
// Errors         A Result with an ErrorCode, a sentence and a remedy; the functions name their
//                codes. Lack of memory is kNoSpace or std::bad_alloc, see base/result.hpp.
// Progress       Set-up takes the provider's private mutex and calls the kernel. Counting does
//                neither: instance.hpp.
// Cost           create(): one memfd, one record, one thread unless `heartbeat` is zero. Creating
//                or closing an instance takes no system call but for growth: bench/README.md.
// Lifetime       Registrations and instances may outlive their provider; they then count into
//                nothing.
// Units          Sizes are bytes, times are std::chrono durations.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "meterbank/base/result.hpp"
#include "meterbank/publisher/callback.hpp"
#include "meterbank/publisher/instance.hpp"
#include "meterbank/publisher/schema.hpp"
#include "meterbank/publisher/sharded.hpp"

namespace meterbank {

namespace detail {
struct OwnedRegistration;
struct OwnedSegment;

// The line on stderr by which a program learns that it publishes nothing. Keeps errno.
void say_not_published(const Error& why) noexcept;
}  // namespace detail

struct ProviderOptions {
  std::string name;            // shown to readers, at most 63 bytes
  std::string directory = {};  // empty: METERBANK_DIR or the default of this user
  std::uint64_t bytes_max = std::uint64_t{64} << 20;  // of the whole segment
  std::uint32_t instances_max = 16384;                // live at a time, all sets together
  std::uint32_t registrations_max = 64;
  // Who may read besides root and this process's user: "owner" (no other user), "group:NAME",
  // "group:GID" or "everyone". Empty: the group of the runtime directory if that has its
  // set-group-id bit, else "owner". METERBANK_READERS in the environment takes its place.
  std::string readers = {};
  // How often the keeper thread says that the process is alive, and writes the record again if it
  // has vanished. Zero: no thread, and a hung process cannot be told from an idle one; death is
  // still noticed.
  std::chrono::milliseconds heartbeat{1000};
  // How long a closed instance keeps its last values before its slot may be used again. Slots are
  // reused earlier rather than memory grown without end.
  std::chrono::milliseconds quarantine{5000};
  // How many callbacks may run at a time, all sets together; beyond it readers are told to come
  // again. Their threads are started when a callback is registered and when they are needed.
  std::uint32_t callbacks_max = 8;
  // How often the state of sets with cuts is marked, which is how old a cut of them is at most. The
  // first such set starts a thread that blocks all signals and, this often, interrupts every
  // running thread of the process for about a microsecond.
  std::chrono::microseconds cut_period{5000};
  // Leaves the record and its sockets behind at the end, for services whose seccomp filter forbids
  // unlink(): close and exit() then make no system call in the calling thread. Readers find the
  // provider dead; its next start or `meterbank doctor --clean` removes the record. The keeper
  // thread frees the memory within a second; without one it stays until the process ends.
  // METERBANK_KEEP_RECORD=1 or 0 in the environment takes its place. See docs/daemons.md.
  bool keep_record = false;
};

struct InstanceOptions {
  // One that no live instance has, or none of this name: InstanceIdentity. Empty: it is chosen.
  std::optional<std::uint32_t> id = {};
};

// One live declaration of a counterset; copies are the same registration. It is open until close(),
// or until its provider ends.
class Registration {
 public:
  // A registration that leads nowhere: its instances count into nothing.
  Registration() noexcept = default;

  // Errors: kBadName, kExists (CountersetSpec::identity says what must be new; names are compared
  // by Unicode simple case folding), kLimit, kNoSpace, kClosed, kForked. Every refusal is counted
  // where readers see it.
  [[nodiscard]] Result<Instance> create_instance(std::string_view name,
                                                 InstanceOptions options = {}) const;
  // A live instance of this registration, to write to; its owner closes it. Without an id: of
  // several with this name, the one with the smallest id. Cost: a look into a table, but without an
  // id all instances of a set of InstanceIdentity::kNameAndId.
  [[nodiscard]] std::optional<InstanceWriter> find(std::string_view name,
                                                   std::optional<std::uint32_t> id = {}) const;

  // The same two of a sharded set. Each sort of set has its own sort of instance: asked for the
  // other, they answer kInvalidArgument, and that there is none.
  [[nodiscard]] Result<ShardedInstance> create_sharded_instance(std::string_view name,
                                                                InstanceOptions options = {}) const;
  [[nodiscard]] std::optional<ShardedWriter> find_sharded(
      std::string_view name, std::optional<std::uint32_t> id = {}) const;

  // Closes all instances; handles stay harmless. Idempotent. Progress: waits for callbacks that
  // run, however long they take; called from inside one, it closes when they have returned.
  void close() const noexcept;

  // See Interest; only registrations with a Callback count it.
  [[nodiscard]] Interest interest() const noexcept;
  // Order: inserted, closing, closed. kFree: leads nowhere.
  [[nodiscard]] RegistrationState state() const noexcept;

 private:
  friend class Provider;
  [[nodiscard]] Result<detail::SlotReference> create(std::string_view name, InstanceOptions options,
                                                     bool sharded) const;
  [[nodiscard]] std::optional<detail::SlotReference> find_slot(std::string_view name,
                                                               std::optional<std::uint32_t> id,
                                                               bool sharded) const;
  explicit Registration(std::shared_ptr<detail::OwnedRegistration> state) noexcept
      : state_(std::move(state)) {}

  std::shared_ptr<detail::OwnedRegistration> state_;
};

// All that this process publishes under one name. Owns the segment and its record.
//
// Processes    Create it after daemon(), setuid() and chroot(): docs/daemons.md. A child counts
// into
//              private memory, says so once on stderr if it ends in order, and gets kForked from
//              everything else; it may create a provider of its own. The child of vfork() must not
//              count: it runs in its parent's memory.
// Descriptors  A program that closes all of them does so before create(). Done afterwards, handles
//              count on and no descriptor of the program is touched, but new readers cannot attach,
//              and callbacks end.
// Plugins      create() keeps the object that contains the library loaded until the process ends.
//              docs/decisions/0017-processes-and-plugins.md says why.
class Provider {
 public:
  // Errors: kBadName, kNoDirectory, kNoSpace, kDenied, kSystem. Creates one memfd, one record in
  // the runtime directory and, unless told otherwise, one thread that blocks all signals. Removes
  // the records of earlier providers of this name, user and pid namespace that are proved to have
  // ended. Says once on stderr if readers of its own user cannot read it: record_removal.hpp and
  // docs/security.md.
  static Result<Provider> create(ProviderOptions options);
  // Never fails: if create() does, the reason goes to stderr once and the provider leads nowhere,
  // harmlessly: everything registered with it counts into nothing.
  static Provider create_or_disabled(ProviderOptions options) noexcept;

  Provider(Provider&&) noexcept;
  Provider& operator=(Provider&&) noexcept;
  // Closes: removes the record, unless told to keep it; readers that hold the segment keep the last
  // values.
  ~Provider();

  // Errors: kInvalidArgument, kBadName, kExists (same GUID or name), kLimit, kNoSpace, kForked; of
  // a set with cuts also kSystem, where the kernel has no membarrier() for us.
  // The same schema may be registered again after its registration was closed.
  [[nodiscard]] Result<Registration> add(const CountersetSpec& spec);
  // With rows that are computed on demand. The first one starts a thread and a socket beside the
  // record. Errors: also kDenied, kNoDirectory, kSystem of these.
  [[nodiscard]] Result<Registration> add(const CountersetSpec& spec, Callback callback,
                                         CallbackOptions options = {});

  [[nodiscard]] bool is_disabled() const noexcept;
  // Path of the pointer record; empty if disabled.
  [[nodiscard]] std::string record() const;

 private:
  explicit Provider(std::shared_ptr<detail::OwnedSegment> segment) noexcept;
  Result<Registration> add_registration(const CountersetSpec& spec,
                                        std::optional<std::pair<Callback, CallbackOptions>> with);

  std::shared_ptr<detail::OwnedSegment> segment_;
};

}  // namespace meterbank
