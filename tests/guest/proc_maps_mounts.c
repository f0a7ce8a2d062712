/* /proc/self/maps and mounts have lines of the usual form. */
#include "guest.h"

int
main(void)
{
    char line[16384], perms[8], what[256], on[256], type[256];
    unsigned long long lo, hi;
    int lines = 0, proc = 0;

    FILE *f = fopen("/proc/self/maps", "r");
    CHECK(f != NULL);
    for (; fgets(line, sizeof line, f); lines++) {
        CHECK_EQ(sscanf(line, "%llx-%llx %7s", &lo, &hi, perms), 3);
        CHECK(lo < hi);
        CHECK_EQ(strlen(perms), 4);
    }
    CHECK(lines > 0);
    OK(fclose(f));

    f = fopen("/proc/mounts", "r"); /* a link to self/mounts */
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f)) {
        int dump, pass;
        CHECK_EQ(sscanf(line, "%255s %255s %255s %*s %d %d", what, on, type,
                        &dump, &pass),
                 5);
        CHECK(on[0] == '/');
        proc += strcmp(on, "/proc") == 0 && strcmp(type, "proc") == 0;
    }
    CHECK(proc >= 1);
    OK(fclose(f));
    return 0;
}
