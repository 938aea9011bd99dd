// SPDX-License-Identifier: Apache-2.0
//
// Reading: Catalog -> Query -> Sample -> Row and Value. Turns are taken in this order: query,
// catalog, samples; of two samples the one at the lower address first.
#ifndef METERBANK_PYTHON_READ_H
#define METERBANK_PYTHON_READ_H

#include "../binding.h"

// ---- Catalog and query --------------------------------------------------------------------------

typedef struct CatalogObject {
  PyObject_HEAD bool is_initialised;
  mb_catalog* handle;  // NULL: closed
  turn used;
} CatalogObject;

typedef struct QueryObject {
  PyObject_HEAD bool is_initialised;
  mb_query* handle;  // NULL: closed
  CatalogObject* catalog;
  turn used;
  size_t expected;  // values of the last sample
  // Names of the layout that a sample last had when it was asked for them: two tuples of str.
  uint64_t named_layout;
  PyObject* paths;
  PyObject* units;
} QueryObject;

extern PyTypeObject* catalog_type;  // meterbank.Recording is derived from it
extern PyTypeObject* query_type;
int add_catalog_type(PyObject* module);
int add_recording_type(PyObject* module);
int add_query_type(PyObject* module);
mb_catalog* open_catalog(const CatalogObject* catalog);  // NULL: an exception
mb_query* open_query(const QueryObject* query);
// The next of a list that ends with MB_NOT_FOUND. NULL without an exception: the end.
typedef PyObject* (*get_next)(mb_catalog* catalog, size_t index);
// All of them. The turn keeps the texts of the catalog as they are.
PyObject* list_all(CatalogObject* catalog, get_next next);

// ---- Values (columns.c) -------------------------------------------------------------------------

// All values of a sample, in one piece of memory. It does not move as long as it is exported.
typedef struct columns {
  bool is_filled;
  Py_ssize_t exports;
  size_t count;
  Py_ssize_t shape;  // the count again, where views point to
  size_t capacity;
  double* cooked;  // begins the memory, in which the other two lie behind it
  uint64_t* raw;
  uint8_t* status;
  uint64_t layout;
} columns;

// One of the three columns, as Python's buffer protocol has it.
enum { COOKED, RAW, STATUS };

struct SampleObject;

// What a Sample and a Difference have in common.
typedef struct ValuesObject {
  PyObject_HEAD QueryObject* query;
  struct SampleObject* newer;  // a Sample refers to itself here, without a reference count
  struct SampleObject* older;  // NULL: none
  uint64_t newer_collections;  // when they were compared
  uint64_t older_collections;
  columns columns;
} ValuesObject;

typedef struct SampleObject {
  ValuesObject values;
  mb_sample* handle;  // NULL: closed
  turn used;
  uint64_t collections;
  mb_collected collected;
} SampleObject;

extern PyTypeObject* sample_type;
extern PyTypeObject* difference_type;
int add_sample_types(PyObject* module);
PyObject* new_sample(QueryObject* query);

// Both samples stay as they are until unlock_values(). false: an exception, for example because
// one of them was collected again after they were compared.
bool lock_values(ValuesObject* values);
void unlock_values(ValuesObject* values);

int fill_columns(ValuesObject* values);  // precondition: locked
void free_columns(columns* freed);
int add_column_type(PyObject* module);
PyObject* new_column(ValuesObject* values, int which);  // a memoryview
// Slots of the buffer protocol for ValuesObject.
struct py_buffer;
int export_cooked(PyObject* self, struct py_buffer* view, int flags);
void release_cooked(PyObject* self, struct py_buffer* view);

// ---- Rows (rows.c, value.c) ---------------------------------------------------------------------

int add_row_types(PyObject* module);
PyObject* iterate_rows(ValuesObject* values, PyObject* quantiles);
// Fills in paths and units of the query, if they are those of another layout. 0, or -1.
int name_values(ValuesObject* values);

int add_value_types(PyObject* module);
// What the cursor is at. `row`: the texts of its row, see rows.c.
typedef struct row_texts {
  PyObject* provider;
  PyObject* set;
  PyObject* instance;
} row_texts;
PyObject* new_value(mb_cursor* cursor, const mb_value* value, const row_texts* row,
                    PyObject* quantiles);
PyObject* real_or_none(double value);

// A named tuple: sets the next member, which may be NULL with an exception.
typedef struct tuple_writer {
  PyObject* tuple;
  Py_ssize_t next;
  bool has_failed;
} tuple_writer;
tuple_writer begin_tuple(PyTypeObject* type);
void put(tuple_writer* tuple, PyObject* member);
PyObject* end_tuple(tuple_writer* tuple);

#endif
