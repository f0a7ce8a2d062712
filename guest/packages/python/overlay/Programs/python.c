/* SPDX-License-Identifier: MIT */
/* The interpreter's main program, and its pre-initialised form.
 *
 * Started with WASMSAND_RESIDENT in its environment, it initialises itself,
 * imports what programs use most (Lib/_resident.py) and gives its memory to the
 * host in sys.next, which never comes back. A process that executes the frozen
 * result begins in wasmsand_resume: what depends on the process is done there,
 * and options or variables that would have changed the initialisation lead to
 * an interpreter that starts from nothing. */
#include "Python.h"
#include "pycore_fileutils.h"
#include "pycore_initconfig.h"
#include "pycore_interp.h"
#include "pycore_pystate.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wasmsand.h>

#define PLAIN      "/usr/bin/python3.11"
#define EXECUTABLE "/usr/bin/python3"
#define LOCALE     "C.UTF-8"

__attribute__((import_module("sys"), import_name("sigword"))) void
set_signal_word(volatile int *word);

/* Of libc: the thread's number, among others. */
int __init_tp(void *thread);

int _PyResident_Signals(void);
PyStatus _PyResident_Begin(void);
int _PyResident_Keep(PyObject *modules);

static PyObject *resident_begin;

/* --- before it is frozen */

static void
initialise(void)
{
    char *argv[] = {"python3"};
    PyConfig config;

    PyConfig_InitPythonConfig(&config);
    PyStatus status = PyConfig_SetBytesArgv(&config, 1, argv);
    if (!PyStatus_Exception(status))
        status =
            PyConfig_SetBytesString(&config, &config.executable, EXECUTABLE);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
}

static int
become_resident(void)
{
    unsetenv("WASMSAND_RESIDENT");
    initialise();
    PyObject *module = PyImport_ImportModule("_resident");
    PyObject *modules =
        module ? PyObject_CallMethod(module, "prepare", NULL) : NULL;
    if (modules && _PyResident_Keep(modules) == 0)
        resident_begin = PyObject_GetAttrString(module, "begin");
    if (!resident_begin) {
        PyErr_Print();
        return 1;
    }
    Py_DECREF(modules);
    wasmsand_next(0);
    return 1;
}

int
main(int argc, char **argv)
{
    extern char **environ;

    if (resident_begin) { /* a copy that may not begin in the middle */
        execve(PLAIN, argv, environ);
        return 127;
    }
    if (getenv("WASMSAND_RESIDENT"))
        return become_resident();
    return Py_BytesMain(argc, argv);
}

/* --- in a new process */

/* What is to be run: at most one of the first three. */
struct task {
    const char *command, *module, *file;
    int rest; /* of argv: what becomes sys.argv */
};

/* False: there are other options. */
static bool
parse(int argc, char **argv, struct task *t)
{
    *t = (struct task){.rest = 1};
    if (argc < 2 || strcmp(argv[1], "-") == 0)
        return true;
    if (argv[1][0] != '-') {
        t->file = argv[1];
        return true;
    }
    t->rest = 2;
    if (argc > 2 && strcmp(argv[1], "-c") == 0)
        t->command = argv[2];
    else if (argc > 2 && strcmp(argv[1], "-m") == 0)
        t->module = argv[2];
    return t->command || t->module;
}

static bool
has_usual_environment(void)
{
    extern char **environ;
    const char *locale = getenv("LC_ALL");

    for (char **e = environ; *e; e++)
        if (strncmp(*e, "PYTHON", 6) == 0)
            return false;
    if (!locale || !*locale)
        locale = getenv("LC_CTYPE");
    if (!locale || !*locale)
        locale = getenv("LANG");
    return locale && strcmp(locale, LOCALE) == 0;
}

/* os.environ is a view of this dictionary. */
static int
set_environment(void)
{
    extern char **environ;
    PyObject *module = PyImport_ImportModule("posix");
    PyObject *dict = module ? PyObject_GetAttrString(module, "environ") : NULL;

    if (!dict)
        return -1;
    PyDict_Clear(dict);
    for (char **e = environ; *e; e++) {
        const char *equals = strchr(*e, '=');
        if (!equals)
            continue;
        PyObject *name = PyBytes_FromStringAndSize(*e, equals - *e);
        PyObject *value = PyBytes_FromString(equals + 1);
        if (!name || !value || !PyDict_SetDefault(dict, name, value))
            return -1;
        Py_DECREF(name);
        Py_DECREF(value);
    }
    Py_DECREF(dict);
    Py_DECREF(module);
    return 0;
}

