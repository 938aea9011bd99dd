/* SPDX-License-Identifier: Apache-2.0 */
/* The number of this agent among those of pmcd; a change goes into root_meterbank as well. */
#define METERBANK 478
