/* exit runs handlers last-in first-out and flushes; _exit does neither. */
#include "proc.h"

static void
first(void)
{
    fputs("1", stdout);
}

static void
second(void)
{
    fputs("2", stdout);
    atexit(first); /* registered while exiting: still runs */
}

static void
child(const char *how)
{
    atexit(first);
    atexit(second);
    fputs("buffered ", stdout);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
}

int
main(int argc, char **argv)
{
    static const char *how[] = {"exit", "_exit", "return"};
    static const char *want[] = {"buffered 211", "", "buffered 211"};
    char text[64];
    int i;

    if (argc > 1) {
        CHECK(freopen("out", "w", stdout) != NULL);
        child(argv[1]);
        return 5;
    }
    tmpdir();
    for (i = 0; i < 3; i++) {
        CHECK_EQ(wait_exit(SPAWN(how[i])), 3 + i);
        get("out", text, sizeof text);
        CHECK_STR(text, want[i]);
    }
    return 0;
}
