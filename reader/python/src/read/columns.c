// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"
#include "read.h"

// ---- Memory -------------------------------------------------------------------------------------

void free_columns(columns* freed) {
  PyMem_Free(freed->cooked);
  freed->cooked = NULL;
  freed->capacity = 0;
  freed->is_filled = false;
}

static int reserve(columns* reserved, size_t count) {
  const size_t each = sizeof(double) + sizeof(uint64_t) + sizeof(uint8_t);
  char* memory;
  if (count <= reserved->capacity && reserved->cooked != NULL) return 0;
  free_columns(reserved);
  if (count == 0) count = 1;
  memory = count > PY_SSIZE_T_MAX / each ? NULL : PyMem_Malloc(count * each);
  if (memory == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  reserved->cooked = (double*)(void*)memory;
  reserved->raw = (uint64_t*)(void*)(memory + count * sizeof(double));
  reserved->status = (uint8_t*)(memory + count * (sizeof(double) + sizeof(uint64_t)));
  reserved->capacity = count;
  return 0;
}

int fill_columns(ValuesObject* values) {
  columns* const filled = &values->columns;
  mb_sample* const newer = values->newer->handle;
  mb_sample* const older = values->older == NULL ? NULL : values->older->handle;
  if (filled->is_filled) return 0;
  if (reserve(filled, values->query->expected) != 0) return -1;
  for (;;) {
    mb_values wanted = MB_VALUES_INIT;
    mb_error error;
    wanted.cooked = filled->cooked;
    wanted.raw = filled->raw;
    wanted.status = filled->status;
    wanted.capacity = filled->capacity;
    if (mb_sample_values(newer, older, &wanted, &error) != MB_OK) {
      raise_error(&error);
      return -1;
    }
    if (wanted.count <= filled->capacity) {
      filled->count = wanted.count;
      filled->shape = (Py_ssize_t)wanted.count;
      filled->layout = wanted.layout;
      filled->is_filled = true;
      values->query->expected = wanted.count;
      return 0;
    }
    if (reserve(filled, wanted.count) != 0) return -1;
  }
}

// ---- Buffer protocol ----------------------------------------------------------------------------

static int export_column(PyObject* exporter, ValuesObject* values, int which,
                         struct py_buffer* view, int flags) {
  static char* const formats[] = {"d", "Q", "B"};
  columns* const exported = &values->columns;
  void* const memory[] = {exported->cooked, exported->raw, exported->status};
  view->obj = NULL;
  if ((flags & BUFFER_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, "the values of a sample are read-only");
    return -1;
  }
  view->buf = memory[which];
  view->itemsize = which == STATUS ? 1 : 8;
  view->len = exported->shape * view->itemsize;
  view->readonly = 1;
  view->ndim = 1;
  view->format = (flags & BUFFER_FORMAT) != 0 ? formats[which] : NULL;
  view->shape = (flags & BUFFER_ND) != 0 ? &exported->shape : NULL;
  view->strides = (flags & BUFFER_STRIDES) == BUFFER_STRIDES ? &view->itemsize : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
  ++exported->exports;
  Py_INCREF(exporter);
  view->obj = exporter;
  return 0;
}

// Fills the columns first. A closed sample keeps what a view of it shows.
static int fill_and_export(PyObject* exporter, ValuesObject* values, int which,
                           struct py_buffer* view, int flags) {
  int result = -1;
  view->obj = NULL;
  if (values->columns.exports != 0) return export_column(exporter, values, which, view, flags);
  if (!values->columns.is_filled || values->older == NULL) {
    if (!lock_values(values)) return -1;
    result = fill_columns(values);
    if (result == 0) result = export_column(exporter, values, which, view, flags);
    unlock_values(values);
    return result;
  }
  return export_column(exporter, values, which, view, flags);
}

int export_cooked(PyObject* self, struct py_buffer* view, int flags) {
  return fill_and_export(self, (ValuesObject*)self, COOKED, view, flags);
}
void release_cooked(PyObject* self, struct py_buffer* view) {
  (void)view;
  --((ValuesObject*)self)->columns.exports;
}

// ---- Columns ------------------------------------------------------------------------------------

typedef struct ColumnObject {
  PyObject_HEAD ValuesObject* values;
  int which;
} ColumnObject;

static PyTypeObject* column_type;

PyObject* new_column(ValuesObject* values, int which) {
  ColumnObject* const column = (ColumnObject*)PyType_GenericAlloc(column_type, 0);
  PyObject* view;
  if (column == NULL) return NULL;
  Py_INCREF(values);
  column->values = values;
  column->which = which;
  view = PyMemoryView_FromObject((PyObject*)column);
  Py_DECREF(column);
  return view;
}

static int column_export(PyObject* self, struct py_buffer* view, int flags) {
  ColumnObject* const column = (ColumnObject*)self;
  return fill_and_export(self, column->values, column->which, view, flags);
}
static void column_release(PyObject* self, struct py_buffer* view) {
  (void)view;
  --((ColumnObject*)self)->values->columns.exports;
}
static void column_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF(((ColumnObject*)self)->values);
  free_object(self);
}
static int column_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((ColumnObject*)self)->values);
  return 0;
}

static PyType_Slot column_slots[] = {{Py_tp_doc, "One column of the values of a sample."},
                                     {Py_tp_new, SLOT(refuse_new)},
                                     {Py_tp_dealloc, SLOT(column_dealloc)},
                                     {Py_tp_traverse, SLOT(column_traverse)},
                                     {SLOT_GETBUFFER, SLOT(column_export)},
                                     {SLOT_RELEASEBUFFER, SLOT(column_release)},
                                     {0, NULL}};
static PyType_Spec column_spec = {"meterbank._Column", sizeof(ColumnObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, column_slots};

int add_column_type(PyObject* module) {
  column_type = add_type(module, &column_spec);
  return column_type == NULL ? -1 : 0;
}
