/* fopen's modes open, create, truncate and append as documented. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    CHECK(fopen("none", "r") == NULL && errno == ENOENT);
    CHECK(fopen("none", "r+") == NULL && errno == ENOENT);
    CHECK(fopen(".", "w") == NULL && errno == EISDIR);
    CHECK(fopen("f", "q") == NULL && errno == EINVAL);
    umask(0);
    FILE *f = fopen("f", "wx");
    CHECK(f != NULL);
    CHECK_EQ(stat_of("f").st_mode, S_IFREG | 0666);
    CHECK(fopen("f", "wx") == NULL && errno == EEXIST);
    CHECK_EQ(fputs("abc", f) >= 0, 1);
    CHECK_EQ(fgetc(f), EOF); /* not open for reading */
    CHECK(ferror(f));
    CHECK_EQ(fclose(f), 0);

    f = fopen("f", "a+e");
    CHECK_EQ(fcntl(fileno(f), F_GETFD), FD_CLOEXEC);
    CHECK_EQ(fgetc(f), 'a');
    CHECK_EQ(fseek(f, 0, SEEK_SET), 0);
    fputs("d", f);
    CHECK_EQ(fclose(f), 0);
    CHECK_FILE("f", "abcd");
    f = fopen("f", "r");
    CHECK_EQ(fputc('x', f), EOF);
    CHECK(ferror(f));
    f = freopen("f", "w", f);
    CHECK(f != NULL);
    CHECK_EQ(stat_of("f").st_size, 0);
    CHECK_EQ(fclose(f), 0);
    return 0;
}
