/* From a configuration to the library's options, and to a sandbox.
 *
 * The options of the library point to texts and vectors, some of which are in
 * the message of `create` and some of which are built here. A builder owns the
 * latter until the sandbox exists. */
#include "rpc/builder.h"

#include "base/image_name.h"
#include "base/os_time.h"
#include "base/vec.h"
#include "net/param.h"
#include "rpc/report.h"
#include "rpc/tools.h"
#include "rpc/values.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOCK_MS (UINT64_C(1735689600) * 1000) /* 2025-01-01 */

enum { LINE_MEMORY_BYTES = 64 << 20 };

/* --- memory */

struct kept {
    struct kept *next;
    void *p;
};

/* All texts and vectors of the options live until the sandbox exists, and are
 * freed together. So no function here has to undo a part of the work. */
void *
builder_keep(struct builder *m, OWN void *p)
{
    struct kept *k = malloc(sizeof *k);

    if (!p || !k) {
        free(p);
        free(k);
        return NULL;
    }
    *k = (struct kept){m->kept, p};
    m->kept = k;
    return p;
}

char *
builder_printf(struct builder *m, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    return n < 0 ? NULL : builder_keep(m, text);
}

int
builder_no_memory(struct builder *m)
{
    return report_fail(m->err, ENOMEM, "out of memory");
}

/* The library has copied everything when the sandbox exists. */
static void
builder_fini(struct builder *m)
{
    free(m->mounts);
    free(m->limits);
    free(m->programs);
    free(m->commands);
    while (m->kept) {
        struct kept *k = m->kept;
        m->kept = k->next;
        free(k->p);
        free(k);
    }
}

/* The texts of an array, NULL-terminated. */
static int
builder_texts(struct builder *m, const char *name, const char *const **ret)
{
    const struct json *v = config_value(m->config, name);
    size_t i = 0;

    if (!v)
        return 0;
    const char **list =
        builder_keep(m, calloc(json_count(v) + 1, sizeof *list));
    if (!list)
        return builder_no_memory(m);
    JSON_EACH(element, v)
        list[i++] = json_text(element).p;
    *ret = list;
    return 0;
}

/* --- programs */

/* A program that cannot run does not prevent the sandbox: it reports the
 * reason when it is started. */
static int
builder_add_program(void *arg, const char *host_path, const char *guest_path)
{
    struct builder *m = arg;
    size_t n = m->o.n_programs;

    if (!VEC_ROOM(m->programs, n))
        return -ENOMEM;
    struct wsand_program *p = &m->programs[n];
    *p = (struct wsand_program){.host_path = builder_keep(m, strdup(host_path)),
                                .guest_path =
                                    builder_keep(m, strdup(guest_path)),
                                .is_checked = true};
    if (!p->host_path || !p->guest_path)
        return -ENOMEM;
    m->o.programs = m->programs;
    m->o.n_programs++;
    return 0;
}

/* An error names the folder, because the client sees no other part of the
 * path. */
static int
builder_add_tools(struct builder *m, const char *dir)
{
    int r = tools_scan(dir, builder_add_program, m);

    return r < 0 ? report_fail_path(m->err, -r, dir) : 0;
}

/* shellWasmPath is accepted for older clients, which always send it. */
static int
builder_programs(struct builder *m)
{
    const struct json *dir = config_value(m->config, "wasmDir");
    const struct json *shell = config_value(m->config, "shellWasmPath");
    const char *const *more = m->config->srv->options->tools;

    if (shell) {
        const char *path = json_text(shell).p;
        if (access(path, F_OK) < 0)
            return report_fail_path(m->err, errno, path);
        report_line(m->config->srv, LOG_INFO, "shellWasmPath is not used: %s",
                    path);
    }
    int r = dir ? builder_add_tools(m, json_text(dir).p) : 0;
    for (; r == 0 && more && *more; more++)
        r = builder_add_tools(m, *more);
    return r;
}

/* The command that lists extensions exists only if there are some, and if none
 * of them has its name. */
static int
builder_commands(struct builder *m)
{
    const struct sandbox_config *c = m->config;

    m->commands = calloc(c->n_extensions + 2, sizeof *m->commands);
    if (!m->commands)
        return builder_no_memory(m);
    for (size_t i = 0; i < c->n_extensions; i++) {
        struct extension *e = &c->extensions[i];
        if (e->has_command)
            m->commands[m->o.n_commands++] =
                (struct wsand_command){.name = e->name,
                                       .help = e->help,
                                       .invoke = extension_invoke,
                                       .arg = e};
    }
    if (c->n_extensions && !extension_find(c, EXTENSIONS_COMMAND))
        m->commands[m->o.n_commands++] = extensions_command(c);
    m->o.commands = m->commands;
    return 0;
}

/* --- variables and numbers */

/* pythonPath, then the folder of packages; NULL if there are none. */
static int
builder_python_path(struct builder *m, const char **ret)
{
    const struct json *v = config_value(m->config, "pythonPath");
    struct buf b;

    *ret = NULL;
    if (!v && !m->config->n_extensions)
        return 0;
    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "PYTHONPATH=");
    JSON_EACH(dir, v) {
        buf_puts(&b, json_text(dir).p);
        buf_puts(&b, ":");
    }
    buf_add(&b, "/usr/lib/python", sizeof "/usr/lib/python");
    *ret = b.error ? NULL : builder_keep(m, buf_steal(&b));
    buf_fini(&b);
    return *ret ? 0 : builder_no_memory(m);
}

