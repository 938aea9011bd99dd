// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of sets and counters, by tables of their members.
#include <stddef.h>
#include <string.h>

#include "publish.h"

typedef enum member_kind {
  TEXT,
  NUMBER32,
  NUMBER64,
  SIGNED32,
  REAL,
  WORD,  // one of a table
  BITS,  // several of a table, as flags
  FLAG,  // a bool, into flags
  GUID,
  LATER,  // read by other code
} member_kind;

typedef struct member {
  const char* name;
  member_kind kind;
  size_t offset;
  const word* words;
  uint32_t bit;
} member;

static const word kinds[] = {{"block", 0},
                             {"independent", MB_SET_INDEPENDENT},
                             {"sharded", MB_SET_SHARDED},
                             {"sharded_independent", MB_SET_SHARDED | MB_SET_INDEPENDENT},
                             {NULL, 0}};

#define COUNTER(member) offsetof(mb_counter_spec, member)
static const member counter_members[] = {{"name", TEXT, COUNTER(name), NULL, 0},
                                         {"symbol", TEXT, COUNTER(symbol), NULL, 0},
                                         {"unit", TEXT, COUNTER(unit), NULL, 0},
                                         {"help", TEXT, COUNTER(help), NULL, 0},
                                         {"id", NUMBER32, COUNTER(id), NULL, 0},
                                         {"type", WORD, COUNTER(type), counter_types, 0},
                                         {"form", WORD, COUNTER(form), value_forms, 0},
                                         {"aggregate", WORD, COUNTER(aggregate), aggregates, 0},
                                         {"scale", SIGNED32, COUNTER(scale), NULL, 0},
                                         {"detail", NUMBER32, COUNTER(detail), NULL, 0},
                                         {"attributes", NUMBER64, COUNTER(attributes), NULL, 0},
                                         {"timed", FLAG, COUNTER(flags), NULL, MB_COUNTER_TIMED},
                                         {"text_bytes", NUMBER32, COUNTER(text_bytes), NULL, 0},
                                         {"bucket_least", REAL, COUNTER(bucket_least), NULL, 0},
                                         {"bucket_most", REAL, COUNTER(bucket_most), NULL, 0},
                                         {"bucket_scale", SIGNED32, COUNTER(bucket_scale), NULL, 0},
                                         {"base", LATER, COUNTER(base), NULL, 0},
                                         {"time", LATER, COUNTER(time), NULL, 0},
                                         {"frequency", LATER, COUNTER(frequency), NULL, 0},
                                         {"multi", LATER, COUNTER(multi), NULL, 0},
                                         {NULL, LATER, 0, NULL, 0}};

#define COUNTERSET(member) offsetof(mb_counterset_spec, member)
static const member set_members[] = {
    {"name", TEXT, COUNTERSET(name), NULL, 0},
    {"symbol", TEXT, COUNTERSET(symbol), NULL, 0},
    {"help", TEXT, COUNTERSET(help), NULL, 0},
    {"label", TEXT, COUNTERSET(label), NULL, 0},
    {"guid", GUID, COUNTERSET(guid), NULL, 0},
    {"provider_guid", GUID, COUNTERSET(provider_guid), NULL, 0},
    {"instances", WORD, COUNTERSET(instances), instance_kinds, 0},
    {"kind", BITS, COUNTERSET(flags), kinds, 0},
    {"many", FLAG, COUNTERSET(flags), NULL, MB_SET_MANY},
    {"no_checkpoint", FLAG, COUNTERSET(flags), NULL, MB_SET_NO_CHECKPOINT},
    {"stamped", FLAG, COUNTERSET(flags), NULL, MB_SET_STAMPED},
    {"cuts", FLAG, COUNTERSET(flags), NULL, MB_SET_CUTS},
    {"by_processor", FLAG, COUNTERSET(flags), NULL, MB_SET_BY_PROCESSOR},
    {"name_and_id", FLAG, COUNTERSET(flags), NULL, MB_SET_NAME_AND_ID},
    {"shards", NUMBER32, COUNTERSET(shards), NULL, 0},
    {"counters", LATER, 0, NULL, 0},
    {NULL, LATER, 0, NULL, 0}};

