// SPDX-License-Identifier: Apache-2.0
//
// One counter of one instance, found once.
#include "publish.h"

typedef struct BoundCounterObject {
  PyObject_HEAD InstanceObject* instance;
  writer to;
} BoundCounterObject;

PyTypeObject* bound_counter_type;

PyObject* new_bound_counter(InstanceObject* instance, Py_ssize_t position) {
  BoundCounterObject* self;
  writer to;
  if (find_writer(instance, position, &to) != 0) return NULL;
  self = (BoundCounterObject*)PyType_GenericAlloc(bound_counter_type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(instance);
  self->instance = instance;
  self->to = to;
  return (PyObject*)self;
}

static void bound_counter_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF(((BoundCounterObject*)self)->instance);
  free_object(self);
}
static int bound_counter_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((BoundCounterObject*)self)->instance);
  return 0;
}

static PyObject* change_it(PyObject* self, operation what, PyObject* value) {
  change made;
  if (read_change(&((BoundCounterObject*)self)->to, what, value, &made) != 0) return NULL;
  apply_now(&made);
  Py_XDECREF(made.text);
  Py_RETURN_NONE;
}

static PyObject* counter_add(PyObject* self, PyObject* n) {
  const writer* const to = &((BoundCounterObject*)self)->to;
  uint64_t bits;
  if (to->kind != WRITES_COUNT) return change_it(self, ADD, n);
  if (!to_bits(n, &bits)) return NULL;
  mb_counter_add(&to->count, bits);
  Py_RETURN_NONE;
}
static PyObject* counter_increment(PyObject* self, PyObject* unused) {
  const writer* const to = &((BoundCounterObject*)self)->to;
  PyObject* one;
  PyObject* result;
  (void)unused;
  if (to->kind == WRITES_COUNT) {
    mb_counter_increment(&to->count);
    Py_RETURN_NONE;
  }
  one = PyLong_FromLong(1);
  if (one == NULL) return NULL;
  result = change_it(self, ADD, one);
  Py_DECREF(one);
  return result;
}
static PyObject* counter_set(PyObject* self, PyObject* value) {
  return change_it(self, SET, value);
}
static PyObject* counter_record(PyObject* self, PyObject* value) {
  return change_it(self, RECORD, value);
}
static PyObject* counter_raise_to(PyObject* self, PyObject* value) {
  return change_it(self, RAISE, value);
}
static PyObject* counter_lower_to(PyObject* self, PyObject* value) {
  return change_it(self, LOWER, value);
}
static PyObject* get_value(PyObject* self, void* unused) {
  (void)unused;
  return value_of_writer(&((BoundCounterObject*)self)->to);
}
static PyObject* get_instance(PyObject* self, void* unused) {
  PyObject* const instance = (PyObject*)((BoundCounterObject*)self)->instance;
  (void)unused;
  Py_INCREF(instance);
  return instance;
}

static PyMethodDef methods[] = {
    {"add", counter_add, METH_O, "add(n)"},
    {"increment", counter_increment, METH_NOARGS, "increment()"},
    {"set", counter_set, METH_O, "set(value)"},
    {"record", counter_record, METH_O, "record(value), of a distribution"},
    {"raise_to", counter_raise_to, METH_O, "raise_to(value), of a sharded set"},
    {"lower_to", counter_lower_to, METH_O, "lower_to(value), of a sharded set"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {{"value", get_value, NULL, "What a count or a gauge is now", NULL},
                                {"instance", get_instance, NULL, NULL, NULL},
                                {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_doc, "One counter of one instance: the cheapest way to count."},
    {Py_tp_new, SLOT(refuse_new)},
    {Py_tp_dealloc, SLOT(bound_counter_dealloc)},
    {Py_tp_traverse, SLOT(bound_counter_traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL}};
static PyType_Spec spec = {"meterbank.BoundCounter", sizeof(BoundCounterObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int add_bound_counter_type(PyObject* module) {
  bound_counter_type = add_type(module, &spec);
  return bound_counter_type == NULL ? -1 : 0;
}
