// SPDX-License-Identifier: Apache-2.0
//
// Code of the parent that is not C++20.
static_assert(__cplusplus == 201703L, "the parent's standard was changed");
