// The plugin's functions as jaxlib calls them: what must not enter Python, and what Python is
// entered through.
//
// jaxlib destroys objects in places where Python code cannot run: while an exception is on its way
// through a frame whose variables are arrays, on threads of its own, and after the interpreter has
// ended. So what destroys an object only links its cell, memory whose address is the object's
// number, into a list, and Python takes the list when it comes by.
//
// All other functions call one of Python. A handler of a signal may raise an exception before the
// first instruction of that; so Python is asked first to stand before all handlers, which may be
// done again and again, and what was raised meanwhile is handed to it. Whatever leaves the function
// itself after that, the caller gets a result.
//
// native.py compiles this file where it is used, and loads it. No header of Python need be there:
// what is declared here is of the stable interface, which each process with Python in it has.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

// Of Python

typedef struct object object;

int PyGILState_Ensure(void);
void PyGILState_Release(int state);
object *PyObject_CallFunction(object *callable, const char *format, ...);
object *PyObject_CallFunctionObjArgs(object *callable, ...);  // up to a NULL
int PyArg_ParseTuple(object *tuple, const char *format, ...);
void Py_IncRef(object *);  // these two do nothing with NULL
void Py_DecRef(object *);
void PyErr_Fetch(object **type, object **value, object **trace);
void PyErr_Restore(object *type, object *value, object *trace);
void PyErr_NormalizeException(object **type, object **value, object **trace);
int PyException_SetTraceback(object *exception, object *trace);
void PyErr_WriteUnraisable(object *where);
int PyErr_SetInterruptEx(int signal);

// Destroying

// What an object's number points to. Python makes it, 0; while it is in the list, it has the next.
struct cell {
    struct cell *next;
};

// In a cell: nothing destroys its object.
#define STAYS ((struct cell *)UINTPTR_MAX)

// How the arguments of all functions begin that destroy an object.
struct destroying {
    size_t struct_size;
    void *extensions;
    struct cell *cell;
};

// What was destroyed since `take_destroyed`, the last one first.
EXPORT _Atomic(struct cell *) destroyed;

// Destroy an object; NULL is none. For any thread, with Python's lock or without; always succeeds.
EXPORT void *destroy(const struct destroying *arguments) {
    struct cell *cell = arguments->cell;
    if (cell != NULL && cell->next != STAYS) {
        cell->next = atomic_load(&destroyed);
        while (!atomic_compare_exchange_weak(&destroyed, &cell->next, cell)) {
        }
    }
    return NULL;
}

// Return the list, and leave an empty one. For any thread; a cell is its taker's from then on.
EXPORT struct cell *take_destroyed(void) {
    return atomic_exchange(&destroyed, NULL);
}

// Calling

// Functions there are room for; a table has one for each row and column below.
#define ENTRIES 128
// How often Python is asked to stand before the handlers, where each time one raises.
#define MOST_ATTEMPTS 1000

static object *adopt, *functions[ENTRIES];
static void *interrupted;
static atomic_bool silent;

// Take the exception that a call of Python has left.
static object *exception(void) {
    object *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != NULL) {
        PyException_SetTraceback(value, trace);
    }
    Py_DecRef(type);
    Py_DecRef(trace);
    return value;
}

// Let Python stand before the handlers of signals. Returns whether it does.
static bool handlers_adopted(void) {
    object *raised = NULL;  // by a handler before that; of several, the first
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
        object *done = PyObject_CallFunctionObjArgs(adopt, raised, NULL);
        if (done != NULL) {
            Py_DecRef(done);
            Py_DecRef(raised);
            return true;
        }
        object *another = exception();
        if (raised == NULL) {
            raised = another;
        } else {
            Py_DecRef(another);
        }
    }
    Py_DecRef(raised);
    return false;
}

// Call a function of Python with arguments of the PJRT API; returns an error, NULL where there is
// none. For any thread, with Python's lock or without, and with an exception on its way.
static void *call(size_t entry, void *arguments) {
    if (atomic_load(&silent)) {
        return NULL;
    }
    void *result = interrupted;
    int signal = 0;
    int state = PyGILState_Ensure();
    object *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (handlers_adopted()) {
        object *answer = PyObject_CallFunction(functions[entry], "K",
                                               (unsigned long long)(uintptr_t)arguments);
        unsigned long long error;
        if (answer != NULL && PyArg_ParseTuple(answer, "Ki", &error, &signal)) {
            result = (void *)(uintptr_t)error;
        } else {
            PyErr_WriteUnraisable(functions[entry]);
        }
        Py_DecRef(answer);
    }
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    if (signal != 0) {
        PyErr_SetInterruptEx(signal);
    }
    return result;
}

// A function of the PJRT API has no argument that says which one it is: there is one of C for each.
#define ROW(of, n) \
    of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7) \
    of(n##8) of(n##9) of(n##a) of(n##b) of(n##c) of(n##d) of(n##e) of(n##f)
#define TABLE(of) \
    ROW(of, 0x0) ROW(of, 0x1) ROW(of, 0x2) ROW(of, 0x3) \
    ROW(of, 0x4) ROW(of, 0x5) ROW(of, 0x6) ROW(of, 0x7)
#define FUNCTION(n) static void *call_##n(void *arguments) { return call(n, arguments); }
#define ADDRESS(n) call_##n,

TABLE(FUNCTION)

static void *(*const calls[])(void *) = {TABLE(ADDRESS)};
_Static_assert(sizeof calls / sizeof *calls == ENTRIES, "a function for each entry");

// Begin, with Python's lock.
//
// `adopt_handlers` is called before each function: with nothing, or with what a handler has raised
// instead of it. `no_result` is what a call returns where Python gives no result.
EXPORT void begin(object *adopt_handlers, void *no_result) {
    Py_IncRef(adopt_handlers);
    Py_DecRef(adopt);
    adopt = adopt_handlers;
    interrupted = no_result;
}

// Return a function of the PJRT API that calls one of Python; NULL where there is no room for it.
// With Python's lock, after `begin`.
//
// Python's takes the address of the arguments, and returns two numbers: the address of an error, or
// 0, and the signal whose handler Python is to call when the call has ended, or 0.
EXPORT void *(*function(size_t entry, object *of_python))(void *) {
    if (entry >= ENTRIES) {
        return NULL;
    }
    Py_IncRef(of_python);
    Py_DecRef(functions[entry]);
    functions[entry] = of_python;
    return calls[entry];
}

// Let all functions do nothing from now on, but for `destroy`: objects outlive the interpreter.
EXPORT void silence(void) {
    atomic_store(&silent, true);
}

// Do nothing: where the PJRT API wants a function that there is nothing to do for.
EXPORT void nothing(void *unused) {
    (void)unused;
}