// A new reference. NULL without an exception: there is no such member, or it is None.
static PyObject* get_member(PyObject* object, const char* name, Py_ssize_t* found) {
  PyObject* value;
  // Interned: Python's cache of attributes keeps each name that it is asked for, by its address.
  PyObject* const key = PyUnicode_InternFromString(name);
  if (key == NULL) return NULL;
  if (PyDict_Check(object)) {
    value = PyDict_GetItemWithError(object, key);
    Py_XINCREF(value);
  } else {
    value = PyObject_GetAttr(object, key);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  }
  Py_DECREF(key);
  if (value == NULL) return NULL;
  if (found != NULL) ++*found;
  if (value != Py_None) return value;
  Py_DECREF(value);
  return NULL;
}

static int read_text(PyObject* value, const char* name, PyObject* kept, const char** text) {
  PyObject* bytes;
  char* data = NULL;
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be str, not %R", name, (PyObject*)Py_TYPE(value));
    return 0;
  }
  bytes = PyUnicode_AsUTF8String(value);
  if (bytes == NULL) return 0;
  if (PyBytes_AsStringAndSize(bytes, &data, NULL) != 0 || PyList_Append(kept, bytes) != 0) {
    data = NULL;
  }
  Py_DECREF(bytes);
  *text = data;
  return data != NULL;
}

static int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// The text form of a str or of a uuid.UUID.
static int read_guid(PyObject* value, const char* name, mb_guid* guid) {
  uint8_t bytes[16] = {0};
  size_t digits = 0;
  const char* at = NULL;
  PyObject* const text = PyObject_Str(value);
  PyObject* const encoded = text == NULL ? NULL : PyUnicode_AsUTF8String(text);
  Py_XDECREF(text);
  if (encoded == NULL) return 0;
  for (at = PyBytes_AsString(encoded); *at != '\0'; ++at) {
    const int digit = hex_digit(*at);
    if (*at == '-' || *at == '{' || *at == '}') continue;
    if (digit < 0 || digits == 32) break;
    bytes[digits / 2] = (uint8_t)(bytes[digits / 2] << 4 | digit);
    ++digits;
  }
  if (*at != '\0' || digits != 32) {
    PyErr_Format(PyExc_ValueError, "%s is not a GUID: %R", name, value);
    Py_DECREF(encoded);
    return 0;
  }
  Py_DECREF(encoded);
  guid->part1 = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
                (uint32_t)bytes[3];
  guid->part2 = (uint16_t)(bytes[4] << 8 | bytes[5]);
  guid->part3 = (uint16_t)(bytes[6] << 8 | bytes[7]);
  memcpy(guid->part4, bytes + 8, sizeof guid->part4);
  return 1;
}

static int read_signed32(PyObject* value, const char* name, int32_t* number) {
  int64_t wide;
  if (!to_int64(value, &wide)) return 0;
  if (wide < INT32_MIN || wide > INT32_MAX) {
    PyErr_Format(PyExc_OverflowError, "%s is too big for 32 bits: %R", name, value);
    return 0;
  }
  *number = (int32_t)wide;
  return 1;
}

static int is_number(PyObject* value, const char* name, bool is_integer) {
  if (PyIndex_Check(value) || (!is_integer && PyFloat_Check(value))) return 1;
  PyErr_Format(PyExc_TypeError, "%s must be %s, not %R", name, is_integer ? "int" : "float",
               (PyObject*)Py_TYPE(value));
  return 0;
}

