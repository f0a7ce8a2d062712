/* SPDX-License-Identifier: MIT */
/* Part of pylifecycle.c: the beginning and the end of a process that began with
 * the memory of an initialised interpreter. */

/* The modules that were in that memory; NULL in any other process. */
PyObject *_PyResident_Modules;

/* What init_interp_main makes for each process. */
PyStatus
_PyResident_Begin(void)
{
    PyThreadState *tstate = _PyThreadState_GET();
    PyStatus status = init_sys_streams(tstate);

    return _PyStatus_EXCEPTION(status) ? status
                                       : add_main_module(tstate->interp);
}

static void
leave_out_resident(PyObject *modules)
{
    Py_ssize_t pos = 0;
    PyObject *name, *module;

    while (PyDict_Next(_PyResident_Modules, &pos, &name, &module))
        if (PyDict_GetItemWithError(modules, name) == module)
            PyDict_DelItem(modules, name);
}

/* As finalize_modules, for the modules of this process: the destructors of what
 * it made run, files are written out. What it began with is not taken apart.
 * Returns 1 if this was such a process. */
int
_PyResident_FinalizeModules(PyThreadState *tstate)
{
    PyObject *modules = tstate->interp->modules;

    if (!_PyResident_Modules || !modules)
        return 0;
    finalize_modules_delete_special(tstate, 0);
    leave_out_resident(modules);
    PyObject *weaklist = finalize_remove_modules(modules, 0);
    finalize_clear_modules_dict(modules);
    finalize_restore_builtins(tstate);
    _PyGC_CollectNoFail(tstate);
    if (weaklist) {
        finalize_modules_clear_weaklist(tstate->interp, weaklist, 0);
        Py_DECREF(weaklist);
    }
    _PyGC_CollectNoFail(tstate);
    return 1;
}
