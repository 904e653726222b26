// native.c under a sanitiser, by itself: Python is played here, by objects that are counted.
//
// usage: native_check; exit code 0 and no word where all is well.

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                           \
    do {                                                                      \
        if (!(what)) {                                                        \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #what); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

// What native.c exports.
struct cell {
    struct cell *next;
};
struct destroying {
    size_t struct_size;
    void *extensions;
    struct cell *cell;
};
typedef struct object object;
extern _Atomic(struct cell *) destroyed;
void *destroy(const struct destroying *arguments);
struct cell *take_destroyed(void);
void begin(object *adopt_handlers, void *no_result);
void *(*function(size_t entry, object *of_python))(void *);
void silence(void);
void nothing(void *unused);

// Python: an object is memory with a count; what it is called for says what it does.

enum kind { VALUE, ADOPTS, ANSWERS, RAISES, ANSWERS_NO_TUPLE };

struct object {
    int count;
    enum kind kind;
    int raises;      // ADOPTS: how often it raises before it returns
    object *raised;  // ADOPTS: what it was given the last time
    unsigned long long error, argument;
    int signal;
};

static pthread_mutex_t python = PTHREAD_MUTEX_INITIALIZER;  // the lock of the interpreter
static object *pending, *pending_type, *pending_trace;       // the exception on its way
static int objects, unraisable, tripped;

static object *make(enum kind kind) {
    object *made = calloc(1, sizeof *made);
    made->count = 1;
    made->kind = kind;
    objects++;
    return made;
}

void Py_IncRef(object *it) {
    if (it != NULL) {
        it->count++;
    }
}

void Py_DecRef(object *it) {
    if (it != NULL && --it->count == 0) {
        if (it->raised != NULL) {
            Py_DecRef(it->raised);
        }
        objects--;
        free(it);
    }
}

int PyGILState_Ensure(void) {
    pthread_mutex_lock(&python);
    return 7;
}

void PyGILState_Release(int state) {
    CHECK(state == 7);
    pthread_mutex_unlock(&python);
}

void PyErr_Fetch(object **type, object **value, object **trace) {
    *type = pending_type, *value = pending, *trace = pending_trace;
    pending_type = pending = pending_trace = NULL;
}

void PyErr_Restore(object *type, object *value, object *trace) {
    CHECK(pending == NULL);
    pending_type = type, pending = value, pending_trace = trace;
}

void PyErr_NormalizeException(object **type, object **value, object **trace) {
    CHECK(*type != NULL && *trace != NULL);
    if (*value == NULL) {
        *value = make(VALUE);
    }
}

int PyException_SetTraceback(object *exception, object *trace) {
    CHECK(exception != NULL && trace != NULL);
    return 0;
}

static object *raise(void) {
    PyErr_Restore(make(VALUE), NULL, make(VALUE));
    return NULL;
}

void PyErr_WriteUnraisable(object *where) {
    CHECK(where != NULL && pending_type != NULL);
    unraisable++;
    Py_DecRef(pending_type), Py_DecRef(pending), Py_DecRef(pending_trace);
    pending_type = pending = pending_trace = NULL;
}

int PyErr_SetInterruptEx(int signal) {
    tripped = signal;
    return 0;
}

object *PyObject_CallFunctionObjArgs(object *callable, ...) {
    va_list list;
    va_start(list, callable);
    object *raised = va_arg(list, object *);
    if (raised != NULL) {
        CHECK(va_arg(list, object *) == NULL);
    }
    va_end(list);
    CHECK(callable->kind == ADOPTS && pending_type == NULL);
    Py_IncRef(raised);
    Py_DecRef(callable->raised);
    callable->raised = raised;
    if (callable->raises != 0) {
        callable->raises--;
        return raise();
    }
    return make(VALUE);
}

object *PyObject_CallFunction(object *callable, const char *format, ...) {
    CHECK(strcmp(format, "K") == 0);
    va_list list;
    va_start(list, format);
    callable->argument = va_arg(list, unsigned long long);
    va_end(list);
    if (callable->kind == RAISES) {
        return raise();
    }
    object *answer = make(callable->kind);
    answer->error = callable->error, answer->signal = callable->signal;
    return answer;
}

int PyArg_ParseTuple(object *tuple, const char *format, ...) {
    CHECK(strcmp(format, "Ki") == 0);
    if (tuple->kind != ANSWERS) {
        raise();
        return 0;
    }
    va_list list;
    va_start(list, format);
    *va_arg(list, unsigned long long *) = tuple->error;
    *va_arg(list, int *) = tuple->signal;
    va_end(list);
    return 1;
}

// Checks

#define THREADS 4
#define CELLS 20000
#define STAYS ((struct cell *)UINTPTR_MAX)

static struct cell cells[THREADS][CELLS];
static unsigned char taken[THREADS][CELLS];
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;

// Take what there is, and make the cells new; Python does it with its lock held.
static size_t take(void) {
    size_t count = 0;
    pthread_mutex_lock(&taking);
    for (struct cell *cell = take_destroyed(), *next; cell != NULL; cell = next, count++) {
        next = cell->next;
        size_t i = (size_t)(cell - &cells[0][0]);
        CHECK(i < THREADS * CELLS && taken[i / CELLS][i % CELLS]++ == 0);
    }
    pthread_mutex_unlock(&taking);
    return count;
}

static void *work(void *row) {
    size_t count = 0;
    for (int i = 0; i < CELLS; i++) {
        struct destroying arguments = {sizeof arguments, NULL, (struct cell *)row + i};
        CHECK(destroy(&arguments) == NULL);
        if (i % 64 == 0) {
            count += take();
        }
    }
    return (void *)count;
}

static void check_destroying(void) {
    struct cell stays = {STAYS};
    struct destroying none = {sizeof none, NULL, NULL}, not_it = {sizeof not_it, NULL, &stays};
    CHECK(destroy(&none) == NULL && destroy(&not_it) == NULL && destroy(&not_it) == NULL);
    CHECK(atomic_load(&destroyed) == NULL && take_destroyed() == NULL && stays.next == STAYS);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, cells[i]) == 0);
    }
    size_t count = 0;
    for (int i = 0; i < THREADS; i++) {
        void *more;
        CHECK(pthread_join(threads[i], &more) == 0);
        count += (size_t)more;
    }
    CHECK(count + take() == THREADS * CELLS && take_destroyed() == NULL);
}

