/* Reads lines of JSON. For each, writes the value that was read, as JSON, or
 * "refused". test_json.py compares that with Python's reader. */
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

int
main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    while ((len = getline(&line, &cap, stdin)) > 0) {
        struct json_doc d = {0};
        struct json_fault fault;
        struct buf b;

        buf_init(&b, SIZE_MAX);
        if (json_read_copy(&d, line, (size_t)len - 1, &fault) == 0)
            json_put(&b, d.v);
        else
            buf_puts(&b, "refused");
        if (b.error)
            return 1;
        (void)fwrite(b.p, 1, b.len, stdout);
        (void)putchar('\n');
        buf_fini(&b);
        json_fini(&d);
    }
    free(line);
    return 0;
}
