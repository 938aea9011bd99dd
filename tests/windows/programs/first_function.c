// SPDX-License-Identifier: Apache-2.0
//
// The forms of a first function, one a program: FIRST is its name, PARAMETERS how many it has. It
// ends with 0 if what it gets is what the test passes: an argument, and a variable of the
// environment.
#include <string.h>
#include <windows.h>

#if defined(WIDE)
#define FIRST wmain
#define TEXT_OF(text) L##text
#define SAME(left, right) (wcscmp((left), (right)) == 0)
typedef wchar_t CHARACTER;
#else
#define FIRST main
#define TEXT_OF(text) text
#define SAME(left, right) (strcmp((left), (right)) == 0)
typedef char CHARACTER;
#endif

#if PARAMETERS == 0
int FIRST(void) { return 0; }
#elif PARAMETERS == 2
int FIRST(int argc, CHARACTER** argv) {
  return argc == 2 && SAME(argv[1], TEXT_OF("given")) && argv[2] == NULL ? 0 : 1;
}
#else
int FIRST(int argc, CHARACTER* argv[], CHARACTER* envp[]) {
  if (argc != 2 || !SAME(argv[1], TEXT_OF("given"))) return 1;
  for (; *envp != NULL; ++envp) {
    if (SAME(*envp, TEXT_OF("METERBANK_TEST=found"))) return 0;
  }
  return 2;
}
#endif
