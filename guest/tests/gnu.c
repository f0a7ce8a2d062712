/* SPDX-License-Identifier: MIT */
/* Where GNU's libc and others differ, ours is like GNU's. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static void
no_number_is_no_error(void)
{
    char *end;

    errno = 0;
    CHECK(strtol("abc", &end, 10) == 0 && *end == 'a');
    CHECK(strtoull("", &end, 10) == 0 && strtoimax("-", &end, 10) == 0);
    CHECK(*end == '-' && wcstol(L"x", NULL, 10) == 0 && errno == 0);
    CHECK(strtol("0x", &end, 16) == 0 && *end == 'x' && errno == 0);
    CHECK(strtol("1", NULL, 99) == 0 && errno == EINVAL);
    CHECK(strtoll("99999999999999999999", NULL, 10) > 0 && errno == ERANGE);
}

/* Errors of stdout come when it is flushed, the first line being no exception.
 */
static void
stdout_of_a_file_is_buffered(void)
{
    int out = dup(1), full = open("/dev/full", O_WRONLY);

    CHECK(out >= 0 && full >= 0 && dup2(full, 1) == 1);
    CHECK(puts("line") >= 0 && printf("another\n") == 8);
    CHECK(putchar('\n') == '\n' && !ferror(stdout));
    errno = 0;
    CHECK(fflush(stdout) == EOF && errno == ENOSPC && ferror(stdout));
    clearerr(stdout);
    CHECK(dup2(out, 1) == 1);
    fclose(stdout);
    close(full);
}

static void
reopened_stream_is_buffered(void)
{
    FILE *f = freopen("/dev/full", "w", stdin);

    CHECK(f && fputs("line\n", f) >= 0 && fflush(f) == EOF);
}

static int
matches(const char *pattern, const char *text)
{
    regex_t r;
    int status = regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB);

    if (status)
        return status;
    status = regexec(&r, text, 0, NULL, 0);
    regfree(&r);
    return status;
}

static void
collating_symbols(void)
{
    CHECK(matches("^[[=d=]]$", "d") == 0);
    CHECK(matches("^[[=d=]]$", "e") == REG_NOMATCH);
    CHECK(matches("^[x[.-.]]+$", "x-x") == 0);
    CHECK(matches("^[[.].]]$", "]") == 0);
    CHECK(matches("^[[.a.]-[.c.]]$", "b") == 0);
    CHECK(matches("^[[.a.]-c]$", "d") == REG_NOMATCH);
    CHECK(matches("^[^[=a=]b]$", "a") == REG_NOMATCH);
    CHECK(matches("^[^[=a=]b]$", "c") == 0);
    CHECK(matches("[[.xy.]]", "x") == REG_ECOLLATE);
    CHECK(matches("[[=x=", "x") != 0);
}

static void
expect_time(const char *zone, time_t when, const char *want)
{
    char text[40];

    setenv("TZ", zone, 1);
    tzset();
    strftime(text, sizeof text, "%F %T %Z", localtime(&when));
    if (strcmp(text, want) != 0)
        fprintf(stderr, "TZ=%s gives %s, not %s\n", zone, text, want);
    CHECK(strcmp(text, want) == 0);
}

static void
zones_without_a_rule(void)
{
    expect_time("ABC5DEF", 0, "1969-12-31 19:00:00 ABC");
    expect_time("ABC5DEF", 1690000000, "2023-07-22 00:26:40 DEF");
    expect_time("ABC5DEF,M6.1.0,M7.1.0", 1690000000, "2023-07-21 23:26:40 ABC");
    expect_time("EST5EDT", 1690000000, "2023-07-22 00:26:40 EDT");
    expect_time("EST5", 1690000000, "2023-07-21 23:26:40 EST");
    expect_time("UTC", 1690000000, "2023-07-22 04:26:40 UTC");
    expect_time("UTC-2", 1690000000, "2023-07-22 06:26:40 UTC");
}

/* Equal elements keep their order, whatever their number. */
struct pair {
    int key, place;
};

static int
by_key(const void *a, const void *b)
{
    return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

static void
qsort_is_stable(void)
{
    static struct pair v[5000];

    for (int n = 0; n < 5000; n = n < 70 ? n + 1 : n * 3 + 1) {
        for (int i = 0; i < n; i++)
            v[i] = (struct pair){(int)(random32() % 50), i};
        qsort(v, (size_t)n, sizeof *v, by_key);
        for (int i = 1; i < n; i++)
            CHECK(v[i - 1].key < v[i].key ||
                  (v[i - 1].key == v[i].key && v[i - 1].place < v[i].place));
    }
}

static void
messages(void)
{
    char text[80];

    CHECK(strcmp(strerror(0), "Success") == 0);
    CHECK(strcmp(strerror(500), "Unknown error 500") == 0);
    CHECK(strcmp(strerror(-1), "Unknown error -1") == 0);
    CHECK(strcmp(strerror(EUCLEAN), "Structure needs cleaning") == 0);
    CHECK(strcmp(strerror(41), "Unknown error 41") == 0);
    regerror(REG_EBRACK, NULL, text, sizeof text);
    CHECK(strcmp(text, "Unmatched [, [^, [:, [., or [=") == 0);
    regerror(REG_BADBR, NULL, text, sizeof text);
    CHECK(strcmp(text, "Invalid content of \\{\\}") == 0);
    CHECK(strcmp(gai_strerror(EAI_NONAME), "Name or service not known") == 0);
    CHECK(strcmp(gai_strerror(EAI_MEMORY), "Memory allocation failure") == 0);
}

static void
times_of_day(void)
{
    struct tm tm = {.tm_hour = 15, .tm_min = 4, .tm_mday = 1};
    char text[40];

    strftime(text, sizeof text, "%k|%l|%P|%I|%-l", &tm);
    CHECK(strcmp(text, "15| 3|pm|03|3") == 0);
    tm.tm_hour = 0;
    strftime(text, sizeof text, "%k|%l|%P", &tm);
    CHECK(strcmp(text, " 0|12|am") == 0);
}

int
main(void)
{
    no_number_is_no_error();
    stdout_of_a_file_is_buffered();
    reopened_stream_is_buffered();
    collating_symbols();
    zones_without_a_rule();
    qsort_is_stable();
    messages();
    times_of_day();
    return 0;
}
