/* tmpfile gives a stream on a file that has no name left. */
#include "guest.h"

int
main(void)
{
    char buf[16];
    struct stat st;

    FILE *f = tmpfile();
    CHECK(f != NULL);
    CHECK(fputs("one\ntwo\n", f) >= 0);
    rewind(f);
    CHECK(fgets(buf, sizeof buf, f) != NULL);
    CHECK_STR(buf, "one\n");
    OK(fstat(fileno(f), &st));
    CHECK(S_ISREG(st.st_mode));
    CHECK_EQ(st.st_nlink, 0);
    CHECK_EQ(st.st_size, 8);
    OK(fclose(f));
    return 0;
}
