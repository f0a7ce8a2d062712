/* Runtimes that load no program later. */
#include "shell_test.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t
count_in(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static void
closed_new(struct lib *l)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .max_processes = 100,
                                       .root_image = getenv("WASMSAND_ROOT"),
                                       .is_closed = true};
    struct wsand_options o = {.size = sizeof o};
    struct wsand_error err;

    *l = (struct lib){0};
    /* Compiles what the cache does not have, here with threads. */
    CHECK_EQ(wsand_runtime_new(&ro, &l->rt, &err), 0);
    wsand_runtime_free(l->rt);
    size_t threads = count_in("/proc/self/task");
    CHECK_EQ(wsand_runtime_new(&ro, &l->rt, &err), 0);
    CHECK_EQ(count_in("/proc/self/task"), threads);
    CHECK_EQ(wsand_sandbox_new(l->rt, &o, &l->sb, &err), 0);
}

TEST(a_closed_runtime_runs_the_programs_of_its_image)
{
    struct lib l;

    closed_new(&l);
    CHECK_RUN(l.sb, "printf 'b\\na\\n' | sort | sed s/a/c/ | gawk 1", 0,
              "c\nb\n");
    CHECK_RUN(l.sb, "python3 -c 'print(1)'", 0, "1\n");
    lib_free(&l);
}

/* Not even if it looks like one that is trusted. */
TEST(a_closed_runtime_refuses_other_programs)
{
    struct lib l;

    closed_new(&l);
    CHECK_RUN(l.sb, "cp /usr/bin/true x; echo >>x; ./x 2>/dev/null", 126, "");
    CHECK_RUN(l.sb, "/usr/bin/true", 0, "");
    lib_free(&l);
}
