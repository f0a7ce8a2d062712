/* The configuration: its layers, its limits, and every message. */
#include "../unit/test.h"

#include "base/buf.h"
#include "supervisor/config/config.h"
#include "supervisor/jail/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ERRORS_BYTES = 65536, WORDS_MAX = 16 };

/* A folder for files of a test, and what a reader said. */
struct place {
    char dir[64], file[96];
    struct buf errors;
    struct config *c;
};

static void
place_init(struct place *p)
{
    *p = (struct place){.dir = "/tmp/config-test-XXXXXX"};
    CHECK(mkdtemp(p->dir) != NULL);
    (void)snprintf(p->file, sizeof p->file, "%s/config.json", p->dir);
    buf_init(&p->errors, ERRORS_BYTES);
}

static void
place_fini(struct place *p)
{
    char command[128];

    config_free(p->c);
    buf_fini(&p->errors);
    (void)snprintf(command, sizeof command, "rm -rf %s", p->dir);
    CHECK_EQ(system(command), 0);
}

static void
write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    fputs(text, f);
    fclose(f);
}

/* Words between spaces, as an argv. */
static char **
split(char *words, char **argv)
{
    int n = 0;

    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        argv[n++] = w;
    argv[n] = NULL;
    return argv;
}

/* Reads `json` (NULL: no file) under an environment and options. */
static int
load(struct place *p, const char *json, const char *env, const char *options)
{
    static char words[2][1024];
    static char *argv[2][WORDS_MAX];

    if (json)
        write_file(p->file, json);
    (void)snprintf(words[0], sizeof words[0], "%s %s%s", env,
                   json ? "WASMSAND_CONFIG=" : "", json ? p->file : "");
    strcpy(words[1], options);
    config_free(STEAL(p->c));
    buf_fini(&p->errors);
    return config_read(split(words[1], argv[1]), split(words[0], argv[0]),
                       &p->errors, &p->c);
}

static bool
said(struct place *p, const char *text)
{
    buf_add(&p->errors, "", 1);
    p->errors.len--;
    return strstr(p->errors.p, text);
}

static bool
is_refused(struct place *p, const char *json, const char *text)
{
    char line[512];

    (void)snprintf(line, sizeof line, "%s: %s\n", p->file, text);
    if (load(p, json, "", "") == -EINVAL && said(p, line))
        return true;
    printf("    %s: %.*s\n", json, (int)p->errors.len, p->errors.p);
    return false;
}

/* --- values */

TEST(the_defaults_are_those_of_the_seed)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(load(&p, NULL, "", ""), 0);
    CHECK_EQ(p.c->standard[LIMIT_memory], 512);
    CHECK_EQ(p.c->standard[LIMIT_cpu], 100);
    CHECK_EQ(p.c->standard[LIMIT_disk], 1024);
    CHECK_EQ(p.c->standard[LIMIT_processes], 64);
    CHECK_EQ(p.c->standard[LIMIT_network], 0);
    CHECK_EQ(p.c->most[LIMIT_memory], 4096);
    CHECK(!p.c->http_enabled);
    CHECK(!strcmp(p.c->http_address, "127.0.0.1"));
    CHECK_EQ(p.c->store_durability, DURABILITY_full);
    CHECK_EQ(p.c->compile, COMPILE_refuse);
    CHECK_EQ(p.c->backend, BACKEND_v2);
    CHECK_EQ(p.c->log_level, LEVEL_info);
    CHECK_EQ(p.c->allow_unenforced, 0);
    place_fini(&p);
}

TEST(every_kind_of_value_can_be_in_the_file)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(load(&p,
                  "{\"socket\":\"/s\", \"auto_resume\":false,"
                  "\"resources\":{\"memoryMb\":256},\"maximum\":{},"
                  "\"http\":{\"enabled\":true,\"address\":\"::1\",\"port\":0,"
                  "\"tokens_file\":\"/t\"},"
                  "\"store\":{\"durability\":\"interval\"},"
                  "\"allow_unenforced\":[\"cpu\",\"disk\"]}",
                  "", ""),
             0);
    CHECK(!strcmp(p.c->socket, "/s"));
    CHECK(!p.c->auto_resume);
    CHECK_EQ(p.c->standard[LIMIT_memory], 256);
    CHECK_EQ(p.c->standard[LIMIT_cpu], 100);
    CHECK(p.c->http_enabled);
    CHECK(!strcmp(p.c->http_address, "::1"));
    CHECK_EQ(p.c->http_port, 0);
    CHECK_EQ(p.c->store_durability, DURABILITY_interval);
    CHECK_EQ(p.c->allow_unenforced, 1 << LIMIT_cpu | 1 << LIMIT_disk);
    place_fini(&p);
}

