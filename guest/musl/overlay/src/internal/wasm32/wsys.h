/* SPDX-License-Identifier: MIT */
/* What the pieces of the port share. */
#ifndef WSYS_H
#define WSYS_H

#include <features.h>

#define SYS_IMPORT(name) \
    __attribute__((import_module("sys"), import_name(name)))

/* Runs the handlers of all deliverable signals. */
void __wsig_deliver(void);
extern volatile int __wsig_pending;

/* Goes back to the vfork point when this instance is in a vfork child whose
 * process has ended; returns when there is no vfork child. Weak: a program
 * that never calls vfork does not get it, nor the exception handling that
 * comes with it. */
weak void __wvfork_end(void);

#endif