static int
set_list(const char *name, const PyWideStringList *strings)
{
    PyObject *list = _PyWideStringList_AsList(strings);
    int r = list ? PySys_SetObject(name, list) : -1;

    Py_XDECREF(list);
    return r;
}

static PyStatus
set_file(PyConfig *config, const char *file)
{
    wchar_t *absolute = NULL;
    PyStatus status =
        PyConfig_SetBytesString(config, &config->run_filename, file);

    if (PyStatus_Exception(status) || _Py_isabs(config->run_filename) ||
        _Py_abspath(config->run_filename, &absolute) < 0 || !absolute)
        return status;
    PyMem_RawFree(config->run_filename);
    config->run_filename = absolute;
    return status;
}

static PyStatus
set_command(PyConfig *config, const char *command)
{
    size_t len = strlen(command);
    char *line = malloc(len + 2);

    if (!line)
        return PyStatus_NoMemory();
    memcpy(line, command, len);
    memcpy(line + len, "\n", 2);
    PyStatus status =
        PyConfig_SetBytesString(config, &config->run_command, line);
    free(line);
    return status;
}

static PyStatus
set_arguments(PyConfig *config, int argc, char **argv, const struct task *t)
{
    static char *nothing[] = {"", NULL};
    char **rest = t->rest < argc ? argv + t->rest : nothing;
    int count = t->rest < argc ? argc - t->rest : 1;

    PyStatus status = PyConfig_SetBytesArgv(config, argc, argv);
    if (!PyStatus_Exception(status))
        status =
            PyConfig_SetWideStringList(config, &config->orig_argv,
                                       config->argv.length, config->argv.items);
    if (PyStatus_Exception(status))
        return status;
    if (t->command || t->module)
        rest[0] = t->command ? "-c" : "-m";
    status = PyConfig_SetBytesArgv(config, count, rest);
    if (!PyStatus_Exception(status) &&
        (set_list("argv", &config->argv) < 0 ||
         set_list("orig_argv", &config->orig_argv) < 0))
        return PyStatus_NoMemory();
    return status;
}

static PyStatus
set_task(PyConfig *config, const struct task *t)
{
    if (t->command)
        return set_command(config, t->command);
    if (t->module)
        return PyConfig_SetBytesString(config, &config->run_module, t->module);
    if (t->file)
        return set_file(config, t->file);
    return PyStatus_Ok();
}

static PyStatus
begin(int argc, char **argv, struct task *t)
{
    PyConfig *config =
        (PyConfig *)_PyInterpreterState_GetConfig(_PyInterpreterState_GET());

    if (_PyResident_Signals() < 0 || set_environment() < 0)
        return PyStatus_NoMemory();
    PyStatus status = _PyResident_Begin();
    if (!PyStatus_Exception(status))
        status = set_task(config, t);
    if (!PyStatus_Exception(status))
        status = set_arguments(config, argc, argv, t);
    if (PyStatus_Exception(status))
        return status;
    PyObject *done = PyObject_CallNoArgs(resident_begin);
    if (!done)
        PyErr_Print();
    Py_XDECREF(done);
    return status;
}

__attribute__((export_name("wasmsand_resume"))) void
wasmsand_resume(void)
{
    extern char **environ;
    size_t size = wasmsand_args_size();
    long *block = malloc(size);
    struct task t;

    if (!block)
        _exit(1);
    wasmsand_args_get(block, size);
    char **argv = (char **)(block + 1);
    environ = argv + block[0] + 1;
    set_signal_word(&__wsig_pending);
    __init_tp((void *)pthread_self());
    if (!parse((int)block[0], argv, &t) || !has_usual_environment()) {
        execve(PLAIN, argv, environ);
        perror(PLAIN);
        _exit(127);
    }
    PyStatus status = begin((int)block[0], argv, &t);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    exit(Py_RunMain());
}
