/* The environment: variables that the resident shell exports.
 *
 * They exist only in the shell, so the host has to ask it. A reply begins with
 * a NUL; without one the shell has refused. The reply is data of the guest and
 * is only parsed. */
#include "lib/env.h"

#include "kernel/kernel.h"
#include "kernel/vfs/cred.h"
#include "lib/command.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell.h"
#include "lib/user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
env_check(const char *const *env, struct wsand_error *err)
{
    for (; env && *env; env++) {
        const char *eq = strchr(*env, '=');
        if (!eq || !command_is_variable_name(*env, (size_t)(eq - *env)))
            return error_set(err, EINVAL, "not NAME=VALUE: %s", *env);
    }
    return 0;
}

void
env_put_export(struct buf *b, const char *assignment)
{
    size_t name = strcspn(assignment, "=") + 1;

    buf_puts(b, "\\builtin export ");
    buf_add(b, assignment, name);
    command_quote(b, assignment + name);
}

/* Sets the variables of the options in a new shell.
 *
 * The image of the shell was frozen with the environment of uid 1000. Its own
 * code sets every variable of another user except PATH. Variables that cannot
 * be set (read-only ones) stay as they are. */
static int
env_set_first(struct shell *sh)
{
    const struct wsand_options *o = &sh->sb->options;
    const struct user *u = user_of(sh->sb);
    CLEANUP(buf_fini) struct buf b;
    char *reply = NULL;
    size_t len;

    command_body_init(&b);
    if (u->id != USER_ID) {
        env_put_export(&b, u->path);
        buf_puts(&b, "\n");
    }
    for (const char *const *e = o->env; e && *e; e++) {
        env_put_export(&b, *e);
        buf_puts(&b, "\n");
    }
    if (o->cwd) {
        buf_puts(&b, "\\builtin cd -- ");
        command_quote(&b, o->cwd);
        buf_puts(&b, " && \\builtin unset -v OLDPWD\n");
    }
    int r = shell_ask(sh, &b, false, &reply, &len);
    free(reply);
    return r;
}

/* The environment is set with the first command, not when the sandbox is
 * created: many sandboxes never run one. */
int
shell_begin(struct wsand_sandbox *sb, struct shell **ret)
{
    struct shell *sh;

    int r = shell_get(sb, &sh);
    if (r == 0 && !sh->has_env &&
        (sb->options.env || sb->options.cwd || user_of(sb)->id != USER_ID))
        r = env_set_first(sh);
    if (r < 0)
        return r;
    sh->has_env = true;
    *ret = sh;
    return 0;
}

/* --- the functions */

/* Asks a question that changes nothing. */
static int
ask(struct wsand_sandbox *sb, const struct buf *body, OWN char **ret,
    size_t *ret_len, struct wsand_error *err)
{
    struct shell *sh;

    int r = shell_begin(sb, &sh);
    if (r == 0)
        r = shell_query(sh, "", body, ret, ret_len);
    return r < 0 ? shell_ask_error(err, r) : 0;
}

static int
env_check_one(const char *name, struct wsand_error *err)
{
    if (command_is_variable_name(name, strlen(name)))
        return 0;
    return error_set(err, EINVAL, "not the name of a variable: %s", name);
}

/* Makes the shell run the command in b, which changes the variable. The reply
 * is empty, or missing if the shell refuses. */
static int
env_ask(struct wsand_sandbox *sb, const char *name, struct buf *b,
        struct wsand_error *err)
{
    struct shell *sh;
    char *reply = NULL;
    size_t len;

    buf_puts(b, " && \\builtin printf '\\0'");
    int r = shell_begin(sb, &sh);
    if (r == 0)
        r = shell_ask(sh, b, false, &reply, &len);
    if (r < 0)
        r = shell_ask_error(err, r);
    else if (!reply && sb->kernel->limits.was_hit[LIMIT_memory])
        r = error_set(err, ENOMEM, "no memory for variable: %s", name);
    else if (!reply)
        r = error_set(err, EPERM, "variable cannot be changed: %s", name);
    free(reply);
    return r;
}

