/* Limits of sessions. The defaults are overridden by those of an agent's
 * settings, and these by the limits that a session asks for. None may exceed
 * the maxima.
 *
 * The file of an agent is written by less trusted people than the
 * configuration. It can only set limits, and its path must stay inside of
 * agentsDir. */
#include "supervisor/config/config_impl.h"

#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_BYTES = 255, SETTINGS_BYTES = 320 };

static const char section[] = "resources.";

/* The key in a session's limits is the one of the configuration, without its
 * section. */
const char *
config_limit_key(enum limit limit)
{
    for (size_t i = 0; i < n_config_rows; i++)
        if (config_rows[i].of == &limit_rows[limit] &&
            !strncmp(config_rows[i].key, section, sizeof section - 1))
            return config_rows[i].key + sizeof section - 1;
    return NULL;
}

/* --- limits of an object */

/* Limits that are being overridden. They are copied back only if all of them
 * are valid. */
struct draft {
    struct config c; /* `standard` are the limits */
    const char *file, *section;
    struct buf *errors;
};

/* Returns the limit with this key, or N_LIMITS. */
static enum limit
agent_find_limit(const char *key)
{
    for (int i = 0; i < N_LIMITS; i++) {
        const char *k = config_limit_key((enum limit)i);
        if (k && !strcmp(k, key))
            return (enum limit)i;
    }
    return N_LIMITS;
}

/* Uses the checks of the configuration, with the administrator's maximum as the
 * upper end of the range. */
static int
agent_lay_limit(struct draft *d, const char *key, const struct json *value)
{
    char name[CONFIG_NAME_BYTES];
    enum limit limit = agent_find_limit(key);

    (void)snprintf(name, sizeof name, "%s.%s", d->section, key);
    if (limit == N_LIMITS)
        return config_refuse(d->errors, d->file, name, "unknown key");
    struct config_row row = {
        .kind = CONFIG_number,
        .key = name,
        .range = limit_rows[limit],
        .offset =
            offsetof(struct config, standard) + limit * sizeof *d->c.standard,
    };
    row.range.max = d->c.most[limit];
    return config_set_json(&d->c, &row, d->file, value, d->errors);
}

/* All errors are reported before the function fails. */
static int
agent_lay_limits(struct draft *d, const struct json *object, uint32_t *limit)
{
    int r = 0;

    if (!json_is(object, JSON_OBJECT))
        return config_refuse(d->errors, d->file, d->section,
                             "must be an object");
    memcpy(d->c.standard, limit, sizeof d->c.standard);
    JSON_EACH_KEY(key, object)
        r = config_worse(r, agent_lay_limit(d, key->text.p, json_value(key)));
    if (r == 0)
        memcpy(limit, d->c.standard, sizeof d->c.standard);
    return r;
}

int
config_lay_limits(const struct config *c, const struct json *object,
                  const char *where, struct buf *errors, uint32_t *limit)
{
    struct draft d = {*c, "", where, errors};

    return agent_lay_limits(&d, object, limit);
}

/* --- an agent's settings */

/* A name must be a single component of a path, without control characters. */
bool
config_is_agent_name(const char *name, size_t len)
{
    if (!len || len > NAME_BYTES || !strcmp(name, ".") || !strcmp(name, ".."))
        return false;
    for (size_t i = 0; i < len; i++)
        if (name[i] == '/' || (unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return false;
    return true;
}

/* Links are followed as long as they stay in the folder. The kernel reports
 * EAGAIN if something was renamed meanwhile. */
static int
agent_open_beneath(int dir_hfd, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int tries = 1000;
    long hfd;

    do /* again, if something was renamed meanwhile */
        hfd = syscall(SYS_openat2, dir_hfd, path, &how, sizeof how);
    while (hfd < 0 && errno == EAGAIN && --tries);
    return hfd < 0 ? -errno : (int)hfd;
}

/* RESOLVE_BENEATH reports a path that leads out of the folder as EXDEV. */
static int
agent_refuse_path(struct buf *errors, const char *path, int r)
{
    return config_refuse(errors, path, "", "%s",
                         r == -EXDEV ? "leads out of the folder of agents"
                                     : strerror(-r));
}

/* Other members of the file belong to other programs, and are ignored. */
static int
agent_lay_settings(const struct config *c, int hfd, const char *path,
                   struct buf *errors, uint32_t *limit)
{
    struct draft d = {*c, path, "resources", errors};
    CLEANUP(json_fini) struct json_doc json = {0};

    int r = config_parse(hfd, path, errors, &json);
    if (r != 0)
        return r;
    const struct json *resources = json_get(json.v, d.section);
    if (resources)
        r = agent_lay_limits(&d, resources, limit);
    return r;
}

/* An agent without a settings file has the default limits; an agent without a
 * folder does not exist. */
static int
agent_lay_agent(const struct config *c, int dir_hfd, const char *agent,
                struct buf *errors, uint32_t *limit)
{
    char path[SETTINGS_BYTES];

    CLEANUP(hfd_closep)
    int agent_hfd = agent_open_beneath(dir_hfd, agent, O_PATH | O_DIRECTORY);
    if (agent_hfd == -ENOENT)
        return -ENOENT;
    if (agent_hfd < 0)
        return agent_refuse_path(errors, agent, agent_hfd);
    (void)snprintf(path, sizeof path, "%s/.claude/settings.json", agent);
    CLEANUP(hfd_closep)
    int hfd =
        agent_open_beneath(dir_hfd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (hfd == -ENOENT)
        return 0;
    return hfd < 0 ? agent_refuse_path(errors, path, hfd)
                   : agent_lay_settings(c, hfd, path, errors, limit);
}

/* The limits are changed only if everything is valid. */
int
config_agent_limits(const struct config *c, const char *agent,
                    struct buf *errors, uint32_t *ret_limit)
{
    uint32_t limit[N_LIMITS];

    memcpy(limit, c->standard, sizeof limit);
    if (agent) {
        if (!*c->agents_dir)
            return -ENOENT;
        if (!config_is_agent_name(agent, strlen(agent)))
            return config_refuse(errors, "", "agent",
                                 "must be the name of a folder");
        CLEANUP(hfd_closep)
        int hfd = open(c->agents_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (hfd < 0)
            return config_refuse(errors, c->agents_dir, "", "%s",
                                 strerror(errno));
        int r = agent_lay_agent(c, hfd, agent, errors, limit);
        if (r != 0)
            return r;
    }
    memcpy(ret_limit, limit, sizeof limit);
    return 0;
}