TEST(options_are_over_the_environment_over_the_file)
{
    struct place p;
    const char *file = "{\"pool_size\":3,\"max_active\":4,\"max_sessions\":5}";

    place_init(&p);
    CHECK_EQ(load(&p, file, "WASMSAND_MAX_ACTIVE=6 WASMSAND_MAX_SESSIONS=7",
                  "--max-sessions 8"),
             0);
    CHECK_EQ(p.c->pool_size, 3);
    CHECK_EQ(p.c->max_active, 6);
    CHECK_EQ(p.c->max_sessions, 8);
    place_fini(&p);
}

TEST(text_sets_every_kind_of_value)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(load(&p, NULL,
                  "WASMSAND_ALLOW_UNENFORCED=memory,network "
                  "WASMSAND_MEMORY_MB=99 WASMSAND_AUTO_RESUME=0",
                  "--http-enabled --http-tokens-file=/t --compile separate "
                  "--most-memory-mb=100 --log-level error"),
             0);
    CHECK_EQ(p.c->allow_unenforced, 1 << LIMIT_memory | 1 << LIMIT_network);
    CHECK_EQ(p.c->standard[LIMIT_memory], 99);
    CHECK_EQ(p.c->most[LIMIT_memory], 100);
    CHECK(!p.c->auto_resume);
    CHECK(p.c->http_enabled);
    CHECK_EQ(p.c->compile, COMPILE_separate);
    CHECK_EQ(p.c->log_level, LEVEL_error);
    CHECK_EQ(load(&p, NULL, "", "--auto-resume=false"), 0);
    CHECK(!p.c->auto_resume);
    place_fini(&p);
}

TEST(empty_paths_have_their_places)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(load(&p, NULL, "", ""), 0);
    CHECK(!strcmp(p.c->socket, "/run/wasmsand.sock"));
    CHECK(!strcmp(p.c->store_dir, "/var/lib/wasmsand"));
    CHECK_EQ(load(&p, NULL, "XDG_RUNTIME_DIR=/x HOME=/h", ""), 0);
    CHECK(!strcmp(p.c->socket, "/x/wasmsand.sock"));
    CHECK(!strcmp(p.c->store_dir, "/h/.local/state/wasmsand"));
    CHECK_EQ(
        load(&p, NULL, "XDG_STATE_HOME=/x HOME=/h XDG_RUNTIME_DIR=rel", ""), 0);
    CHECK(!strcmp(p.c->socket, "/run/wasmsand.sock"));
    CHECK(!strcmp(p.c->store_dir, "/x/wasmsand"));
    place_fini(&p);
}

static void
print(const struct place *p, char *to, size_t size)
{
    FILE *f = fopen(p->file, "w+");

    CHECK(f != NULL);
    config_print(p->c, f);
    rewind(f);
    to[fread(to, 1, size - 1, f)] = 0;
    fclose(f);
}

TEST(the_printed_configuration_reads_as_itself)
{
    static char first[8192], second[8192];
    struct place p;

    place_init(&p);
    CHECK_EQ(load(&p, NULL, "", "--http-port 8 --allow-unenforced cpu,disk"),
             0);
    print(&p, first, sizeof first);
    CHECK_EQ(load(&p, first, "", ""), 0);
    print(&p, second, sizeof second);
    CHECK(!strcmp(first, second));
    CHECK(strstr(first, "\"port\": 8") != NULL);
    place_fini(&p);
}

/* --- what is refused */

TEST(a_file_that_is_named_must_exist)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(load(&p, NULL, "", "--config /none/x"), -EINVAL);
    CHECK(said(&p, "/none/x: No such file or directory\n"));
    CHECK_EQ(load(&p, NULL, "WASMSAND_CONFIG=/none/y", ""), -EINVAL);
    CHECK(said(&p, "/none/y: No such file or directory\n"));
    CHECK_EQ(load(&p, NULL, "", "--config /dev/null"), -EINVAL);
    CHECK(said(&p, "/dev/null: not a regular file\n"));
    place_fini(&p);
}

