// SPDX-License-Identifier: Apache-2.0
//
// Negative control of initialisers.py: a variable that is initialised before main().
int of_another_file();
int initialised_before_main = of_another_file();
