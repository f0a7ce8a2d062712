/* telldir and seekdir return to the same entry; rewinddir sees what is new. */
#include "guest.h"

int
main(void)
{
    char name[32], names[102][32];
    long at[102];
    struct dirent *e;
    int n = 0;

    tmpdir();
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "entry%d", i);
        put(name, "");
    }
    DIR *d = opendir(".");
    for (; n < 102; n++) {
        at[n] = telldir(d);
        e = readdir(d);
        CHECK(e != NULL);
        strcpy(names[n], e->d_name);
    }
    CHECK(readdir(d) == NULL);

    for (int i = 101; i >= 0; i -= 7) {
        seekdir(d, at[i]);
        e = readdir(d);
        CHECK(e != NULL);
        CHECK_STR(e->d_name, names[i]);
    }

    OK(unlink("entry7"));
    put("new", "");
    rewinddir(d);
    int seen_new = 0;
    for (n = 0; (e = readdir(d)); n++) {
        CHECK(strcmp(e->d_name, "entry7") != 0);
        seen_new += strcmp(e->d_name, "new") == 0;
    }
    CHECK_EQ(n, 102);
    CHECK_EQ(seen_new, 1);
    return 0;
}