/* Sets the variable, or unsets it if value is NULL. */
static int
env_change(struct wsand_sandbox *sb, const char *name, const char *value,
           struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(buf_fini) struct buf b;

    command_body_init(&b);
    int r = env_check_one(name, err);
    if (r < 0)
        return r;
    buf_puts(&b, value ? "\\builtin export " : "\\builtin unset -v ");
    buf_puts(&b, name);
    if (value) {
        buf_puts(&b, "=");
        command_quote(&b, value);
    }
    return env_ask(sb, name, &b, err);
}

int
wsand_env_set(struct wsand_sandbox *sb, const char *name, const char *value,
              struct wsand_error *err)
{
    return env_change(sb, name, value, err);
}

int
wsand_env_unset(struct wsand_sandbox *sb, const char *name,
                struct wsand_error *err)
{
    return env_change(sb, name, NULL, err);
}

/* Appends a condition: the variable is set and exported, and is not an
 * array. */
static void
env_put_if_exported(struct buf *b, const char *name)
{
    buf_puts(b, "[[ ${");
    buf_puts(b, name);
    buf_puts(b, "+x} && ${");
    buf_puts(b, name);
    buf_puts(b, "@a} == *x* && ${");
    buf_puts(b, name);
    buf_puts(b, "@a} != *[aA]* ]] && ");
}

/* The reply is "=VALUE", or empty if there is no such variable. An empty value
 * is thus different from none. */
int
wsand_env_get(struct wsand_sandbox *sb, const char *name, char **ret,
              struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(buf_fini) struct buf b;
    char *reply = NULL;
    size_t len = 0;

    command_body_init(&b);
    int r = env_check_one(name, err);
    if (r < 0)
        return r;
    buf_puts(&b, "\\builtin printf '\\0'\n");
    env_put_if_exported(&b, name);
    buf_puts(&b, "\\builtin printf '=%s' \"$");
    buf_puts(&b, name);
    buf_puts(&b, "\"");
    r = ask(sb, &b, &reply, &len, err);
    if (r < 0)
        return r;
    if (len)
        memmove(reply, reply + 1, len);
    else
        free(STEAL(reply));
    *ret = reply;
    return 0;
}

/* --- the list */

static void
env_free_text(char **s)
{
    free(*s);
}

/* Adds a command that prints NAME=VALUE for each line of `names`. */
static void
env_put_prints(struct buf *b, char *names)
{
    char *rest = NULL;

    buf_puts(b, "\\builtin printf '\\0'\n");
    for (char *n = strtok_r(names, "\n", &rest); n;
         n = strtok_r(NULL, "\n", &rest)) {
        if (!command_is_variable_name(n, strlen(n)))
            continue;
        env_put_if_exported(b, n);
        buf_puts(b, "\\builtin printf '%s\\0' ");
        buf_puts(b, n);
        buf_puts(b, "=\"$");
        buf_puts(b, n);
        buf_puts(b, "\"\n");
    }
}

static int
env_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Puts the pointers and the strings into one allocation, so that the caller
 * frees it at once. */
static int
env_make_list(const char *text, size_t len, char ***ret)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += !text[i];
    char **v = malloc((n + 1) * sizeof *v + len + 1);
    if (!v)
        return -ENOMEM;
    char *s = (char *)(v + n + 1);
    memcpy(s, text, len);
    for (size_t i = 0; i < n; i++, s += strlen(s) + 1)
        v[i] = s;
    v[n] = NULL;
    qsort(v, n, sizeof *v, env_by_text);
    *ret = v;
    return 0;
}

/* Two questions: the names, and then their values. `env` itself would run a
 * program, and its output could not be parsed if a value contains newlines. */
int
wsand_env_list(struct wsand_sandbox *sb, char ***ret, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(buf_fini) struct buf b;
    CLEANUP(buf_fini) struct buf which;
    CLEANUP(env_free_text) char *names = NULL;
    CLEANUP(env_free_text) char *values = NULL;
    size_t len = 0;

    command_body_init(&b);
    command_body_init(&which);
    buf_puts(&which, "\\builtin printf '\\0'\n\\builtin compgen -e");
    int r = ask(sb, &which, &names, &len, err);
    if (r < 0)
        return r;
    env_put_prints(&b, names ? names : (char[]){""});
    r = ask(sb, &b, &values, &len, err);
    if (r < 0)
        return r;
    r = env_make_list(values ? values : "", len, ret);
    return r < 0 ? error_set(err, ENOMEM, "out of memory") : 0;
}
