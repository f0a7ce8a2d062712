/* What uname and /proc say the system is: programs ask for a Linux of an age
 * whose calls we have. */
#ifndef KERNEL_VERSION_H
#define KERNEL_VERSION_H

#define KERNEL_SYSNAME "Linux"
#define KERNEL_RELEASE "6.1.0-wasmsand"
#define KERNEL_VERSION "#1 wasmsand"
#define KERNEL_MACHINE "wasm32"

#endif
