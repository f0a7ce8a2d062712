/* The options of a session: from the client, to the store and back, and to the
 * worker.
 *
 * limits:  {"memoryMb":512,"cpuPercent":100,"diskMb":1024,"maxProcesses":64}
 * options: {"autoResume":true} and "command" (an array) or "create" (the
 *          client's parameters for the worker's create), "network" and
 *          "ports" (network.h, forward.h). "network" of a command is true or
 *          false. */
#include "supervisor/session/session.h"

#include "base/image_name.h"
#include "supervisor/config/config.h"
#include "supervisor/session/forward.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of session.create that the worker is given as they are. */
static const char *const passed_on[] = {
    "env",        "timeoutMs",     "seed",     "clock",     "allowTools",
    "pythonPath", "writablePaths", "cwd",      "fileCount", "commandBytes",
    "user",       "image",         "diskImage"};

enum { COMMAND_BYTES = 1 << 20 };

/* Minimum limits of an x86 computer. */
enum { MACHINE_MEMORY_MB = 40, MACHINE_DISK_MB = 16 };

/* --- from the client */

/* Answers with the collected errors, without the last newline. */
static int
session_options_refuse_lines(struct call *q, struct buf *errors)
{
    while (errors->len && errors->p[errors->len - 1] == '\n')
        errors->len--;
    answer_error(q, INVALID_PARAMS, "%.*s", (int)errors->len,
                 errors->p ? errors->p : "");
    return -EINVAL;
}

/* Limits come from three places, each overriding the one before: the defaults,
 * the agent's file, the parameters of this call. */
static int
session_options_take_limits(struct session *s, struct call *q)
{
    const struct config *c = s->sv->config;
    const char *agent = param_text(q, "agent");
    const struct json *limits = param(q, "limits");
    struct buf errors;

    buf_init(&errors, ANSWER_TEXT_BYTES / 2);
    int r = config_agent_limits(c, agent, &errors, s->limit);
    if (r == 0 && limits)
        r = config_lay_limits(c, limits, "limits", &errors, s->limit);
    if (r == -ENOENT)
        answer_error(q, INVALID_PARAMS, "Unknown agent: %.200s", agent);
    else if (r < 0)
        (void)session_options_refuse_lines(q, &errors);
    buf_fini(&errors);
    return r;
}

/* Writes the limits as JSON with a NUL, or returns NULL. */
static char *
session_options_limits_json(const struct session *s)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{");
    for (int i = 0; i < N_LIMITS; i++)
        if (config_limit_key((enum limit)i))
            put_number(&b, config_limit_key((enum limit)i), s->limit[i]);
    buf_add(&b, "}", 2);
    if (b.error)
        buf_fini(&b);
    return buf_steal(&b);
}

/* The values are copied as JSON, without interpreting them: the worker checks
 * them when it starts. */
static void
session_options_put_passed_on(struct buf *b, const struct call *q)
{
    put_name(b, "create");
    buf_puts(b, "{");
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        const struct json *v = param(q, passed_on[i]);
        if (!v)
            continue;
        put_name(b, passed_on[i]);
        json_put(b, v);
    }
    buf_puts(b, "}");
}

/* Writes the options as JSON with a NUL, or returns NULL. Parameters for the
 * worker are kept as the client wrote them. */
