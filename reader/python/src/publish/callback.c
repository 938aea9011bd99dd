// SPDX-License-Identifier: Apache-2.0
//
// Callables that answer readers. They run on threads of the library, each under the GIL.
//
// At exit, the interpreter first calls end_publishing(), which closes all sets and waits until no
// callable runs: a thread that asks for the GIL of an interpreter that has ended is ended itself,
// and the library with it.
#include <pthread.h>
#include <string.h>

#include "publish.h"

struct callback_context {
  PyObject* callable;  // NULL: the set is closed
  published_set* set;  // valid as long as there is a callable
};

#define CALLBACK_RAISED UINT32_C(0xffffffff)  // what readers are shown

// ---- Calls that run -----------------------------------------------------------------------------

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // guards the three below
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static uint32_t running;
static bool has_ended;
static uint64_t process = 1;  // in which `running` is true: a child of a fork has no such threads

static _Thread_local uint32_t depth;  // calls that this thread is inside of

bool is_in_callback(void) { return depth != 0; }

static bool begin_call(void) {
  bool begins;
  pthread_mutex_lock(&mutex);
  begins = !has_ended;
  if (begins) ++running;
  pthread_mutex_unlock(&mutex);
  return begins;
}

static void end_call(void) {
  pthread_mutex_lock(&mutex);
  --running;
  pthread_cond_broadcast(&ended);
  pthread_mutex_unlock(&mutex);
}

// The GIL is held, so that only other calls can hold the mutex, briefly.
static void forget_calls_of_parent(void) {
  const pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
  const pthread_cond_t free_condition = PTHREAD_COND_INITIALIZER;
  if (process == this_process()) return;
  process = this_process();
  mutex = free_mutex;
  ended = free_condition;
  running = 0;
}

static void set_has_ended(bool value) {
  forget_calls_of_parent();
  pthread_mutex_lock(&mutex);
  has_ended = value;
  pthread_mutex_unlock(&mutex);
}
void refuse_callbacks(void) { set_has_ended(true); }

void wait_for_callbacks(void) {
  if (is_in_callback()) return;
  Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&mutex);
  while (running != 0) pthread_cond_wait(&ended, &mutex);
  pthread_mutex_unlock(&mutex);
  Py_END_ALLOW_THREADS
}

bool callbacks_have_ended(void) { return has_ended; }

// ---- Request ------------------------------------------------------------------------------------

typedef struct RequestObject {
  PyObject_HEAD mb_request* request;  // NULL: the call has returned
  published_set* set;
  unsigned long thread;
  uint32_t next_id;
} RequestObject;

static PyTypeObject* request_type;

// NULL: an exception.
static mb_request* request_of(PyObject* self) {
  RequestObject* const object = (RequestObject*)self;
  if (object->request == NULL) {
    raise_status(MB_CLOSED, "use it inside the callback only", "the callback has returned");
  } else if (object->thread != PyThread_get_thread_ident()) {
    raise_status(MB_INVALID_ARGUMENT, "use it in the thread that called the callback",
                 "a request belongs to the thread of its call");
    return NULL;
  }
  return object->request;
}

// One value of a row, as the schema's form has it.
static int read_value(const struct counter_traits* traits, PyObject* value, uint64_t* bits) {
  double real = 0;
  int64_t number = 0;
  if (traits->form == MB_FORM_REAL) {
    if (!to_real(value, &real)) return 0;
    memcpy(bits, &real, sizeof *bits);
    return 1;
  }
  if (traits->form != MB_FORM_SIGNED) return to_uint64(value, bits);
  if (!to_int64(value, &number)) return 0;
  *bits = (uint64_t)number;
  return 1;
}

static int read_sequence(const published_set* set, PyObject* values, uint64_t* bits) {
  PyObject* const all = PySequence_Tuple(values);
  size_t at;
  int is_read = all != NULL;
  if (all == NULL) return 0;
  if ((size_t)PyTuple_Size(all) != set->count) {
    PyErr_Format(PyExc_ValueError, "the set has %zu counters, and %zd values were given",
                 set->count, PyTuple_Size(all));
    is_read = 0;
  }
  for (at = 0; is_read && at < set->count; ++at) {
    is_read = read_value(&set->counters[at], PyTuple_GetItem(all, (Py_ssize_t)at), &bits[at]);
  }
  Py_DECREF(all);
  return is_read;
}

