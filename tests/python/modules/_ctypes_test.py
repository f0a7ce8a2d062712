"""A library of C functions natively; here only what its name is asked for."""
