// SPDX-License-Identifier: Apache-2.0
//
// Publishing: Provider -> Registration -> Instance -> BoundCounter and Update. Each object keeps
// the one before it alive.
#ifndef METERBANK_PYTHON_PUBLISH_H
#define METERBANK_PYTHON_PUBLISH_H

#include "../binding.h"

// ---- Descriptions (description.c) ---------------------------------------------------------------

// What provider.add() was given, in terms of C.
typedef struct description {
  mb_counterset_spec set;
  mb_counter_spec* counters;
  PyObject* positions;  // dict: symbol and name of a counter -> its position
  PyObject* kept;       // list of the bytes that the texts lie in
} description;

// `object` is a dict or has the members as attributes. 0, or -1 with an exception.
int read_description(PyObject* object, description* read);
void free_description(description* read);

// ---- Sets (published_set.c) ---------------------------------------------------------------------

typedef struct callback_context callback_context;

// One live declaration of a counterset. The provider refers to it until it is closed, and so do its
// Registration and calls of its callback.
typedef struct published_set {
  uint32_t references;
  bool is_open;
  bool is_sharded;
  bool is_stamped;
  mb_set* handle;  // NULL: of a disabled provider
  PyObject* name;
  PyObject* positions;
  size_t count;  // how many counters it has
  struct counter_traits {
    uint32_t id;
    uint8_t form;  // mb_value_form
    uint8_t is_timed;
  } * counters;
  callback_context* context;  // NULL: no callback
  struct published_set* next;
} published_set;

// NULL: an exception.
published_set* new_set(const description* read);
void release_set(published_set* set);
// Takes the GIL for what Python owns, and waits for callbacks without it. Idempotent.
void close_set(published_set* set);
// The position of a counter that is named by symbol, name or position. -1: an exception.
Py_ssize_t position_of(const published_set* set, PyObject* counter);

// ---- Callbacks (callback.c) ---------------------------------------------------------------------

int add_request_type(PyObject* module);
// NULL: an exception.
callback_context* new_context(PyObject* callable, published_set* set);
// clear_context(): from here on, calls find no callable. free_context(): call it only after
// mb_set_close() has returned, and not inside a callback.
void clear_context(callback_context* context);
void free_context(callback_context* context);
int visit_context(callback_context* context, visitproc visit, void* arg);
uint32_t answer_request(mb_request* request, void* context);
bool is_in_callback(void);
// From here on no callable is called; those that run have returned when the second one returns.
void refuse_callbacks(void);
void wait_for_callbacks(void);
bool callbacks_have_ended(void);

// ---- Objects ------------------------------------------------------------------------------------

typedef struct ProviderObject {
  PyObject_HEAD enum { PROVIDER_NEW, PROVIDER_OPEN, PROVIDER_CLOSED } state;
  mb_provider* handle;  // NULL: disabled
  published_set* sets;
  struct ProviderObject* next;  // in the list of open providers
  struct ProviderObject* previous;
} ProviderObject;

typedef struct RegistrationObject {
  PyObject_HEAD ProviderObject* provider;
  published_set* set;
} RegistrationObject;

typedef struct InstanceObject {
  PyObject_HEAD RegistrationObject* registration;
  PyObject* name;
  bool is_open;
  mb_instance block;
  mb_sharded sharded;  // used instead of `block` if the set is sharded
} InstanceObject;

extern PyTypeObject* registration_type;
extern PyTypeObject* instance_type;
extern PyTypeObject* bound_counter_type;
extern PyTypeObject* update_type;
int add_provider_type(PyObject* module);
int add_registration_type(PyObject* module);
int add_instance_type(PyObject* module);
int add_bound_counter_type(PyObject* module);
int add_update_type(PyObject* module);

// New references, or NULL with an exception.
PyObject* new_registration(ProviderObject* provider, published_set* set);
PyObject* new_instance(RegistrationObject* registration, PyObject* name);
PyObject* new_bound_counter(InstanceObject* instance, Py_ssize_t position);
PyObject* new_update(InstanceObject* instance);
PyObject* end_publishing(PyObject* module, PyObject* unused);

// ---- Changes of one counter (change.c) ----------------------------------------------------------

typedef enum operation { ADD, SET, RECORD, RAISE, LOWER } operation;

// One counter of an instance, ready to be written.
typedef struct writer {
  enum { WRITES_COUNT, WRITES_GAUGE, WRITES_RECORDER, WRITES_TEXT, WRITES_SHARDED } kind;
  uint32_t position;
  uint32_t form;
  mb_counter count;  // the word of a count or a gauge
  union {
    mb_gauge gauge;
    mb_recorder recorder;
    mb_text text;
    mb_sharded sharded;
  } at;
} writer;

typedef struct change {
  writer to;
  operation what;
  uint64_t bits;
  double real;
  PyObject* text;  // bytes, owned
} change;

// 0, or -1 with an exception.
int find_writer(const InstanceObject* instance, Py_ssize_t position, writer* found);
int read_change(const writer* to, operation what, PyObject* value, change* read);
void apply_now(const change* applied);
void apply_in_update(const change* applied, mb_update* update);
void apply_sharded(const change* changes, size_t count);
PyObject* value_of_writer(const writer* from);

#endif
