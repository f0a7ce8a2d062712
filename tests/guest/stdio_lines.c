/* getline, getdelim and fread cope with long lines, missing newlines and
 * zero bytes. */
#include "guest.h"

int
main(void)
{
    char *line = NULL, buf[8];
    size_t cap = 0;

    tmpdir();
    FILE *f = fopen("f", "w+");
    for (int i = 0; i < 10000; i++)
        fputc('x', f);
    fwrite("\na\0b\nlast", 1, 9, f);
    rewind(f);
    CHECK_EQ(getline(&line, &cap, f), 10001);
    CHECK(cap > 10001 && line[10000] == '\n' && line[10001] == 0);
    CHECK_EQ(getline(&line, &cap, f), 4);
    CHECK(memcmp(line, "a\0b\n", 5) == 0);
    CHECK_EQ(getdelim(&line, &cap, 's', f), 3);
    CHECK_STR(line, "las");
    CHECK_EQ(getline(&line, &cap, f), 1);
    CHECK_STR(line, "t");
    CHECK_EQ(getline(&line, &cap, f), -1);
    CHECK(feof(f) && !ferror(f));
    free(line);

    CHECK_EQ(fseeko(f, 10001, SEEK_SET), 0);
    CHECK_EQ(fread(buf, 3, 2, f), 2);
    CHECK_EQ(ftello(f), 10007);
    CHECK_EQ(fread(buf, 1, 8, f), 2);
    CHECK_EQ(fclose(f), 0);
    return 0;
}