// Counters that are not named are 0.
static int read_dict(const published_set* set, PyObject* values, uint64_t* bits) {
  PyObject* const items = PyDict_Items(values);
  const Py_ssize_t count = items == NULL ? 0 : PyList_Size(items);
  Py_ssize_t at;
  int is_read = items != NULL;
  for (at = 0; is_read && at < count; ++at) {
    PyObject* const item = PyList_GetItem(items, at);
    const Py_ssize_t position = position_of(set, PyTuple_GetItem(item, 0));
    is_read = position >= 0 &&
              read_value(&set->counters[position], PyTuple_GetItem(item, 1), &bits[position]);
  }
  Py_XDECREF(items);
  return is_read;
}

static PyObject* answer_added(mb_row_added added) {
  static const char* const reasons[] = {
      "",
      "",
      "the row needs a value for each counter",
      "the name is not UTF-8, too long, or empty or not against the rule of the set",
      "ids 0xfffffffe and 0xffffffff are reserved",
      "the answer is full",
      "a request about interest has no rows"};
  if (added == MB_ROW_ADDED) Py_RETURN_TRUE;
  if (added == MB_ROW_DROPPED) Py_RETURN_FALSE;
  return raise_status(added == MB_ROW_NO_MEMORY ? MB_LIMIT : MB_INVALID_ARGUMENT, "", "%s",
                      added <= MB_ROW_WRONG_REASON ? reasons[added] : "the row was refused");
}

static PyObject* request_add(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"name", "values", "id", NULL};
  RequestObject* const object = (RequestObject*)self;
  const char* name = NULL;
  PyObject* values = Py_None;
  PyObject* id_object = Py_None;
  uint32_t id = object->next_id;
  uint64_t* bits = NULL;
  mb_request* request;
  PyObject* result = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s|OO:add", names, &name, &values,
                                   &id_object)) {
    return NULL;
  }
  if (id_object != Py_None && !to_uint32(id_object, &id)) return NULL;
  if (values != Py_None) {
    int is_read;
    bits = PyMem_Calloc(object->set->count + 1, sizeof *bits);
    if (bits == NULL) return PyErr_NoMemory();
    is_read = PyDict_Check(values) ? read_dict(object->set, values, bits)
                                   : read_sequence(object->set, values, bits);
    if (!is_read) goto done;
  }
  request = request_of(self);  // last: what was called in between may have been anything
  if (request == NULL) goto done;
  result =
      answer_added(mb_request_add(request, name, id, bits, bits == NULL ? 0 : object->set->count));
  if (result != NULL) object->next_id = id + 1;
done:
  PyMem_Free(bits);
  return result;
}

static PyObject* request_wants(PyObject* self, PyObject* counter) {
  const RequestObject* const object = (const RequestObject*)self;
  const Py_ssize_t position = position_of(object->set, counter);
  const mb_request* request;
  if (position < 0) return NULL;
  request = request_of(self);
  if (request == NULL) return NULL;
  return PyBool_FromLong(mb_request_wants(request, object->set->counters[position].id));
}

enum { REASON, INSTANCE_ID, INSTANCE_MASK, COLLECTS_MANY, IS_CANCELLED, DEADLINE_NS };

static PyObject* get_of_request(PyObject* self, void* which) {
  const mb_request* const request = request_of(self);
  uint32_t id;
  if (request == NULL) return NULL;
  switch ((int)(intptr_t)which) {
    case REASON:
      return interned(mb_request_why(request) == MB_REQUEST_COLLECT ? "collect" : "enumerate");
    case INSTANCE_ID:
      id = mb_request_instance_id(request);
      if (id == UINT32_MAX) Py_RETURN_NONE;
      return PyLong_FromUnsignedLong(id);
    case INSTANCE_MASK: {
      size_t bytes = 0;
      const char* const mask = mb_request_instance_mask(request, &bytes);
      return text_of_bytes(mask, bytes);
    }
    case COLLECTS_MANY:
      return PyBool_FromLong(mb_request_collects_many(request));
    case IS_CANCELLED:
      return PyBool_FromLong(mb_request_is_cancelled(request));
    default:
      return PyLong_FromUnsignedLongLong(mb_request_deadline_ns(request));
  }
}

