/* status: 134 */
/* A raised SIGABRT ends the program as on Linux. */
#include <stdint.h>

__attribute__((import_module("wasi_snapshot_preview1"),
               import_name("proc_raise"))) uint32_t
proc_raise(uint32_t sig);

int
main(void)
{
    return (int)proc_raise(6);
}
