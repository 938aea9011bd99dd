// SPDX-License-Identifier: Apache-2.0
//
// What all functions of the C interface have in common: status, error, version, handles.
//
//   mb_error error;
//   if (mb_provider_create(&options, &provider, &error) != MB_OK) {
//     fprintf(stderr, "%s; try: %s\n", error.what, error.remedy);
//   }
//
// Handles. Providers, sets, catalogs, queries, samples and cursors are opaque pointers. Their value
// is a number that is never used again, not an address. A closed handle and a handle of another
// type are answered with MB_BAD_HANDLE, and so is NULL where the function does not say otherwise;
// to close one of those does nothing.
//
// Structs. Options begin with their size, and each has an initialiser MB_..._INIT. A caller that
// was compiled with an older header passes a smaller struct, and the members that it does not know
// have their default. A caller with a newer header passes a larger one, which is accepted if all
// bytes that this library does not know are zero.
//
// Text. All text is UTF-8 and ends with NUL, if a length does not stand beside it. NULL is the
// empty text. Text that a function takes is copied before it returns.
//
// Thread safety  All functions may be called concurrently.
// Errors         Functions that can fail return mb_status and take, last, the address of an
//                mb_error or NULL. They fill it in either case. No C++ exception passes through.
// Progress       Functions that are not inline take private mutexes, allocate, and may call the
//                kernel. None is async-signal-safe. A cancellation of the calling thread takes
//                effect after the call.
// Cost           Set-up only, here. counting.h has what a service calls at each event.
// Lifetime       A handle is valid until it is closed, and in the process that made it. In the
//                child of a fork, handles of the parent are answered with MB_FORKED, and to close
//                one does nothing.
// Units          Sizes are bytes.
#ifndef METERBANK_C_BASE_H
#define METERBANK_C_BASE_H

#include <stddef.h>
#include <stdint.h>

#define MB_API __attribute__((visibility("default")))

// Of this header. mb_version() says what the program was linked with.
#define MB_VERSION_MAJOR 0
#define MB_VERSION_MINOR 2
#define MB_VERSION_PATCH 0

#define MB_ERROR_WHAT_SIZE 376
#define MB_ERROR_REMEDY_SIZE 128

#ifdef __cplusplus
extern "C" {
#endif

// docs/errors.md lists the usual remedies. Later versions may add values.
typedef enum mb_status {
  MB_OK = 0,
  MB_INVALID_ARGUMENT = 1,    // a parameter, struct or schema breaks its documented rule
  MB_BAD_HANDLE = 2,          // NULL, closed, or a handle of another type
  MB_BAD_NAME = 3,            // empty, too long, not UTF-8, control characters
  MB_BAD_PATH = 4,            // a counter path that does not parse
  MB_EXISTS = 5,              // the name or the set is already taken
  MB_NOT_FOUND = 6,           // nothing matches
  MB_LIMIT = 7,               // a quota of this library
  MB_NO_SPACE = 8,            // memory, tmpfs, RLIMIT_FSIZE or the like is exhausted
  MB_NO_DIRECTORY = 9,        // the runtime directory is missing, unsafe or not writable
  MB_DENIED = 10,             // the kernel refused permission
  MB_NOT_SEALABLE = 11,       // not a memfd
  MB_UNSEALED = 12,           // seals missing
  MB_WRONG_FILESYSTEM = 13,   // huge pages or another filesystem
  MB_BAD_SIZE = 14,           // zero, odd, or beyond the limit
  MB_SPARSE = 15,             // holes in the memory
  MB_NOT_A_SEGMENT = 16,      // no segment magic
  MB_NEWER_LAYOUT = 17,       // written by a newer major layout version
  MB_WRONG_ABI = 18,          // other byte order or word size
  MB_CORRUPT = 19,            // a field contradicts the mapped size or a documented limit
  MB_GONE = 20,               // the provider or its descriptor vanished meanwhile
  MB_CLOSED = 21,             // used after its provider or set was closed
  MB_FORKED = 22,             // a handle of the parent, used in the child of a fork
  MB_FOREIGN = 23,            // cannot be verified from here: another pid namespace, or no procfs
  MB_TIMEOUT = 24,            // another process did not answer in time
  MB_SYSTEM = 25,             // any other failure of a system call; see system_error
  MB_STATUS_MAX = 0x7fffffff  // never returned; makes room for values of later versions
} mb_status;

// Why a call failed. Nothing in it has to be freed. Texts that do not fit are cut between
// characters; bytes of a caller's text that are not UTF-8 are shown as U+FFFD.
typedef struct mb_error {
  mb_status status;
  int system_error;                   // errno, or 0
  char what[MB_ERROR_WHAT_SIZE];      // object and cause; empty after success
  char remedy[MB_ERROR_REMEDY_SIZE];  // what to try; may be empty
} mb_error;

// "INVALID_ARGUMENT" for MB_INVALID_ARGUMENT, and so on: the names that the command line prints.
// "UNKNOWN" for other numbers. Never NULL; the text is constant.
MB_API const char* mb_status_text(mb_status status);

// Of the library: major << 16 | minor << 8 | patch.
MB_API uint32_t mb_version(void);

#ifdef __cplusplus
}
#endif

#endif
