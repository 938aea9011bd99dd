// SPDX-License-Identifier: Apache-2.0
//
// What fits a counter, and, with METERBANK_WRONG_WIDTHS, what must not compile: pages_test.py asks
// for a complaint about each line that ends with "wrong".
#include <cstddef>
#include <cstdint>

#include "forms.hpp"

void fits(soup::PotsInstance& pot, soup::PotsUpdate& row, soup::TablesInstance& table,
          std::uint8_t u8, std::uint32_t u32, std::uint64_t u64, std::int32_t i32, std::int64_t i64,
          float real, double wide, std::size_t size) {
  constexpr std::uint64_t kSmall = 7;
  pot.add_crumbs(1);
  pot.add_crumbs(u8);
  pot.add_crumbs(u32);
  pot.add_crumbs(kSmall);
  row.set_guests(u32);
  row.add_spoons(u32);
  row.add_spoons(u64);
  row.add_spoons(size);
  row.set_balance(i32);
  row.set_balance(i64);
  row.set_balance(-1);
  row.set_balance(u32);
  row.set_temperature(real);
  row.set_temperature(wide);
  row.set_temperature(i32);
  row.set_temperature(20);
  table.lower_coldest(u32);
  table.raise_hottest(u64);
}

#ifdef METERBANK_WRONG_WIDTHS
void does_not_fit(soup::PotsInstance& pot, soup::PotsUpdate& row, soup::TablesInstance& table,
                  soup::FaultsInstance& faults, std::uint64_t u64, std::int32_t i32,
                  std::int64_t i64, double wide, std::size_t size, bool truth) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 32;
  pot.add_crumbs(u64);         // wrong
  pot.add_crumbs(i32);         // wrong
  pot.add_crumbs(wide);        // wrong
  pot.add_crumbs(size);        // wrong
  pot.add_crumbs(kLarge);      // wrong
  pot.add_crumbs(-1);          // wrong
  pot.add_crumbs(truth);       // wrong
  pot.add_crumbs('a');         // wrong
  pot.set_guests(u64);         // wrong
  row.add_crumbs(u64);         // wrong
  row.subtract_guests(i32);    // wrong
  row.add_spoons(i32);         // wrong
  row.add_spoons(i64);         // wrong
  row.add_spoons(wide);        // wrong
  row.set_balance(u64);        // wrong
  row.set_balance(wide);       // wrong
  row.set_temperature(i64);    // wrong
  row.set_temperature(u64);    // wrong
  row.set_last_order(i64);     // wrong
  table.lower_coldest(u64);    // wrong
  faults.set_cooks(u64);       // wrong
  row.set_spoons(u64);         // wrong
  row.add_cooking_since(u64);  // wrong
  faults.add_spilled(u64);     // wrong
  table.set_seated(u64);       // wrong
}
#endif
