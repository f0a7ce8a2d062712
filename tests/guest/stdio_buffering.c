/* Full, line and no buffering decide when bytes reach the file. */
#include "guest.h"

int
main(void)
{
    tmpdir();
    FILE *f = fopen("f", "w");
    CHECK(f != NULL);
    CHECK(fputs("line\n", f) >= 0);
    CHECK_EQ(stat_of("f").st_size, 0);
    CHECK_EQ(fflush(f), 0);
    CHECK_FILE("f", "line\n");
    CHECK_EQ(fclose(f), 0);

    static char buf[1024];
    f = fopen("g", "w");
    CHECK_EQ(setvbuf(f, buf, _IOLBF, sizeof buf), 0);
    fputs("part", f);
    CHECK_EQ(stat_of("g").st_size, 0);
    fputs(" whole\n", f);
    CHECK_FILE("g", "part whole\n");
    CHECK_EQ(fclose(f), 0);

    f = fopen("h", "w");
    CHECK_EQ(setvbuf(f, NULL, _IONBF, 0), 0);
    fputc('x', f);
    CHECK_FILE("h", "x");
    CHECK_EQ(fclose(f), 0);

    f = fopen("g", "r+");
    CHECK_EQ(fgetc(f), 'p');
    CHECK_EQ(ungetc('P', f), 'P');
    CHECK_EQ(fgetc(f), 'P');
    CHECK_EQ(ftell(f), 1);
    CHECK_EQ(fseek(f, -2, SEEK_END), 0);
    CHECK_EQ(fputc('!', f), '!');
    CHECK_EQ(fclose(f), 0);
    CHECK_FILE("g", "part whol!\n");
    return 0;
}
