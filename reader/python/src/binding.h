// SPDX-License-Identifier: Apache-2.0
//
// What all files of the extension have in common: Python's stable ABI, the C interface, errors,
// conversions, and turns.
//
// The GIL is held wherever a Python object or a struct of ours is used. It is released around calls
// that wait or call the kernel, and such a call is about handles of the C interface alone, which
// are numbers: what another thread closes meanwhile is answered with an error.
#ifndef METERBANK_PYTHON_BINDING_H
#define METERBANK_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "meterbank.h"

// A function as a slot of a type has it. ISO C has no direct conversion.
#define SLOT(function) ((void*)(uintptr_t)(function))
#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

// ---- The module (module.c) ----------------------------------------------------------------------

// Each is a new type that is added to the module. 0, or -1 with an exception.
int add_types_of_publishing(PyObject* module);
int add_types_of_reading(PyObject* module);
PyTypeObject* add_type(PyObject* module, PyType_Spec* spec);
PyTypeObject* add_named_tuple(PyObject* module, PyStructSequence_Desc* named);

// tp_new of types whose objects come from other objects.
PyObject* refuse_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords);
// The end of each tp_dealloc.
void free_object(PyObject* self);
PyObject* return_self(PyObject* self, PyObject* unused);  // __enter__

// ---- Errors (errors.c) --------------------------------------------------------------------------

int add_error(PyObject* module);
// NULL, with a meterbank.Error as the exception.
PyObject* raise_error(const mb_error* error);
PyObject* raise_status(mb_status status, const char* try_, const char* format, ...)
    __attribute__((format(__printf__, 3, 4)));
// "the query is closed"
PyObject* raise_closed(const char* object);

// ---- Conversions (convert.c) --------------------------------------------------------------------

// Converters for PyArg_Parse: any integer of the range, no float. 0: an exception.
int to_uint32(PyObject* object, void* target);
int to_uint64(PyObject* object, void* target);
// -2^63 to 2^64-1, modulo 2^64.
int to_bits(PyObject* object, uint64_t* bits);
int to_int64(PyObject* object, int64_t* value);
int to_real(PyObject* object, double* real);  // any integer or float

// Bytes of a path, owned by the caller; None leaves NULL.
int to_path(PyObject* object, void* target);

PyObject* text_of(const char* text);  // NULL is the empty text
PyObject* text_of_bytes(const char* text, size_t bytes);
PyObject* interned(const char* text);

typedef struct word {
  const char* name;
  uint32_t value;
} word;
// Ends with a word without a name.
extern const word counter_types[], value_forms[], aggregates[], instance_kinds[], user_policies[],
    cuts[];
// 0: an exception that lists the words.
int to_word(PyObject* object, const word* words, const char* what, uint32_t* value);
// The name of a value; NULL if it has none.
const char* name_in(const word* words, uint32_t value);

// The texts of a sequence, or of one str, as C wants them. They live as long as `kept`.
typedef struct text_list {
  PyObject* kept;  // list of bytes
  const char** texts;
  size_t count;
} text_list;
int to_text_list(PyObject* object, const char* what, text_list* list);
void free_text_list(text_list* list);

// ---- Turns (turns.c) ----------------------------------------------------------------------------

// Whose turn it is to use an object in a call that releases the GIL, or that runs over text which
// such a call may free. All zero: free. In the child of a fork, a turn of a thread that is not
// there any more is free.
typedef struct turn {
  uint64_t process;
  uint64_t thread;
} turn;

int prepare_turns(void);
// Waits without the GIL. false: an exception, because this thread has the turn already.
bool take_turn(turn* taken);
void end_turn(turn* taken);
// A number of this process: that of a forked child differs.
uint64_t this_process(void);

#endif