static char *
session_options_json(const struct session *s, const struct call *q)
{
    const struct json *command = param(q, "command");
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{");
    put_bool(&b, "autoResume", s->auto_resume);
    if (command) {
        put_name(&b, "command");
        json_put(&b, command);
        put_bool(&b, "network", param_bool(q, "network", false));
    } else {
        session_options_put_passed_on(&b, q);
    }
    buf_add(&b, "}", 2);
    if (b.error)
        buf_fini(&b);
    return buf_steal(&b);
}

/* The session's own choice, or else that of the configuration. */
static bool
session_options_is_interval(const struct session *s, const struct call *q)
{
    const char *text = param_text(q, "durability");

    return text ? !strcmp(text, "interval")
                : s->sv->config->store_durability == DURABILITY_interval;
}

static int
session_options_refuse(struct call *q, const char *name, const char *why)
{
    answer_error(q, INVALID_PARAMS, "%s %s", name, why);
    return -EINVAL;
}

/* Parameters of a sandbox are not valid for a command, and vice versa. */
static int
session_options_check_command(const struct session *s, struct call *q)
{
    const struct json *command = param(q, "command");
    const struct json *network = param(q, "network");

    if (command && network && !json_is_bool(network))
        return session_options_refuse(
            q, "network",
            "of a command must be true or false: a policy is for sandboxes");
    if (json_is(network, JSON_TRUE) && !command)
        return session_options_refuse(q, "network",
                                      "true is for a command only; a sandbox "
                                      "has a policy (docs/network.md)");
    if (json_is(network, JSON_TRUE) && !s->sv->config->command_network)
        return session_options_refuse(
            q, "network", "needs commandNetwork in the configuration");
    if (command && !json_count(command))
        return session_options_refuse(q, "command", "must not be empty");
    for (size_t i = 0; command && i < sizeof passed_on / sizeof *passed_on; i++)
        if (param(q, passed_on[i]))
            return session_options_refuse(q, passed_on[i],
                                          "is not for a command");
    return 0;
}

/* An x86 computer has a disk image, and few of the parameters. Its sizes are
 * the limits of memory and disk. */
static int
session_options_check_mode(const struct session *s, struct call *q)
{
    const char *mode = param_text(q, "mode");
    bool is_machine = mode && !strcmp(mode, "v86");

    if (mode && !is_machine && strcmp(mode, "simple") != 0)
        return session_options_refuse(q, "mode", "must be simple or v86");
    if (is_machine != !!param(q, "diskImage"))
        return session_options_refuse(q, is_machine ? "mode" : "diskImage",
                                      is_machine ? "v86 needs diskImage"
                                                 : "is for mode v86 only");
    if (is_machine && param(q, "command"))
        return session_options_refuse(q, "command", "is not in mode v86");
    for (size_t i = 0; is_machine && i < sizeof passed_on / sizeof *passed_on;
         i++)
        if (param(q, passed_on[i]) && strcmp(passed_on[i], "diskImage") != 0 &&
            strcmp(passed_on[i], "timeoutMs") != 0)
            return session_options_refuse(q, passed_on[i],
                                          "is not in mode v86");
    if (is_machine && (s->limit[LIMIT_memory] < MACHINE_MEMORY_MB ||
                       s->limit[LIMIT_disk] < MACHINE_DISK_MB))
        return session_options_refuse(
            q, "limits", "of mode v86 must be at least memoryMb 40, diskMb 16");
    return 0;
}

/* The memory of the worker and the space of the store allow a number of files
 * that depends on the disk limit. */
static int
session_options_check_files(const struct session *s, struct call *q)
{
    uint64_t most = limit_files(s->limit[LIMIT_disk]);

    if ((uint64_t)param_int(q, "fileCount", 0) <= most)
        return 0;
    answer_error(q, INVALID_PARAMS,
                 "fileCount must be at most %llu with limits.diskMb %u; more "
                 "disk allows more files, 64 for each MB",
                 (unsigned long long)most, s->limit[LIMIT_disk]);
    return -EINVAL;
}

/* Checked here as well, because a wrong user would otherwise be found only when
 * the worker starts. */
static int
session_options_check_user(struct call *q)
{
    const char *user = param_text(q, "user");

    if (!user || !strcmp(user, "user") || !strcmp(user, "root"))
        return 0;
    answer_error(q, INVALID_PARAMS,
                 "user: '%.100s' is not \"user\" or \"root\"", user);
    return -EINVAL;
}

static int
session_options_take_network(struct session *s, struct call *q)
{
    char why[NETWORK_WHY_BYTES] = "out of memory";

    int r = param(q, "seed") || param(q, "clock")
                ? -EINVAL
                : session_network_set(s, param(q, "network"), why);
    if (r == -EINVAL && (param(q, "seed") || param(q, "clock")))
        (void)snprintf(why, sizeof why,
                       "network: a deterministic sandbox cannot have one, "
                       "because hosts do not repeat their answers");
    if (r == 0)
        r = session_write_options(s);
    if (r < 0)
        answer_error(q, r == -ENOMEM ? INTERNAL_ERROR : INVALID_PARAMS, "%s",
                     why);
    return r;
}

/* The options are written as JSON, and then read back from it like those of a
 * stored session. A new session and a resumed one are therefore configured by
 * the same code. */
int
session_take_options(struct session *s, struct call *q)
{
    const char *agent = param_text(q, "agent"), *label = param_text(q, "label");

    if (label && strlen(label) > LABEL_BYTES_MAX) {
        answer_error(q, INVALID_PARAMS, "label must have at most %d bytes",
                     LABEL_BYTES_MAX);
        return -EINVAL;
    }
    int r = session_options_check_command(s, q);
    if (r == 0)
        r = session_options_check_user(q);
    if (r == 0)
        r = session_options_take_limits(s, q);
    if (r == 0)
        r = session_options_check_mode(s, q);
    if (r == 0)
        r = session_options_check_files(s, q);
    if (r < 0)
        return r;
    s->is_interval = session_options_is_interval(s, q);
    s->auto_resume = param_bool(q, "autoResume", s->sv->config->auto_resume);
    s->agent = strdup(agent ? agent : "");
    s->label = strdup(label ? label : "");
    s->limits = session_options_limits_json(s);
    s->options = session_options_json(s, q);
    if (s->agent && s->label && s->limits && s->options)
        r = session_read_options(s);
    else
        r = -ENOMEM;
    if (r == 0 && !s->command && param(q, "network")) {
        if (session_has_disk(s))
            return session_options_refuse(
                q, "network", "is not for an x86 computer, which has none");
        return session_options_take_network(s, q);
    }
    if (r < 0)
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
    return r;
}

/* --- from the store */

/* One allocation: the pointers, then the words. */
static int
session_options_read_command(struct session *s, const struct json *array)
{
    size_t n = json_count(array), bytes = 0;

    JSON_EACH(word, array)
        bytes += json_text(word).len + 1;
    s->command = malloc((n + 1) * sizeof *s->command + bytes);
    if (!s->command)
        return -ENOMEM;
    char *to = (char *)(s->command + n + 1);
    size_t i = 0;
    JSON_EACH(word, array) {
        s->command[i++] = to;
        to = stpcpy(to, json_is(word, JSON_STRING) ? word->text.p : "") + 1;
    }
    s->command[n] = NULL;
    return 0;
}

/* A limit outside of its range, from a damaged row or an earlier version, is
 * replaced by the default. */
static void
session_options_read_limits(struct session *s, const struct json *limits)
{
    for (int i = 0; i < N_LIMITS; i++) {
        const char *key = config_limit_key((enum limit)i);
        const struct json *given = key ? json_get(limits, key) : NULL;
        int64_t n = json_is(given, JSON_INTEGER) ? given->integer
                    : key                        ? 0
                                                 : limit_rows[i].standard;
        s->limit[i] = n >= limit_rows[i].min && n <= limit_rows[i].max
                          ? (uint32_t)n
                          : limit_rows[i].standard;
    }
}

/* Fills the session from its JSON. -EBADMSG: not JSON, so the row is
 * damaged. */
int
session_read_options(struct session *s)
{
    CLEANUP(json_fini) struct json_doc limits = {0}, options = {0};
    struct json_fault fault;

    int r = json_read_copy(&limits, s->limits, strlen(s->limits), &fault);
    if (r == 0)
        r = json_read_copy(&options, s->options, strlen(s->options), &fault);
    const struct json *o = options.v, *command = json_get(o, "command");
    session_options_read_limits(s, limits.v);
    s->auto_resume = json_is(json_get(o, "autoResume"), JSON_TRUE);
    s->limit[LIMIT_network] = json_is(json_get(o, "network"), JSON_TRUE);
    if (r == 0 && command)
        return session_options_read_command(s, command);
    if (r == 0)
        r = session_network_read(s, json_get(o, "network"));
    if (r == 0)
        r = session_forward_read(s, json_get(o, "ports"));
    return r == -EINVAL ? -EBADMSG : r;
}

/* All other members stay as they are. */
int
session_write_options(struct session *s)
{
    const struct text old = {s->options, strlen(s->options)};
    struct json_member m;
    struct json_scan scan;
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{");
    if (json_scan_begin(old, &scan))
        while (json_scan_next(&scan, &m)) {
            if (text_is(m.name, "network") || text_is(m.name, "ports"))
                continue;
            buf_puts(&b, b.len > 1 ? ",\"" : "\"");
            buf_add(&b, m.name.p, m.name.len);
            buf_puts(&b, "\":");
            buf_add(&b, m.value.p, m.value.len);
        }
    if (s->network) {
        put_name(&b, "network");
        session_network_put_stored(&b, s->network);
    }
    if (s->n_forwards) {
        put_name(&b, "ports");
        session_forward_put(&b, s);
    }
    buf_add(&b, "}", 2);
    if (b.error) {
        buf_fini(&b);
        return -ENOMEM;
    }
    free(s->options);
    s->options = buf_steal(&b);
    return 0;
}

/* --- to the worker */

/* Returns a member of a JSON object as text, or NULL. */
static struct text
session_options_member_of(struct text object, const char *name)
{
    struct json_member m;
    struct json_scan s;

    if (object.p && json_scan_begin(object, &s))
        while (json_scan_next(&s, &m))
            if (text_is(m.name, name))
                return m.value;
    return (struct text){0};
}

bool
session_has_disk(const struct session *s)
{
    const struct text options = {s->options, strlen(s->options)};
    const struct text create = session_options_member_of(options, "create");

    return session_options_member_of(create, "diskImage").p;
}

/* A session that named none, for example one of an older version, has the
 * default image. */
void
session_put_image_name(const char *options, struct buf *b)
{
    const struct text all = {options, strlen(options)};
    const struct text create = session_options_member_of(all, "create");
    const struct text disk = session_options_member_of(create, "diskImage");
    const struct text name =
        disk.p ? disk : session_options_member_of(create, "image");

    if (name.p)
        buf_add(b, name.p, name.len);
    else
        put_text(b, IMAGE_DEFAULT);
}

/* Writes a member of the worker's `limits`: the value that the session asked
 * for, or `absent`. */
static void
session_options_put_limit(struct buf *b, struct text create, const char *name,
                          uint64_t absent)
{
    struct text given = session_options_member_of(create, name);

    if (!given.p) {
        put_number(b, name, absent);
        return;
    }
    put_name(b, name);
    buf_add(b, given.p, given.len);
}

/* Copies the other members as they are. */
static void
session_options_put_stored(struct buf *b, struct text create)
{
    struct json_member m;
    struct json_scan s;

    if (!create.p || !json_scan_begin(create, &s))
        return;
    while (json_scan_next(&s, &m)) {
        if (text_is(m.name, "fileCount") || text_is(m.name, "commandBytes") ||
            text_is(m.name, "diskImage"))
            continue;
        buf_puts(b, ",\"");
        buf_add(b, m.name.p, m.name.len);
        buf_puts(b, "\":");
        buf_add(b, m.value.p, m.value.len);
    }
}

/* Limits are derived from the session's, never from the client's text. A stored
 * session skips the check of its memory limit: it must be possible to resume it
 * with a larger shell. */
void
session_put_create(const struct session *s, struct buf *b)
{
    const struct text options = {s->options, strlen(s->options)};
    struct text create = session_options_member_of(options, "create");

    buf_puts(b, "{");
    put_number(b, "fsLimitBytes", mb_bytes(s->limit[LIMIT_disk]));
    put_name(b, "limits");
    buf_puts(b, "{");
    put_number(b, "memoryBytes", mb_bytes(s->limit[LIMIT_memory]));
    if (s->has_state) /* its limits were accepted at its creation */
        put_bool(b, "uncheckedMemory", true);
    put_number(b, "processes", s->limit[LIMIT_processes]);
    session_options_put_limit(b, create, "fileCount",
                              limit_files(s->limit[LIMIT_disk]));
    session_options_put_limit(b, create, "commandBytes", COMMAND_BYTES);
    buf_puts(b, "}");
    session_options_put_stored(b, create);
    buf_puts(b, "}");
}
