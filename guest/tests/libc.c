/* SPDX-License-Identifier: MIT */
/* Assorted facts about the C library that programs rely on. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include "check.h"

static void
long_double(void)
{
    char buf[100];
    volatile long double third = 1.0L / 3;

    snprintf(buf, sizeof buf, "%.10Lf %Le", third, 1e100L);
    CHECK(strcmp(buf, "0.3333333333 1.000000e+100") == 0);
    CHECK(sscanf("2.5", "%Lf", &third) == 1 && third == 2.5L);
    CHECK(strtold("0x1p-3", NULL) == 0.125L);
    snprintf(buf, sizeof buf, "%.17g %a", 0.1, 1.0);
    CHECK(strcmp(buf, "0.10000000000000001 0x1p+0") == 0);
}

static void
utf8(void)
{
    wchar_t wide;
    mbstate_t state;

    CHECK(setlocale(LC_ALL, "C.UTF-8"));
    memset(&state, 0, sizeof state);
    CHECK(mbrtowc(&wide, "\xc3\xa9", 2, &state) == 2 && wide == 0xe9);
    CHECK(wcwidth(0x4e2d) == 2 && MB_CUR_MAX >= 4);
    CHECK(setlocale(LC_ALL, "C"));
}

static void
system_values(void)
{
    unsigned char bytes[64] = {0};

    CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
    CHECK(sysconf(_SC_OPEN_MAX) > 0);
    CHECK(getauxval(AT_PAGESZ) == 4096);
    CHECK(getauxval(AT_RANDOM) != 0);
    CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
    CHECK(memchr(bytes, bytes[0] ^ 1, 1) == NULL);
    for (size_t i = 1; i < sizeof bytes; i++)
        if (bytes[i] != bytes[0])
            return;
    CHECK(!"all random bytes are equal");
}

static void
times(void)
{
    struct timespec a, b, res;
    struct tm tm;
    time_t late = (time_t)4102444800; /* 2100: more than 32 bits */
    char buf[30];

    CHECK(clock_gettime(CLOCK_MONOTONIC, &a) == 0);
    CHECK(nanosleep(&(struct timespec){0, 5000000}, NULL) == 0);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &b) == 0);
    CHECK((b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec >=
          5000000);
    CHECK(clock_getres(CLOCK_REALTIME, &res) == 0);
    CHECK(time(NULL) > 1600000000);
    CHECK(sizeof(time_t) == 8 && gmtime_r(&late, &tm));
    strftime(buf, sizeof buf, "%Y-%m-%d", &tm);
    CHECK(strcmp(buf, "2100-01-01") == 0);
}

static void
file_status(void)
{
    struct stat st;

    CHECK(fstatat(AT_FDCWD, "/", &st, 0) == 0 && S_ISDIR(st.st_mode));
    CHECK(faccessat(AT_FDCWD, "/", R_OK, AT_EACCESS) == 0);
    FAILS(faccessat(AT_FDCWD, "/no/such", F_OK, 0), ENOENT);
}

static void
stdio(void)
{
    FILE *f = tmpfile();
    int c, n = 0;

    CHECK(f);
    for (int i = 0; i < 5000; i++)
        CHECK(putc(i & 255, f) == (i & 255));
    CHECK(fflush(f) == 0 && ftell(f) == 5000);
    rewind(f);
    while ((c = getc(f)) != EOF)
        CHECK(c == (n++ & 255));
    CHECK(n == 5000 && feof(f) && !ferror(f));
    rewind(f);
    CHECK(getc(f) == 0 && ungetc('x', f) == 'x');
    CHECK(getc(f) == 'x' && getc(f) == 1);
    CHECK(fclose(f) == 0);
    f = fopen("/", "r");
    CHECK(f && getc(f) == EOF && ferror(f));
    CHECK(putc('a', f) == EOF && ferror(f));
    fclose(f);
}

int
main(void)
{
    long_double();
    utf8();
    system_values();
    times();
    file_status();
    stdio();
    CHECK(fabs(sin(1.0) - 0.8414709848078965) < 1e-15);
    return 0;
}
