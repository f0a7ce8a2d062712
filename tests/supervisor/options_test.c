/* The command line of `limit`. */
#include "../unit/test.h"

#include "supervisor/jail/options.h"

#include <errno.h>
#include <string.h>

enum { ARGS_MAX = 64 };

/* Parses `limit` with the words of `line`; what was wrong is in why. */
static int
parse(const char *line, struct options *o, char *why, size_t size)
{
    static char words[1024];
    static char *argv[ARGS_MAX];
    int argc = 0;

    strcpy(words, line);
    argv[argc++] = "limit";
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc] = NULL;
    return options_parse(o, argc, argv, why, size);
}

static bool
is_refused(const char *line, const char *said)
{
    struct options o;
    char why[256] = "";

    return parse(line, &o, why, sizeof why) == -EINVAL && strstr(why, said);
}

TEST(limits_have_the_documented_defaults)
{
    struct options o;
    char why[256];

    CHECK_EQ(parse("true", &o, why, sizeof why), 0);
    CHECK_EQ(o.limit[LIMIT_memory], 512);
    CHECK_EQ(o.limit[LIMIT_cpu], 100);
    CHECK_EQ(o.limit[LIMIT_disk], 1024);
    CHECK_EQ(o.limit[LIMIT_processes], 64);
    CHECK_EQ(o.limit[LIMIT_network], 0);
    CHECK_EQ(o.best, BACKEND_v2);
    CHECK(!o.unenforced_ok[LIMIT_cpu]);
    CHECK(!strcmp(o.command[0], "true"));
}

TEST(options_end_where_the_command_begins)
{
    struct options o;
    char why[256];

    CHECK_EQ(parse("--memory 9 --network ls --cpu", &o, why, sizeof why), 0);
    CHECK_EQ(o.limit[LIMIT_memory], 9);
    CHECK_EQ(o.limit[LIMIT_network], 1);
    CHECK(!strcmp(o.command[1], "--cpu"));
    CHECK_EQ(parse("--disk 5 -- --cpu", &o, why, sizeof why), 0);
    CHECK(!strcmp(o.command[0], "--cpu"));
    CHECK_EQ(parse("", &o, why, sizeof why), 0);
    CHECK(!o.command[0]);
}

TEST(limits_take_their_bounds_and_nothing_beyond)
{
    struct options o;
    char why[256];

    CHECK_EQ(parse("--memory 8 --cpu 10000", &o, why, sizeof why), 0);
    CHECK(is_refused("--memory 7", "--memory '7': must be a number from 8 to "
                                   "1048576 MB"));
    CHECK(is_refused("--cpu 10001", "--cpu '10001': must be a number from 1 to "
                                    "10000 %"));
    CHECK(is_refused("--disk 0", "from 1 to 1048576 MB"));
    CHECK(is_refused("--processes 99999999999999999999999", "1 to 30000"));
}

TEST(values_that_are_no_numbers_are_refused)
{
    CHECK(is_refused("--memory -9", "--memory '-9'"));
    CHECK(is_refused("--memory +9", "--memory '+9'"));
    CHECK(is_refused("--memory 9x", "--memory '9x'"));
    CHECK(is_refused("--memory=", "--memory ''"));
    CHECK(is_refused("--memory", "--memory: needs a value"));
    CHECK(
        is_refused("--no-such",
                   "--no-such: not an option; see wasm-sandbox limit --help"));
    CHECK(is_refused("--allow-unenforced time", "must be memory, cpu"));
    CHECK(is_refused("--backend v3", "must be v2, hybrid"));
    CHECK(is_refused("--cgroup a", "absolute"));
    CHECK(is_refused("--cgroup /a/..", "without '..'"));
    CHECK(is_refused("--read /", "not the root"));
}

TEST(at_most_16_paths_can_be_read)
{
    struct options o;
    char line[512] = "", why[256];

    for (int i = 0; i < READ_PATHS_MAX; i++)
        strcat(line, "--read /usr ");
    CHECK_EQ(parse(line, &o, why, sizeof why), 0);
    CHECK(!o.read[READ_PATHS_MAX]);
    strcat(line, "--read /usr");
    CHECK(is_refused(line, "at most 16"));
}