TEST(a_key_is_accepted_under_its_old_name_but_not_under_both)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(load(&p, "{\"poolSize\":3,\"store\":{\"intervalMs\":7}}", "", ""),
             0);
    CHECK(p.c->pool_size == 3 && p.c->store_interval_ms == 7);
    CHECK_EQ(
        load(&p, "{\"pool_size\":4,\"store\":{\"interval_ms\":8}}", "", ""), 0);
    CHECK(p.c->pool_size == 4 && p.c->store_interval_ms == 8);
    CHECK(is_refused(&p, "{\"poolSize\":3,\"pool_size\":3}",
                     "pool_size: the old name of poolSize, which is set too"));
    CHECK(is_refused(
        &p, "{\"store\":{\"interval_ms\":8,\"intervalMs\":8}}",
        "store.interval_ms: the old name of store.intervalMs, which is set "
        "too"));
    CHECK(is_refused(&p, "{\"resources\":{\"memory_mb\":64}}",
                     "resources.memory_mb: unknown key"));
    CHECK(is_refused(&p, "{\"pool_Size\":3}", "pool_Size: unknown key"));
    CHECK(is_refused(&p, "{\"poolsize\":3}", "poolsize: unknown key"));
    place_fini(&p);
}

TEST(broken_json_is_told_with_its_line)
{
    static const char *const rows[][2] = {
        {"", "line 1: the text ends early"},
        {"{\n\"pool_size\": 1,\n}", "line 3: a key is expected"},
        {"{\n\n\"socket\":\"/a\",\"socket\":\"/b\"}",
         "line 3: a key comes twice"},
        {"{\"http\":{\"port\":1,\n\"port\":1}}", "line 2: a key comes twice"},
        {"{\"pool_size\":99999999999999999999}",
         "pool_size: must be an integer from 0 to 64, not "
         "99999999999999999999"},
        {"{\"socket\":\"/a\\u0000b\"}",
         "socket: must be an absolute path without '..', or empty, not "
         "\"/a\\u0000b\""},
        {"[]", "must be an object"},
    };
    struct place p;

    place_init(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(is_refused(&p, rows[i][0], rows[i][1]));
    place_fini(&p);
}

TEST(values_are_refused_with_key_and_range)
{
    static const char *const rows[][2] = {
        {"{\"no_such\":1}", "no_such: unknown key"},
        {"{\"http\":{\"no_such\":1}}", "http.no_such: unknown key"},
        {"{\"http.port\":1}", "http.port: unknown key"},
        {"{\"\":1}", "unknown key"},
        {"{\"http\":1}", "http: must be an object"},
        {"{\"resources\":null}", "resources: must be an object"},
        {"{\"pool_size\":{}}",
         "pool_size: must be an integer from 0 to 64, not {}"},
        {"{\"pool_size\":65}",
         "pool_size: must be an integer from 0 to 64, not 65"},
        {"{\"pool_size\":-1}",
         "pool_size: must be an integer from 0 to 64, not -1"},
        {"{\"pool_size\":2.0}",
         "pool_size: must be an integer from 0 to 64, not 2.0"},
        {"{\"pool_size\":\"2\"}",
         "pool_size: must be an integer from 0 to 64, not '2'"},
        {"{\"pool_size\":null}",
         "pool_size: must be an integer from 0 to 64, not null"},
        {"{\"resources\":{\"memoryMb\":7}}",
         "resources.memoryMb: must be an integer from 8 to 1048576 MB, not 7"},
        {"{\"maximum\":{\"cpuPercent\":10001}}",
         "maximum.cpuPercent: must be an integer from 1 to 10000 %, not 10001"},
        {"{\"socket\":\"a\"}",
         "socket: must be an absolute path without '..', or empty, not 'a'"},
        {"{\"socket\":\"/a/../b\"}",
         "socket: must be an absolute path without '..', or empty, not "
         "'/a/../b'"},
        {"{\"socket\":1}",
         "socket: must be an absolute path without '..', or empty, not 1"},
        {"{\"auto_resume\":1}", "auto_resume: must be true or false, not 1"},
        {"{\"compile\":\"maybe\"}",
         "compile: must be refuse or separate, not 'maybe'"},
        {"{\"backend\":\"v\"}",
         "backend: must be v2, hybrid, v1 or rlimits, not 'v'"},
        {"{\"allow_unenforced\":\"cpu\"}",
         "allow_unenforced: must be a list of memory, cpu, disk, processes or "
         "network, not 'cpu'"},
        {"{\"allow_unenforced\":[\"cpu\",\"time\"]}",
         "allow_unenforced: must be a list of memory, cpu, disk, processes or "
         "network, not [\"cpu\",\"time\"]"},
        {"{\"http\":{\"address\":\"localhost\"}}",
         "http.address: must be an IPv4 or IPv6 address in numbers, not "
         "'localhost'"},
    };
    struct place p;

    place_init(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(is_refused(&p, rows[i][0], rows[i][1]));
    place_fini(&p);
}

TEST(variables_and_options_are_refused_by_their_names)
{
    static const char *const rows[][3] = {
        {"WASMSAND_HTTP_PORT=x", "",
         "WASMSAND_HTTP_PORT: http.port: must be an integer from 0 to 65535, "
         "not 'x'\n"},
        {"WASMSAND_POOL_SIZE=", "",
         "WASMSAND_POOL_SIZE: poolSize: must be an integer from 0 to 64, not "
         "''\n"},
        {"WASMSAND_AUTO_RESUME=yes", "",
         "WASMSAND_AUTO_RESUME: autoResume: must be true or false, not "
         "'yes'\n"},
        {"WASMSAND_ALLOW_UNENFORCED=cpu,,", "",
         "WASMSAND_ALLOW_UNENFORCED: allowUnenforced: must be a list of "},
        {"", "--pool-size +2",
         "--pool-size: poolSize: must be an integer from 0 to 64, not '+2'\n"},
        {"", "--pool-size=2x", "not '2x'\n"},
        {"", "--pool-size=18446744073709551617", "not '18446744073709551617'"},
        {"", "--pool-size", "--pool-size: needs a value\n"},
        {"", "--config", "--config: needs a value\n"},
        {"", "--pool_size 2",
         "--pool_size: not an option; see wasm-sandbox serve --help\n"},
        {"", "--pool 2",
         "--pool: not an option; see wasm-sandbox serve --help\n"},
        {"", "--pool-sizes=2",
         "--pool-sizes: not an option; see wasm-sandbox serve --help\n"},
        {"", "-x", "-x: not an option; see wasm-sandbox serve --help\n"},
        {"", "--", "--: not an option; see wasm-sandbox serve --help\n"},
        {"", "word", "word: not an option; see wasm-sandbox serve --help\n"},
    };
    struct place p;

    place_init(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_EQ(load(&p, NULL, rows[i][0], rows[i][1]), -EINVAL);
        CHECK(said(&p, rows[i][2]));
    }
    place_fini(&p);
}

TEST(values_must_fit_together)
{
    struct place p;
    char options[256] = "--socket /";

    place_init(&p);
    CHECK_EQ(load(&p, NULL, "", "--memory-mb 600 --most-memory-mb 599"),
             -EINVAL);
    CHECK(said(&p, "resources.memoryMb: 600 is more than maximum.memoryMb, "
                   "599\n"));
    CHECK_EQ(load(&p, NULL, "", "--http-enabled"), -EINVAL);
    CHECK(said(&p, "http.tokensFile: required where http.enabled is true\n"));
    memset(options + strlen(options), 'x', 107);
    CHECK_EQ(load(&p, NULL, "", options), -EINVAL);
    CHECK(said(&p, "socket: a path of at most 107 bytes is possible\n"));
    place_fini(&p);
}

TEST(all_errors_are_told_and_long_values_cut)
{
    struct place p;
    char json[512];

    place_init(&p);
    (void)snprintf(json, sizeof json,
                   "{\"pool_size\":-5,\"a\":1,\"compile\":\"%0200d\"}", 2);
    CHECK_EQ(load(&p, json, "WASMSAND_HTTP_PORT=-1", "--nonsense"), -EINVAL);
    CHECK(said(&p, "pool_size: must be"));
    CHECK(said(&p, ": a: unknown key\n"));
    CHECK(said(&p, "compile: must be refuse or separate, not '0000"));
    CHECK(said(&p, "WASMSAND_HTTP_PORT: http.port: must be"));
    CHECK(
        said(&p, "--nonsense: not an option; see wasm-sandbox serve --help\n"));
    CHECK(p.errors.len < 600);
    place_fini(&p);
}

TEST(no_memory_is_an_error_wherever_it_happens)
{
    struct place p;

    place_init(&p);
    EACH_OOM(oom) {
        int r = load(&p, "{\"socket\":\"/s\",\"x\":1}", "", "");
        CHECK(r == -EINVAL || (r == -ENOMEM && oom));
    }
    place_fini(&p);
}

/* --- limits of sessions */

/* What a session that asks for `json` gets: 0 and limits, or lines. */
static int
lay(struct place *p, const char *json, uint32_t *limit)
{
    struct json_fault fault;
    struct json_doc doc = {0};

    CHECK_EQ(json_read_copy(&doc, json, strlen(json), &fault), 0);
    buf_fini(&p->errors);
    memcpy(limit, p->c->standard, sizeof p->c->standard);
    int r = config_lay_limits(p->c, doc.v, "limits", &p->errors, limit);
    json_fini(&doc);
    return r;
}

TEST(a_session_may_ask_for_limits_up_to_the_maxima)
{
    struct place p;
    uint32_t limit[N_LIMITS];

    place_init(&p);
    CHECK_EQ(load(&p, NULL, "", "--most-memory-mb 1000"), 0);
    CHECK_EQ(lay(&p, "{\"memoryMb\":1000,\"maxProcesses\":1}", limit), 0);
    CHECK_EQ(limit[LIMIT_memory], 1000);
    CHECK_EQ(limit[LIMIT_processes], 1);
    CHECK_EQ(limit[LIMIT_cpu], 100);
    CHECK_EQ(lay(&p, "{}", limit), 0);
    CHECK_EQ(lay(&p, "{\"cpuPercent\":50,\"memoryMb\":1001,\"x\":1}", limit),
             -EINVAL);
    CHECK(said(&p, "limits.memoryMb: must be an integer from 8 to 1000 MB, not "
                   "1001\n"));
    CHECK(said(&p, "limits.x: unknown key\n"));
    CHECK_EQ(limit[LIMIT_cpu], 100);
    CHECK_EQ(lay(&p, "[]", limit), -EINVAL);
    CHECK(said(&p, "limits: must be an object\n"));
    CHECK_EQ(lay(&p, "{\"network\":1}", limit), -EINVAL);
    place_fini(&p);
}

TEST(agents_have_names_of_folders)
{
    CHECK(config_is_agent_name("a", 1));
    CHECK(config_is_agent_name("my agent.v2", 11));
    CHECK(config_is_agent_name("...", 3));
    CHECK(!config_is_agent_name("", 0));
    CHECK(!config_is_agent_name(".", 1));
    CHECK(!config_is_agent_name("..", 2));
    CHECK(!config_is_agent_name("a/b", 3));
    CHECK(!config_is_agent_name("/", 1));
    CHECK(!config_is_agent_name("a\0b", 3));
    CHECK(!config_is_agent_name("a\n", 2));
    CHECK(!config_is_agent_name("\x7f", 1));
}

/* A configuration whose agents are in the place, with one agent `a`. */
static void
with_agent(struct place *p, const char *settings)
{
    char path[128], options[128];

    (void)snprintf(path, sizeof path, "%s/a", p->dir);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/a/.claude", p->dir);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/a/.claude/settings.json", p->dir);
    (void)unlink(path);
    if (settings)
        write_file(path, settings);
    (void)snprintf(options, sizeof options, "--agents-dir %s", p->dir);
    CHECK_EQ(load(p, NULL, "", options), 0);
}

static int
agent_limits(struct place *p, const char *agent, uint32_t *limit)
{
    buf_fini(&p->errors);
    return config_agent_limits(p->c, agent, &p->errors, limit);
}

TEST(an_agents_settings_change_its_limits)
{
    struct place p;
    uint32_t limit[N_LIMITS];

    place_init(&p);
    with_agent(&p, "{\"model\":{\"resources\":1},\"permissions\":[null],"
                   "\"resources\":{\"memoryMb\":1024,\"cpuPercent\":200}}");
    CHECK_EQ(agent_limits(&p, "a", limit), 0);
    CHECK_EQ(limit[LIMIT_memory], 1024);
    CHECK_EQ(limit[LIMIT_cpu], 200);
    CHECK_EQ(limit[LIMIT_disk], 1024);
    CHECK_EQ(agent_limits(&p, NULL, limit), 0);
    CHECK_EQ(limit[LIMIT_memory], 512);
    with_agent(&p, "{}");
    CHECK_EQ(agent_limits(&p, "a", limit), 0);
    CHECK_EQ(limit[LIMIT_memory], 512);
    with_agent(&p, NULL);
    CHECK_EQ(agent_limits(&p, "a", limit), 0);
    CHECK_EQ(agent_limits(&p, "b", limit), -ENOENT);
    place_fini(&p);
}

TEST(an_agent_needs_a_folder_of_agents)
{
    struct place p;
    uint32_t limit[N_LIMITS];

    place_init(&p);
    CHECK_EQ(load(&p, NULL, "", ""), 0);
    CHECK_EQ(agent_limits(&p, NULL, limit), 0);
    CHECK_EQ(agent_limits(&p, "a", limit), -ENOENT);
    CHECK_EQ(load(&p, NULL, "", "--agents-dir /none"), 0);
    CHECK_EQ(agent_limits(&p, "a", limit), -EINVAL);
    CHECK(said(&p, "/none: No such file or directory\n"));
    place_fini(&p);
}

TEST(an_agents_settings_are_refused_with_file_key_and_range)
{
    static const char *const rows[][2] = {
        {"{", "line 1: a key is expected"},
        {"[]", "must be an object"},
        {"{\"resources\":[]}", "resources: must be an object"},
        {"{\"resources\":{\"memory\":1}}", "resources.memory: unknown key"},
        {"{\"resources\":{\"memoryMb\":4097}}",
         "resources.memoryMb: must be an integer from 8 to 4096 MB, not 4097"},
        {"{\"resources\":{\"diskMb\":\"1\"}}",
         "resources.diskMb: must be an integer from 1 to 8192 MB, not '1'"},
        {"{\"resources\":{\"cpuPercent\":-9223372036854775808}}",
         "resources.cpuPercent: must be an integer from 1 to 400 %, not "
         "-9223372036854775808"},
        {"{\"resources\":{},\"resources\":{}}", "line 1: a key comes twice"},
    };
    struct place p;
    uint32_t limit[N_LIMITS];
    char line[256];

    place_init(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        with_agent(&p, rows[i][0]);
        CHECK_EQ(agent_limits(&p, "a", limit), -EINVAL);
        (void)snprintf(line, sizeof line, "a/.claude/settings.json: %s\n",
                       rows[i][1]);
        CHECK(said(&p, line));
    }
    place_fini(&p);
}

TEST(settings_are_files_in_the_folder_of_agents)
{
    struct place p;
    uint32_t limit[N_LIMITS];
    char path[128];

    place_init(&p);
    with_agent(&p, NULL);
    (void)snprintf(path, sizeof path, "%s/out", p.dir);
    CHECK_EQ(symlink("/etc", path), 0);
    CHECK_EQ(agent_limits(&p, "out", limit), -EINVAL);
    CHECK(said(&p, "out: leads out of the folder of agents\n"));
    (void)snprintf(path, sizeof path, "%s/b", p.dir);
    CHECK_EQ(symlink("a", path), 0);
    CHECK_EQ(agent_limits(&p, "b", limit), 0);
    (void)snprintf(path, sizeof path, "%s/a/.claude/settings.json", p.dir);
    CHECK_EQ(symlink("../../../passwd", path), 0);
    CHECK_EQ(agent_limits(&p, "a", limit), -EINVAL);
    CHECK(said(&p, "a/.claude/settings.json: leads out of the folder"));
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK_EQ(agent_limits(&p, "a", limit), -EINVAL);
    CHECK(said(&p, "a/.claude/settings.json: not a regular file\n"));
    CHECK_EQ(agent_limits(&p, "../a", limit), -EINVAL);
    CHECK(said(&p, "agent: must be the name of a folder\n"));
    place_fini(&p);
}
