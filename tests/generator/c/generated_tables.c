// SPDX-License-Identifier: Apache-2.0
#include "generated_tables.h"

#include "demo_orders.h"
#include "forms.h"

const mb_counterset_spec* const generated_sets[] = {&demo_orders_set, &pots_set, &faults_set,
                                                    &soup_orders_set, &tables_set};
const unsigned generated_positions[] = {DEMO_ORDERS_ACCEPTED, DEMO_ORDERS_BYTES_RECEIVED,
                                        DEMO_ORDERS_STATE, POTS_HELPING_BASE};