/* Variables of the client come after our own, and override them. */
static int
builder_env(struct builder *m)
{
    const struct json *v = config_value(m->config, "env");
    char **given = NULL;
    const char *python;
    size_t n = 0;

    int r = builder_python_path(m, &python);
    if (r < 0)
        return r;
    if (v && (env_from_json(v, &given) < 0 || !builder_keep(m, given)))
        return builder_no_memory(m);
    while (given && given[n])
        n++;
    const char **env = builder_keep(m, calloc(n + 2, sizeof *env));
    if (!env)
        return builder_no_memory(m);
    if (python)
        *env = python;
    for (size_t i = 0; i < n; i++)
        env[i + (python ? 1 : 0)] = given[i];
    m->o.env = env;
    return 0;
}

/* 0: the default. */
static uint64_t
builder_memory(const struct sandbox_config *c)
{
    uint64_t given = c->srv->options->memory_bytes;

    return config_limit(c, "memoryBytes",
                        given ? given : (c->is_line ? LINE_MEMORY_BYTES : 0));
}

/* A limit of 0 means the default of the library. */
static void
builder_numbers(struct builder *m)
{
    const struct sandbox_config *c = m->config;
    const struct server_options *so = c->srv->options;
    struct wsand_options *o = &m->o;

    o->memory_bytes = builder_memory(c);
    o->needs_shell = !config_limit(c, "uncheckedMemory", 0);
    o->file_bytes = config_number(c, "fsLimitBytes", so->fs_bytes);
    o->files = config_limit(c, "fileCount", 0);
    o->processes = config_limit(c, "processes", 0);
    o->cpu_ms = config_limit(c, "cpuMs", 0);
    o->snapshots = config_limit(c, "snapshots", 0);
    o->stdout_bytes = c->stdout_bytes;
    o->stderr_bytes = c->stderr_bytes;
    o->command_bytes = c->command_bytes;
    o->is_deterministic = config_value(c, "seed") || config_value(c, "clock");
    o->seed = config_number(c, "seed", 0);
    o->clock_ns = (int64_t)config_number(c, "clock", CLOCK_MS) * NS_PER_MS;
}

/* The rules live in the message, and the rest as long as the other options. */
static int
builder_network(struct builder *m)
{
    struct network_param p;

    int r = network_param_read(config_value(m->config, "network"), &p);
    if (r < 0)
        return report_fail(m->err, -r, "%s", p.why);
    m->o.network_connections = p.connections;
    m->o.network_connects = p.connects;
    m->o.network_lookups = p.lookups;
    m->o.network_bytes = p.bytes;
    m->o.network_rate = p.rate;
    bool had_rules = p.rules, had_text = p.text;
    m->o.network = builder_keep(m, p.rules);
    char *text = builder_keep(m, p.text);
    return had_rules == !m->o.network || had_text == !text
               ? builder_no_memory(m)
               : 0;
}

/* The order matters where one step adds to the vectors of another: Python
 * packages are mounts, too. */
static int
builder_options(struct builder *m)
{
    const struct json *cwd = config_value(m->config, "cwd");
    const struct json *user = config_value(m->config, "user");

    builder_numbers(m);
    m->o.keeps_bad_programs = true;
    m->o.cwd = cwd ? json_text(cwd).p : NULL;
    if (user)
        m->o.user = json_text(user).p;
    int r = builder_programs(m);
    if (r == 0)
        r = builder_mounts(m);
    if (r == 0)
        r = builder_python(m);
    if (r == 0)
        r = builder_commands(m);
    if (r == 0)
        r = builder_env(m);
    if (r == 0)
        r = builder_texts(m, "writablePaths", &m->o.writable_paths);
    if (r == 0)
        r = builder_texts(m, "allowTools", &m->o.allow_tools);
    if (r == 0)
        r = builder_network(m);
    return r;
}

/* Each of these parameters reads host files, and so does the first sandbox of
 * an image that is not the default. A small memory limit is compared
 * with the need of the shell, which must be measured first. */
bool
config_is_quick(const struct sandbox_config *c, const char *image)
{
    static const char *const slow[] = {"wasmDir", "shellWasmPath", "mounts"};

    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (config_value(c, slow[i]))
            return false;
    if (strcmp(image, IMAGE_DEFAULT) != 0)
        return false;
    uint64_t memory = builder_memory(c); /* what the shell needs is measured */
    if (memory && memory < LINE_MEMORY_BYTES)
        return false;
    const char *const *tools = c->srv->options->tools;
    return !c->n_extensions && !(tools && *tools);
}

/* The options are collected first and passed to the library at once: a sandbox
 * with a part of its options never exists. */
int
config_create_sandbox(const struct sandbox_config *c, const char *image,
                      struct wsand_sandbox **ret, struct wsand_error *err)
{
    struct builder m = {.config = c, .o = {.size = sizeof m.o}, .err = err};

    if (!c->srv->options->worker) /* which has one image, of any name */
        m.o.image = image;
    int r = builder_options(&m);
    if (r == 0)
        r = wsand_sandbox_new(c->srv->rt, &m.o, ret, err);
    builder_fini(&m);
    return r;
}
