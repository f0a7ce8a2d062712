/* The system that uname and /proc report: a version of Linux whose system calls
 * we have. */
#ifndef KERNEL_VERSION_H
#define KERNEL_VERSION_H

#define KERNEL_SYSNAME "Linux"
#define KERNEL_RELEASE "6.1.0-wasmsand"
#define KERNEL_VERSION "#1 wasmsand"
#define KERNEL_MACHINE "wasm32"

#endif
