/* The limits of the platform as shell variables, as coreutils' getlimits, which
   its build does not install. */
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* Prints NAME=(|x| + 1) with the sign of x, whose digits have room before them.
 */
static void
print_beyond(const char *name, char *digits)
{
    int negative = digits[1] == '-';
    char *first = digits + 1 + negative;
    char *p = first + strlen(first);
    first[-1] = '0';
    while (*--p == '9')
        *p = '0';
    ++*p;
    printf("%s=%s%s\n", name, negative ? "-" : "", p < first ? p : first);
}

static void
print_max(const char *name, const char *beyond, uintmax_t max)
{
    char digits[32];
    snprintf(digits + 1, sizeof(digits) - 1, "%ju", max);
    printf("%s=%s\n", name, digits + 1);
    print_beyond(beyond, digits);
}

static void
print_min(const char *name, const char *beyond, intmax_t min)
{
    char digits[32];
    if (min == 0)
        return;
    snprintf(digits + 1, sizeof(digits) - 1, "%jd", min);
    printf("%s=%s\n", name, digits + 1);
    print_beyond(beyond, digits);
}

#define IS_SIGNED(type) ((type)-1 < 0)
#define MAX_OF(type)                                                     \
    (IS_SIGNED(type) ? (uintmax_t)((1ull << (8 * sizeof(type) - 1)) - 1) \
                     : (uintmax_t)(type)-1)
#define MIN_OF(type) (IS_SIGNED(type) ? -(intmax_t)MAX_OF(type) - 1 : 0)
#define PRINT(name, type)                                  \
    print_max(#name "_MAX", #name "_OFLOW", MAX_OF(type)); \
    print_min(#name "_MIN", #name "_UFLOW", MIN_OF(type))

int
main(void)
{
    PRINT(CHAR, char);
    PRINT(SCHAR, signed char);
    PRINT(UCHAR, unsigned char);
    PRINT(SHRT, short);
    PRINT(INT, int);
    PRINT(UINT, unsigned);
    PRINT(LONG, long);
    PRINT(ULONG, unsigned long);
    PRINT(SIZE, size_t);
    PRINT(SSIZE, ssize_t);
    PRINT(TIME_T, time_t);
    PRINT(UID_T, uid_t);
    PRINT(GID_T, gid_t);
    PRINT(PID_T, pid_t);
    PRINT(OFF_T, off_t);
    PRINT(INTMAX, intmax_t);
    PRINT(UINTMAX, uintmax_t);
    printf("FLT_MIN=%.9g\nFLT_MAX=%.9g\n", FLT_MIN, FLT_MAX);
    printf("DBL_MIN=%.17g\nDBL_MAX=%.17g\n", DBL_MIN, DBL_MAX);
    printf("LDBL_MIN=%.36Lg\nLDBL_MAX=%.36Lg\n", LDBL_MIN, LDBL_MAX);
    return 0;
}