static int read_member(PyObject* value, const member* each, void* target, PyObject* kept) {
  void* const at = (char*)target + each->offset;
  uint32_t bits = 0;
  int is_true;
  switch (each->kind) {
    case TEXT:
      return read_text(value, each->name, kept, at);
    case NUMBER32:
      return is_number(value, each->name, true) && to_uint32(value, at);
    case NUMBER64:
      return is_number(value, each->name, true) && to_uint64(value, at);
    case SIGNED32:
      return is_number(value, each->name, true) && read_signed32(value, each->name, at);
    case REAL:
      return is_number(value, each->name, false) && to_real(value, at);
    case WORD:
      return to_word(value, each->words, each->name, at);
    case BITS:
      if (!to_word(value, each->words, each->name, &bits)) return 0;
      *(uint32_t*)at |= bits;
      return 1;
    case FLAG:
      is_true = PyObject_IsTrue(value);
      if (is_true > 0) *(uint32_t*)at |= each->bit;
      return is_true >= 0;
    case GUID:
      return read_guid(value, each->name, at);
    case LATER:
      break;
  }
  return 1;
}

static int refuse_unknown(PyObject* dict, const member* members, const char* what) {
  PyObject* key;
  PyObject* value;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict, &at, &key, &value)) {
    const member* each = members;
    while (each->name != NULL &&
           (!PyUnicode_Check(key) || PyUnicode_CompareWithASCIIString(key, each->name) != 0)) {
      ++each;
    }
    if (each->name == NULL) {
      PyErr_Format(PyExc_TypeError, "%s has no member %R", what, key);
      return 0;
    }
  }
  return 1;
}

static int read_members(PyObject* object, const member* members, const char* what, void* target,
                        PyObject* kept) {
  const member* each;
  Py_ssize_t found = 0;
  for (each = members; each->name != NULL; ++each) {
    PyObject* const value = get_member(object, each->name, &found);
    int is_read;
    if (value == NULL && PyErr_Occurred() != NULL) return 0;
    if (value == NULL) continue;
    is_read = read_member(value, each, target, kept);
    Py_DECREF(value);
    if (!is_read) return 0;
  }
  if (PyDict_Check(object)) return refuse_unknown(object, members, what);
  if (found != 0) return 1;
  PyErr_Format(PyExc_TypeError, "%s must be a %s or a dict, not %R", what, what,
               (PyObject*)Py_TYPE(object));
  return 0;
}

#define NOT_GIVEN UINT32_MAX

static int read_counter(PyObject* object, size_t position, mb_counter_spec* counter,
                        PyObject* kept) {
  memset(counter, 0, sizeof *counter);
  counter->type = NOT_GIVEN;
  counter->form = NOT_GIVEN;
  counter->bucket_scale = 3;
  counter->text_bytes = 64;
  if (!read_members(object, counter_members, "Counter", counter, kept)) return 0;
  if (counter->id == 0) counter->id = (uint32_t)position + 1;
  if (counter->form == NOT_GIVEN) {
    counter->form = counter->type == MB_TYPE_TEXT ? MB_FORM_TEXT : MB_FORM_UNSIGNED;
  }
  if (counter->type == NOT_GIVEN) {
    counter->type = counter->form == MB_FORM_TEXT ? MB_TYPE_TEXT
                    : counter->form == MB_FORM_SIGNED || counter->form == MB_FORM_REAL
                        ? MB_TYPE_LARGE_RAW_COUNT
                        : MB_TYPE_BULK_COUNT;
  }
  if (counter->form != MB_FORM_TEXT) counter->text_bytes = 0;
  if (counter->form != MB_FORM_DISTRIBUTION) counter->bucket_scale = 0;
  return 1;
}

// The first counter of a name has it.
static int add_position(PyObject* positions, const char* name, size_t position) {
  PyObject* key;
  PyObject* value;
  int result = -1;
  if (name == NULL || *name == '\0') return 0;
  key = text_of(name);
  value = PyLong_FromSize_t(position);
  if (key != NULL && value != NULL) {
    result = PyDict_GetItemWithError(positions, key) != NULL ? 0 : -1;
    if (result != 0 && PyErr_Occurred() == NULL) result = PyDict_SetItem(positions, key, value);
  }
  Py_XDECREF(key);
  Py_XDECREF(value);
  return result;
}

