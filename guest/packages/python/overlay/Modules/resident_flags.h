/* SPDX-License-Identifier: MIT */
/* Part of sysmodule.c. */

/* sys.flags and sys.dont_write_bytecode after a change of the configuration. */
int
_PyResident_Flags(void)
{
    PyInterpreterState *interp = _PyInterpreterState_GET();
    const PyConfig *config = _PyInterpreterState_GetConfig(interp);
    PyObject *flags = _PySys_GetObject(interp, "flags");
    PyObject *value = config->write_bytecode ? Py_False : Py_True;

    if (!flags || set_flags_from_config(interp, flags) < 0)
        return -1;
    return PySys_SetObject("dont_write_bytecode", value);
}
