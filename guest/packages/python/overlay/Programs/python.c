/* SPDX-License-Identifier: MIT */
/* The interpreter's main program, and its pre-initialised form.
 *
 * Started with WASMSAND_RESIDENT in its environment, it initialises itself,
 * imports what programs use most (Lib/_resident.py) and gives its memory to the
 * host in sys.next, which never comes back. A process that executes the frozen
 * result begins in wasmsand_resume, which initialises the state that depends on
 * the process. Options or variables that would have changed the frozen part
 * lead to an interpreter that starts from nothing. */
#include "Python.h"
#include "pycore_fileutils.h"
#include "pycore_initconfig.h"
#include "pycore_interp.h"
#include "pycore_pystate.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
int _PyResident_Flags(void);
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

/* The program to run: at most one of the first three is set. */
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

/* Settings from environment variables; Lib/_resident.py reads PYTHONPATH. */
struct settings {
    bool is_unbuffered, writes_no_bytecode, has_utf8_mode, has_utf8_streams;
};

/* As _Py_get_env_flag: every value but the number 0. */
static bool
is_on(const char *value)
{
    char *end;
    long number = strtol(value, &end, 10);

    return *end || number != 0;
}

/* A variable NAME=VALUE that begins with "PYTHON". False: its effect belongs to
 * the initialisation. An empty value has none, nor has a name with an
 * underscore: Python 3.11 reads no such variable. */
static bool
read_variable(const char *variable, struct settings *s)
{
    const char *value = strchr(variable, '=');
    size_t len = value ? (size_t)(value - variable) : 0;

    if (!value || !*++value || variable[6] == '_')
        return true;
#define IS(name) (len == sizeof name - 1 && strncmp(variable, name, len) == 0)
    if (IS("PYTHONPATH"))
        return true;
    if (IS("PYTHONUNBUFFERED"))
        s->is_unbuffered = is_on(value);
    else if (IS("PYTHONDONTWRITEBYTECODE"))
        s->writes_no_bytecode = is_on(value);
    else if (IS("PYTHONUTF8"))
        return s->has_utf8_mode = strcmp(value, "1") == 0;
    else if (IS("PYTHONIOENCODING"))
        return s->has_utf8_streams =
                   strcasecmp(value, "utf-8") == 0 ||
                   strcasecmp(value, "utf8") == 0;
    else
        return false;
#undef IS
    return true;
}

/* False: an interpreter that starts from nothing is needed. */
static bool
read_environment(struct settings *s)
{
    extern char **environ;
    const char *locale = getenv("LC_ALL");

    *s = (struct settings){0};
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "PYTHON", 6) == 0 && !read_variable(*e, s))
            return false;
    if (!locale || !*locale)
        locale = getenv("LC_CTYPE");
    if (!locale || !*locale)
        locale = getenv("LANG");
    return locale && strcmp(locale, LOCALE) == 0;
}

/* Before the streams are made. */
static PyStatus
apply(const struct settings *s, PyConfig *config)
{
    PyStatus status = PyStatus_Ok();

    if (s->is_unbuffered) {
        config->buffered_stdio = 0;
        setvbuf(stdin, NULL, _IONBF, BUFSIZ);
        setvbuf(stdout, NULL, _IONBF, BUFSIZ);
        setvbuf(stderr, NULL, _IONBF, BUFSIZ);
    }
    config->write_bytecode = !s->writes_no_bytecode;
    _PyRuntime.preconfig.utf8_mode = s->has_utf8_mode;
    if (s->has_utf8_streams)
        status = PyConfig_SetString(config, &config->stdio_encoding, L"utf-8");
    if (s->has_utf8_streams && !PyStatus_Exception(status))
        status = PyConfig_SetString(config, &config->stdio_errors, L"strict");
    if ((s->writes_no_bytecode || s->has_utf8_mode) &&
        _PyResident_Flags() < 0 && !PyStatus_Exception(status))
        return PyStatus_NoMemory();
    return status;
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
begin(int argc, char **argv, const struct task *t, const struct settings *s)
{
    PyConfig *config =
        (PyConfig *)_PyInterpreterState_GetConfig(_PyInterpreterState_GET());

    if (_PyResident_Signals() < 0 || set_environment() < 0)
        return PyStatus_NoMemory();
    PyStatus status = apply(s, config);
    if (!PyStatus_Exception(status))
        status = _PyResident_Begin();
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
    struct settings s;
    struct task t;

    if (!block)
        _exit(1);
    wasmsand_args_get(block, size);
    char **argv = (char **)(block + 1);
    environ = argv + block[0] + 1;
    set_signal_word(&__wsig_pending);
    __init_tp((void *)pthread_self());
    if (!parse((int)block[0], argv, &t) || !read_environment(&s)) {
        execve(PLAIN, argv, environ);
        perror(PLAIN);
        _exit(127);
    }
    PyStatus status = begin((int)block[0], argv, &t, &s);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    exit(Py_RunMain());
}
