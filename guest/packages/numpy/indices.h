/* SPDX-License-Identifier: MIT */
/* Arrays of indices. The default integer has 64 bits and an index 32: such integers
 * are accepted as indices if their values fit. */
#ifndef NPY_INDICES_H
#define NPY_INDICES_H

static inline int
npy_indices_fit(PyArrayObject *wide)
{
    const npy_longlong *values = PyArray_DATA(wide);

    for (npy_intp i = 0; i < PyArray_SIZE(wide); i++) {
        if (values[i] == (npy_intp)values[i])
            continue;
        PyErr_Format(PyExc_IndexError, "index %lld is out of bounds: an index has %d bits",
                     values[i], 8 * (int)sizeof(npy_intp));
        return 0;
    }
    return 1;
}

/* As PyArray_ContiguousFromAny for the type NPY_INTP. */
static inline PyObject *
npy_indices_from_any(PyObject *op, int min_depth, int max_depth)
{
    if (!PyArray_Check(op) || PyArray_TYPE((PyArrayObject *)op) != NPY_LONGLONG)
        return PyArray_ContiguousFromAny(op, NPY_INTP, min_depth, max_depth);

    PyArrayObject *wide = (PyArrayObject *)PyArray_ContiguousFromAny(
        op, NPY_LONGLONG, min_depth, max_depth);
    if (wide == NULL)
        return NULL;
    PyObject *indices = npy_indices_fit(wide) ? PyArray_Cast(wide, NPY_INTP) : NULL;
    Py_DECREF(wide);
    return indices;
}

#endif
