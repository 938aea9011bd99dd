// SPDX-License-Identifier: Apache-2.0
//
// Several counters that move together: a reader sees all of an update or none of it.
#include <array>
#include <cstdio>

#include "meterbank/publisher.hpp"

namespace mb = meterbank;

enum class Account : std::uint32_t { deposits, withdrawals, balance };

constexpr std::array kCounters{
    mb::CounterSpec{.id = 1, .name = "Deposits/sec", .symbol = "deposits"},
    mb::CounterSpec{.id = 2, .name = "Withdrawals/sec", .symbol = "withdrawals"},
    mb::CounterSpec{.id = 3,
                    .name = "Balance",
                    .symbol = "balance",
                    .type = mb::CounterType::kLargeRawCount}};
constexpr mb::CountersetSpec kAccounts{
    .name = "Accounts", .symbol = "accounts", .label = "account", .counters = kCounters};

int main() {
  auto provider = mb::Provider::create_or_disabled({.name = "bank"});
  auto accounts = provider.add(kAccounts);
  if (!accounts) return std::fprintf(stderr, "%s\n", accounts.error().message().c_str()), 1;
  auto account = accounts->create_instance("main");
  if (!account) return std::fprintf(stderr, "%s\n", account.error().message().c_str()), 1;

  for (int i = 0; i < 100; ++i) {
    account->update([](mb::Values& values) noexcept {
      values.add(Account::deposits, 5);
      values.add(Account::withdrawals, 3);
      values.set(Account::balance,
                 values.value(Account::deposits) - values.value(Account::withdrawals));
    });
  }
  const auto balance = account->value(Account::balance);
  std::printf("balance %llu\n", static_cast<unsigned long long>(balance));
  return balance == 200 ? 0 : 1;
}
