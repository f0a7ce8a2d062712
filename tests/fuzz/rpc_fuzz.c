/* Fuzzes the server: the input is what a client sends, from the first byte to
 * the end. The library is replaced by a fake (tests/rpc), in which calls fail
 * as the input's first byte says. */
#include "../rpc/fake_library.h"
#include "rpc/server.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct server_options o = {.grace_ms = 1};
    static int in = -1, out = -1;

    if (!size)
        return 0;
    if (in < 0) {
        in = memfd_create("in", 0);
        out = open("/dev/null", O_WRONLY);
    }
    fake_library_reset(data[0] % 8);
    if (ftruncate(in, 0) < 0 || pwrite(in, data + 1, size - 1, 0) < 0 ||
        lseek(in, 0, SEEK_SET) < 0)
        abort();
    if (server_main(&o, in, out) != 0)
        abort();
    return 0;
}
