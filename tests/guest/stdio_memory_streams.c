/* fmemopen, open_memstream and fopencookie are streams without files. */
#include "guest.h"

static ssize_t
count_bytes(void *cookie, const char *buf, size_t n)
{
    (void)buf;
    *(size_t *)cookie += n;
    return (ssize_t)n;
}

int
main(void)
{
    char buf[16] = "12 34", *out = NULL;
    size_t size = 0, total = 0;
    int a, b;

    FILE *f = fmemopen(buf, strlen(buf), "r");
    CHECK(f != NULL);
    CHECK_EQ(fscanf(f, "%d %d", &a, &b), 2);
    CHECK_EQ(a * 100 + b, 1234);
    CHECK_EQ(fgetc(f), EOF);
    CHECK_EQ(fclose(f), 0);

    f = open_memstream(&out, &size);
    CHECK(f != NULL);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(fprintf(f, "%04d", i), 4);
    CHECK_EQ(fclose(f), 0);
    CHECK_EQ(size, 4000);
    CHECK(memcmp(out + 3996, "0999", 5) == 0);
    free(out);

    f = fopencookie(&total, "w", (cookie_io_functions_t){.write = count_bytes});
    CHECK(f != NULL);
    fprintf(f, "%s", "hello");
    CHECK_EQ(fclose(f), 0);
    CHECK_EQ(total, 5);
    return 0;
}