static void *const interrupted = (void *)0xE0;

static void *many(void *called) {
    for (int i = 0; i < 2000; i++) {
        CHECK(((void *(*)(void *))called)((void *)(uintptr_t)0x1234) == NULL);
    }
    return NULL;
}

static void check_calls(void) {
    object *adopts = make(ADOPTS), *answers = make(ANSWERS), *other = make(ANSWERS);
    begin(answers, NULL);
    begin(adopts, interrupted);
    CHECK(function(128, answers) == NULL && function(SIZE_MAX, answers) == NULL);
    CHECK(function(127, other) != function(0, answers));
    void *(*called)(void *) = function(0, answers);

    // a result, an error, a signal
    CHECK(called((void *)0x1234) == NULL && answers->argument == 0x1234 && tripped == 0);
    CHECK(adopts->raised == NULL);
    answers->error = UINT64_C(0x7FFF12345678), answers->signal = 10;
    CHECK(called(NULL) == (void *)(uintptr_t)0x7FFF12345678 && tripped == 10);
    CHECK(answers->argument == 0);
    CHECK(function(127, other)(NULL) == NULL);

    // a handler that raises before the function: what it raised comes to who adopts
    answers->error = 0, answers->signal = 0;
    adopts->raises = 3;
    CHECK(called(NULL) == NULL && adopts->raises == 0 && adopts->raised != NULL);
    adopts->raises = 1 << 30, answers->argument = 1;
    CHECK(called(NULL) == interrupted && answers->argument == 1);
    CHECK(adopts->raises == (1 << 30) - 1000 && pending_type == NULL && unraisable == 0);
    adopts->raises = 0;

    // no result, and one that is none
    object *raises = make(RAISES), *answers_no_tuple = make(ANSWERS_NO_TUPLE);
    CHECK(function(0, raises)(NULL) == interrupted && unraisable == 1);
    CHECK(function(0, answers_no_tuple)(NULL) == interrupted && unraisable == 2);

    // an exception on its way
    raise();
    object *type = pending_type;
    CHECK(function(0, answers)(NULL) == NULL && pending_type == type);
    adopts->raises = 1;
    CHECK(called(NULL) == NULL && pending_type == type);
    PyErr_WriteUnraisable(type);

    // threads
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, many, (void *)(uintptr_t)called) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }

    // after the interpreter
    adopts->raises = 1, answers->error = 1;
    silence();
    CHECK(called(NULL) == NULL && adopts->raises == 1);
    nothing(NULL);

    // Python's objects: who adopts, and the two functions there are now, have a reference of C.
    object *all[] = {adopts, answers, other, raises, answers_no_tuple};
    for (int i = 0; i < 5; i++) {
        CHECK(all[i]->count == (i < 3 ? 2 : 1));
        Py_DecRef(all[i]);
    }
    CHECK(objects == 3);
}

int main(void) {
    check_destroying();
    check_calls();
    return 0;
}
