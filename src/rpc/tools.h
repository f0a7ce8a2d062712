/* The programs of a host folder as commands of a sandbox. */
#ifndef RPC_TOOLS_H
#define RPC_TOOLS_H

#include <stdbool.h>

/* Calls add(arg, host_path, guest_path) for each *.wasm in `dir`, by name; the
 * paths are good for the call. true-cmd.wasm is `true`, false-cmd.wasm is
 * `false`. 0, the first negative result of add, or -errno. */
int tools_scan(const char *dir,
               int (*add)(void *arg, const char *host_path,
                          const char *guest_path),
               void *arg);

#endif
