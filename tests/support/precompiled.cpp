// SPDX-License-Identifier: Apache-2.0
//
// Compiled for its headers, which METERBANK_PCH precompiles.