// The counter that another one is linked to: by id, or by symbol or name.
static int read_link(PyObject* value, const char* name, const description* read, mb_link* link) {
  PyObject* position;
  if (!PyUnicode_Check(value)) {
    if (!is_number(value, name, true) || !to_uint32(value, &link->id)) return 0;
    link->is_set = 1;
    return 1;
  }
  position = PyDict_GetItemWithError(read->positions, value);
  if (position == NULL) {
    if (PyErr_Occurred() == NULL) PyErr_Format(PyExc_ValueError, "%s: no counter %R", name, value);
    return 0;
  }
  link->id = read->counters[PyLong_AsSize_t(position)].id;
  link->is_set = 1;
  return 1;
}

static int read_links(PyObject* object, const description* read, mb_counter_spec* counter) {
  const member* each;
  for (each = counter_members; each->name != NULL; ++each) {
    PyObject* value;
    int is_read;
    if (each->kind != LATER) continue;
    value = get_member(object, each->name, NULL);
    if (value == NULL && PyErr_Occurred() != NULL) return 0;
    if (value == NULL) continue;
    is_read = read_link(value, each->name, read, (mb_link*)((char*)counter + each->offset));
    Py_DECREF(value);
    if (!is_read) return 0;
  }
  return 1;
}

static int read_counters(PyObject* sequence, description* read) {
  PyObject* const all = PySequence_Tuple(sequence);
  const Py_ssize_t count = all == NULL ? 0 : PyTuple_Size(all);
  Py_ssize_t at;
  int result = -1;
  if (all == NULL) return -1;
  if (count > MB_BLOCK_WORDS_MAX) {
    PyErr_Format(PyExc_ValueError, "more than %d counters", MB_BLOCK_WORDS_MAX);
    goto done;
  }
  read->counters = PyMem_Calloc((size_t)count + 1, sizeof *read->counters);
  if (read->counters == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  read->set.counters = read->counters;
  read->set.counters_count = (uint32_t)count;
  for (at = 0; at < count; ++at) {
    mb_counter_spec* const counter = &read->counters[at];
    if (!read_counter(PyTuple_GetItem(all, at), (size_t)at, counter, read->kept)) goto done;
  }
  // Symbols come first: they are what is written in paths.
  for (at = 0; at < count; ++at) {
    if (add_position(read->positions, read->counters[at].symbol, (size_t)at) != 0) goto done;
  }
  for (at = 0; at < count; ++at) {
    if (add_position(read->positions, read->counters[at].name, (size_t)at) != 0) goto done;
    if (!read_links(PyTuple_GetItem(all, at), read, &read->counters[at])) goto done;
  }
  result = 0;
done:
  Py_DECREF(all);
  return result;
}

void free_description(description* read) {
  PyMem_Free(read->counters);
  read->counters = NULL;
  Py_CLEAR(read->positions);
  Py_CLEAR(read->kept);
}

int read_description(PyObject* object, description* read) {
  const mb_counterset_spec defaults = MB_COUNTERSET_SPEC_INIT;
  PyObject* counters;
  int result;
  read->set = defaults;
  read->counters = NULL;
  read->positions = PyDict_New();
  read->kept = PyList_New(0);
  if (read->positions == NULL || read->kept == NULL) goto failed;
  if (!read_members(object, set_members, "Counterset", &read->set, read->kept)) goto failed;
  counters = get_member(object, "counters", NULL);
  if (counters == NULL) {
    if (PyErr_Occurred() == NULL) PyErr_SetString(PyExc_TypeError, "Counterset has no counters");
    goto failed;
  }
  result = read_counters(counters, read);
  Py_DECREF(counters);
  if (result == 0) return 0;
failed:
  free_description(read);
  return -1;
}
