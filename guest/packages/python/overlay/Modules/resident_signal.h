/* SPDX-License-Identifier: MIT */
/* Part of signalmodule.c. */

/* The state of signals in a process that began with the memory of another. */
int
_PyResident_Signals(void)
{
    PyObject *module = PyImport_ImportModule("_signal");

    if (!module || signal_install_handlers() < 0)
        return -1;
    int r =
        signal_get_set_handlers(&signal_global_state, PyModule_GetDict(module));
    Py_DECREF(module);
    return r;
}
