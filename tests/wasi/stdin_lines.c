/* stdin: "one\ntwo\nthree, without an end" */
/* stdout: "3: one\n3: two\n21: three, without an end\n" */
/* A loop over the lines of standard input. */
#include "check.h"

int
main(void)
{
    char line[128];

    while (fgets(line, sizeof line, stdin)) {
        size_t len = strcspn(line, "\n");
        printf("%zu: %.*s\n", len, (int)len, line);
    }
    CHECK(feof(stdin));
    return 0;
}
