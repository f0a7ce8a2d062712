/* The configuration of `wasm-sandbox serve`: one row of config.def for each
 * key. The command line overrides the environment, which overrides the file,
 * which overrides the defaults. An agent's settings and a session's own limits
 * override these, within the administrator's maxima.
 *
 * Errors are lines of text that name the place (file and line, variable, option
 * or parameter), the key, and the allowed values. All errors are reported, not
 * only the first. */
#ifndef SUPERVISOR_CONFIG_H
#define SUPERVISOR_CONFIG_H

#include "base/json.h"
#include "base/own.h"
#include "supervisor/config/limits.h"

#include <stdbool.h>
#include <stdio.h>

struct buf;

/* Values of CONFIG_CHOICE keys; `backend` is an enum backend, and
 * `allow_unenforced` has the bits 1 << LIMIT_... */
enum config_compile { COMPILE_refuse, COMPILE_separate };
enum config_durability { DURABILITY_full, DURABILITY_interval };
enum config_level { LEVEL_error, LEVEL_warn, LEVEL_info, LEVEL_debug };

/* The effective values, one member for each row of config.def. Strings are
 * owned. Lists have commas between their items. Images are a text for
 * image_list_parse. */
struct config {
#define CONFIG_PATH(id, key, standard, text)                   char *id;
#define CONFIG_ADDRESS(id, key, standard, text)                char *id;
#define CONFIG_IMAGES(id, key, text)                           char *id;
#define CONFIG_RULES(id, key, text)                            char *id;
#define CONFIG_SERVERS(id, key, text)                          char *id;
#define CONFIG_DOMAIN(id, key, standard, text)                 char *id;
#define CONFIG_FLAG(id, key, standard, text)                   bool id;
#define CONFIG_NUMBER(id, key, standard, min, max, unit, text) uint32_t id;
#define CONFIG_CHOICE(id, key, standard, choices, text)        uint32_t id;
#define CONFIG_LIMITS(id, key, text)                           uint32_t id;
#define CONFIG_LIMIT(limit, where, id, key, standard, text)
#include "supervisor/config/config_rows.h"
    uint32_t standard[N_LIMITS]; /* of sessions without limits of their own */
    uint32_t most[N_LIMITS];     /* maxima for them */
};

/* `argv` contains the arguments after `serve`. --config names the file,
 * otherwise $WASMSAND_CONFIG, otherwise it is /etc/wasmsand/config.json, which
 * may be missing. Empty paths with a default are filled in, except `root`.
 * -EINVAL: `errors` contains lines. -ENOMEM. */
int config_read(char *const *argv, char *const *env, struct buf *errors,
                OWN struct config **ret);
/* Accepts NULL. */
void config_free(struct config *c);
/* Prints the effective values, as a complete file. */
void config_print(const struct config *c, FILE *out);
/* Prints the options, for --help. */
void config_print_options(FILE *out);

/* Prints to standard error, safe for a terminal. */
void config_print_errors(const struct buf *errors);
/* Like config_read with our environment; errors are reported on standard error.
 */
int config_load(char *const *argv, OWN struct config **ret);
/* Implements `serve --check-config` with the other arguments: prints the
 * effective configuration, or all errors. Returns the exit status. */
int config_check_main(char *const *argv);

/* True for a valid name of a folder in agents_dir. */
bool config_is_agent_name(const char *name, size_t len);
/* Returns the limits of a session of this agent (NULL: of none). An agent
 * without a settings file has the standard ones. -ENOENT: no such agent, or no
 * agents_dir. -EINVAL: `errors` contains lines. */
int config_agent_limits(const struct config *c, const char *agent,
                        struct buf *errors, uint32_t *ret_limit);
/* Overrides `limit` by an object {memoryMb, cpuPercent, diskMb, maxProcesses},
 * each optional. `where` begins each error, e.g. "limits". -EINVAL: `errors`
 * contains lines, and `limit` is unchanged. */
int config_lay_limits(const struct config *c, const struct json *object,
                      const char *where, struct buf *errors, uint32_t *limit);
/* Returns the key of a limit ("memoryMb"), or NULL. */
const char *config_limit_key(enum limit limit);

DEFINE_CLEANUP(struct config *, config_free)

#endif
