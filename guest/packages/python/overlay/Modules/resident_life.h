/* SPDX-License-Identifier: MIT */
/* Part of pylifecycle.c: the beginning and the end of a process that began with
 * the memory of an initialised interpreter. A page of that memory costs nothing
 * until it is touched, so the objects in it are neither freed nor traversed. */

/* The modules that were in that memory, by address; none in other processes. */
static PyObject **resident;
static Py_ssize_t n_resident;
static uint64_t builtins_version;

static int
compare_addresses(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (PyObject *const *)a;
    uintptr_t y = (uintptr_t) * (PyObject *const *)b;

    return (x > y) - (x < y);
}

/* Before it is frozen, with all modules by name. */
int
_PyResident_Keep(PyObject *modules)
{
    Py_ssize_t pos = 0;
    PyObject *module;

    resident = PyMem_RawCalloc(PyDict_Size(modules) + 1, sizeof *resident);
    if (!resident)
        return -1;
    while (PyDict_Next(modules, &pos, NULL, &module))
        resident[n_resident++] = Py_NewRef(module);
    qsort(resident, n_resident, sizeof *resident, compare_addresses);
    return 0;
}

/* Creates the objects that init_interp_main creates in each process. */
PyStatus
_PyResident_Begin(void)
{
    PyThreadState *tstate = _PyThreadState_GET();
    PyInterpreterState *interp = tstate->interp;
    PyStatus status = init_sys_streams(tstate);

    builtins_version = ((PyDictObject *)interp->builtins)->ma_version_tag;
    return _PyStatus_EXCEPTION(status) ? status : add_main_module(interp);
}

/* Moves the modules of this process out of sys.modules. */
static PyObject *
take_own(PyObject *modules)
{
    PyObject *own = PyDict_New(), *name, *module;
    Py_ssize_t pos = 0;

    while (own && PyDict_Next(modules, &pos, &name, &module))
        if (!bsearch(&module, resident, n_resident, sizeof module,
                     compare_addresses) &&
            PyDict_SetItem(own, name, module) < 0)
            Py_CLEAR(own);
    for (pos = 0; own && PyDict_Next(own, &pos, &name, NULL);)
        PyDict_DelItem(modules, name);
    return own;
}

/* As finalize_modules, for the modules of this process: the destructors of what
 * it made run, files are written out. Returns 1 if it was such a process. */
int
_PyResident_FinalizeModules(PyThreadState *tstate)
{
    PyInterpreterState *interp = tstate->interp;
    PyDictObject *builtins = (PyDictObject *)interp->builtins;

    if (!resident || !interp->modules || !PyDict_CheckExact(interp->modules))
        return 0;
    if (builtins->ma_version_tag != builtins_version)
        finalize_restore_builtins(tstate);
    finalize_modules_delete_special(tstate, 0);
    PyObject *own = take_own(interp->modules);
    if (!own)
        return 1;
    PyObject *weaklist = finalize_remove_modules(own, 0);
    Py_DECREF(own);
    _PyGC_CollectNoFail(tstate);
    if (weaklist) {
        finalize_modules_clear_weaklist(interp, weaklist, 0);
        Py_DECREF(weaklist);
    }
    _PyGC_CollectNoFail(tstate);
    return 1;
}
