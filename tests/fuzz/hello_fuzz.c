/* Fuzzes the first bytes of a TLS client. The verdict about bytes does not
 * change when more follow, and a hello asks for one name only. */
#include "net/hello.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum hello_verdict
check(const uint8_t *data, size_t size, const char *name)
{
    uint8_t *space = malloc(HELLO_BYTES_MAX);
    enum hello_verdict v = hello_check(data, size, name, space);

    free(space);
    return v;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum hello_verdict v = check(data, size, "web.example");
    enum hello_verdict half = check(data, size / 2, "web.example");

    if (half != HELLO_MORE && size <= HELLO_BYTES_MAX && half != v)
        abort();
    if (v == HELLO_ASKS && check(data, size, "other.example") != HELLO_BAD)
        abort();
    return 0;
}