static void request_dealloc(PyObject* self) {
  if (((RequestObject*)self)->set != NULL) release_set(((RequestObject*)self)->set);
  free_object(self);
}

static PyMethodDef request_methods[] = {
    {"add", KEYWORDS(request_add), METH_VARARGS | METH_KEYWORDS,
     "add(name, values=None, id=None) -> bool\n\nAnswers with a row. `values` are those of all "
     "counters in their order, or a dict. False:\nthe first row was enough."},
    {"wants", request_wants, METH_O, "wants(counter) -> bool\n\nWhether the reader wants it."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef request_members[] = {
    {"reason", get_of_request, NULL, "'collect', or 'enumerate', which needs no values",
     (void*)REASON},
    {"instance_id", get_of_request, NULL, "The id of the row that is wanted; None: any",
     (void*)INSTANCE_ID},
    {"instance_mask", get_of_request, NULL, "A pattern of names with * and ?",
     (void*)INSTANCE_MASK},
    {"collects_many", get_of_request, NULL, "False: the first row is enough", (void*)COLLECTS_MANY},
    {"is_cancelled", get_of_request, NULL, "No reader waits any more", (void*)IS_CANCELLED},
    {"deadline_ns", get_of_request, NULL, "CLOCK_MONOTONIC", (void*)DEADLINE_NS},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot request_slots[] = {
    {Py_tp_doc, "A question of a reader. It is valid during the callback only."},
    {Py_tp_new, SLOT(refuse_new)},
    {Py_tp_dealloc, SLOT(request_dealloc)},
    {Py_tp_methods, request_methods},
    {Py_tp_getset, request_members},
    {0, NULL}};
static PyType_Spec request_spec = {"meterbank.Request", sizeof(RequestObject), 0,
                                   Py_TPFLAGS_DEFAULT, request_slots};

int add_request_type(PyObject* module) {
  set_has_ended(false);  // a program may have one interpreter after another
  request_type = add_type(module, &request_spec);
  return request_type == NULL ? -1 : 0;
}

// ---- Contexts and calls -------------------------------------------------------------------------

callback_context* new_context(PyObject* callable, published_set* set) {
  callback_context* const context = PyMem_Calloc(1, sizeof *context);
  if (context == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  Py_INCREF(callable);
  context->callable = callable;
  context->set = set;
  return context;
}
void clear_context(callback_context* context) { Py_CLEAR(context->callable); }
void free_context(callback_context* context) { PyMem_Free(context); }
int visit_context(callback_context* context, visitproc visit, void* arg) {
  if (context != NULL) Py_VISIT(context->callable);
  return 0;
}

// What a callable returned, as a code. Negative: an exception.
static int64_t code_of(PyObject* result) {
  uint32_t code = 0;
  if (result == NULL || (result != Py_None && !to_uint32(result, &code))) return -1;
  return code;
}

static uint32_t call(PyObject* callable, published_set* set, mb_request* request) {
  RequestObject* const object = (RequestObject*)PyType_GenericAlloc(request_type, 0);
  PyObject* result = NULL;
  int64_t code;
  if (object != NULL) {
    ++set->references;
    object->set = set;
    object->request = request;
    object->thread = PyThread_get_thread_ident();
    result = PyObject_CallFunctionObjArgs(callable, (PyObject*)object, NULL);
    object->request = NULL;
  }
  code = code_of(result);
  if (code < 0) PyErr_WriteUnraisable(callable);
  Py_XDECREF(result);
  Py_XDECREF((PyObject*)object);
  return code < 0 ? CALLBACK_RAISED : (uint32_t)code;
}

uint32_t answer_request(mb_request* request, void* context) {
  callback_context* const of_set = context;
  uint32_t code = CALLBACK_RAISED;
  PyGILState_STATE state;
  // Registration.is_wanted tells of interest, and callables need not.
  if (mb_request_why(request) < MB_REQUEST_ENUMERATE) return 0;
  if (!begin_call()) return code;
  state = PyGILState_Ensure();
  ++depth;
  if (of_set->callable != NULL) {
    PyObject* const callable = of_set->callable;
    Py_INCREF(callable);
    code = call(callable, of_set->set, request);
    Py_DECREF(callable);
  }
  --depth;
  PyGILState_Release(state);
  end_call();
  return code;
}
