/* Shells as scripts.
 *
 * Bash itself prints its state in a form that it can read (declare -p, shopt
 * -p, trap -p, ...). The order of the parts matters. Options that change
 * parsing come before functions, and aliases after them. Traps, attributes of
 * functions and options such as errexit come last, in a function like those of
 * shell_ask, because they would change how the rest is executed. */
#include "lib/shell_script.h"

#include "base/os_time.h"
#include "kernel/capture.h"
#include "kernel/kernel.h"
#include "lib/command.h"
#include "lib/env.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_MAX = 32 << 20 };
#define SCRIPT_NS (5 * NS_PER_S)

/* Variables that the shell sets itself, or does not let be set. */
static const char shell_variables[] =
    " BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0"
    " BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO BASH_SOURCE"
    " BASH_SUBSHELL BASH_VERSINFO BASH_VERSION COMP_WORDBREAKS DIRSTACK"
    " EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO"
    " PIPESTATUS PPID PWD RANDOM SECONDS SHELLOPTS SRANDOM UID _ ";

void
shell_script_init(struct shell_script *s)
{
    *s = (struct shell_script){0};
    buf_init(&s->env, SCRIPT_MAX);
    buf_init(&s->first, SCRIPT_MAX);
    buf_init(&s->last, SCRIPT_MAX);
}

void
shell_script_fini(struct shell_script *s)
{
    buf_fini(&s->env);
    buf_fini(&s->first);
    buf_fini(&s->last);
}

/* --- asking */

static int
shell_script_ask(struct shell *sh, const struct buf *body, OWN char **ret,
                 size_t *len, struct wsand_error *err)
{
    int r = shell_query(sh, "", body, ret, len);

    return r < 0 ? shell_ask_error(err, r) : 0;
}

/* Asks the shell one line, and returns the reply. */
static int
shell_script_ask_line(struct shell *sh, const char *line, OWN char **ret,
                      size_t *len, struct wsand_error *err)
{
    CLEANUP(buf_fini) struct buf b;

    command_body_init(&b);
    buf_puts(&b, "\\builtin printf '\\0'\n");
    buf_puts(&b, line);
    return shell_script_ask(sh, &b, ret, len, err);
}

static bool
shell_script_is_own(const char *name)
{
    char word[32];

    if (!command_is_variable_name(name, strlen(name)))
        return true;
    int n = snprintf(word, sizeof word, " %s ", name);
    return n < (int)sizeof word && strstr(shell_variables, word);
}

/* Appends all variables but the shell's own, one `declare` each. */
static int
shell_script_take_variables(struct shell *sh, struct buf *to,
                            struct wsand_error *err)
{
    CLEANUP(buf_fini) struct buf b;
    char *names = NULL, *text = NULL, *rest = NULL;
    size_t len = 0;

    command_body_init(&b);
    int r =
        shell_script_ask_line(sh, "\\builtin compgen -v", &names, &len, err);
    if (r < 0)
        return r;
    buf_puts(&b, "\\builtin printf '\\0'\n");
    for (char *n = names ? strtok_r(names, "\n", &rest) : NULL; n;
         n = strtok_r(NULL, "\n", &rest))
        if (!shell_script_is_own(n))
            buf_printf(&b, "\\builtin declare -p %s\n", n);
    r = shell_script_ask(sh, &b, &text, &len, err);
    if (r == 0 && text)
        buf_add(to, text, len);
    free(names);
    free(text);
    return r;
}

/* Variables with attributes but without a value, which compgen omits. */
static int
shell_script_take_unset(struct shell *sh, struct buf *to,
                        struct wsand_error *err)
{
    char *text = NULL, *rest = NULL;
    size_t len = 0;

    int r = shell_script_ask_line(sh, "\\builtin declare -p", &text, &len, err);
    for (char *l = text ? strtok_r(text, "\n", &rest) : NULL; l;
         l = strtok_r(NULL, "\n", &rest)) {
        const char *name = strrchr(l, ' ');
        if (!strncmp(l, "declare -", 9) && name &&
            !shell_script_is_own(name + 1))
            buf_printf(to, "%s\n", l);
    }
    free(text);
    return r;
}

/* Appends the reply to one command. */
static int
take(struct shell *sh, const char *line, struct buf *to,
     struct wsand_error *err)
{
    char *text = NULL;
    size_t len = 0;

    int r = shell_script_ask_line(sh, line, &text, &len, err);
    if (r == 0 && text)
        buf_add(to, text, len);
    free(text);
    return r;
}

/* Appends the attributes of functions. For functions without any, `declare -F`
 * prints `declare -f NAME`, which would print the function instead. */
static int
shell_script_take_attributes(struct shell *sh, struct buf *to,
                             struct wsand_error *err)
{
    char *text = NULL, *rest = NULL;
    size_t len = 0;

    int r = shell_script_ask_line(sh, "\\builtin declare -F", &text, &len, err);
    for (char *l = text ? strtok_r(text, "\n", &rest) : NULL; l;
         l = strtok_r(NULL, "\n", &rest))
        if (strncmp(l, "declare -f ", 11) != 0)
            buf_printf(to, "\\builtin %s\n", l);
    free(text);
    return r;
}

/* Traps of DEBUG, ERR and RETURN are not visible in functions, so this question
 * stands outside of one. */
static int
shell_script_take_traps(struct shell *sh, struct buf *to,
                        struct wsand_error *err)
{
    const struct buf none = {0};
    char *text = NULL;
    size_t len = 0;

    int r = shell_query(sh, "\\builtin printf '\\0'\n\\builtin trap -p\n",
                        &none, &text, &len);
    if (r == 0 && text)
        buf_add(to, text, len);
    free(text);
    return r < 0 ? shell_ask_error(err, r) : 0;
}

static int
shell_script_take_env(struct wsand_sandbox *sb, struct buf *to,
                      struct wsand_error *err)
{
    char **v;

    int r = wsand_env_list(sb, &v, err);
    if (r < 0)
        return r;
    for (char **e = v; *e; e++)
        buf_add(to, *e, strlen(*e) + 1);
    free(v);
    return 0;
}

/* True if the shell is in a folder that was removed. */
static bool
shell_script_is_nowhere(const struct shell *sh)
{
    struct attr a;

    return vnode_getattr(&sh->res->task->cwd, &a) < 0 || !a.nlink;
}

/* A shell in a removed folder gets there by removing it once more. Variables
 * follow later: there is no PATH yet, and OLDPWD, which `cd` sets, is one of
 * them. */
static int
shell_script_take_folder(struct shell *sh, struct buf *to,
                         struct wsand_error *err)
{
    bool is_nowhere = shell_script_is_nowhere(sh);
    char *path = NULL;
    size_t len = 0;

    int r = shell_script_ask_line(sh, "\\builtin printf %s \"$PWD\"", &path,
                                  &len, err);
    if (r == 0 && len) {
        buf_puts(to, is_nowhere ? "/bin/mkdir -- " : "builtin cd -- ");
        command_quote(to, path);
        if (is_nowhere) {
            buf_puts(to, " && builtin cd -- ");
            command_quote(to, path);
            buf_puts(to, " && /bin/rmdir -- ");
            command_quote(to, path);
        }
        buf_puts(to, "\nbuiltin unset -v OLDPWD\n");
    }
    free(path);
    return r;
}

/* Asks one part after the other. Each question is undone afterwards, so the
 * shell stays as it was. */
int
shell_script_take(struct wsand_sandbox *sb, struct shell_script *s,
                  struct wsand_error *err)
{
    struct shell *sh;

    int r = shell_begin(sb, &sh);
    if (r < 0)
        return error_errno(err, -r, "cannot ask the shell");
    s->status = sh->status;
    if (r == 0)
        r = shell_script_take_env(sb, &s->env, err);
    if (r == 0)
        r = take(sh, "\\builtin shopt -p", &s->first, err);
    if (r == 0)
        r = shell_script_take_folder(sh, &s->first, err);
    if (r == 0)
        r = shell_script_take_variables(sh, &s->first, err);
    if (r == 0)
        r = shell_script_take_unset(sh, &s->first, err);
    if (r == 0)
        r = take(sh, "\\builtin umask -p", &s->first, err);
    if (r == 0)
        r = take(sh, "\\builtin declare -f", &s->first, err);
    if (r == 0)
        r = take(sh, "\\builtin alias -p", &s->first, err);
    if (r == 0)
        r = shell_script_take_attributes(sh, &s->last, err);
    if (r == 0)
        r = shell_script_take_traps(sh, &s->last, err);
    if (r == 0)
        r = take(sh, "\\builtin set +o", &s->last, err);
    int e = s->env.error ? s->env.error : s->first.error;
    e = e ? e : s->last.error;
    return r == 0 && e ? error_errno(err, -e, "the shell's state") : r;
}

/* --- running a script */

/* A new shell has variables that the old one may not have had. */
static int
shell_script_put_unsets(struct shell *sh, struct buf *to)
{
    CLEANUP(buf_fini) struct buf b;
    char *names = NULL, *rest = NULL;
    size_t len = 0;

    command_body_init(&b);
    buf_puts(&b, "\\builtin printf '\\0'\n\\builtin compgen -v");
    int r = shell_query(sh, "", &b, &names, &len);
    for (char *n = names ? strtok_r(names, "\n", &rest) : NULL; n;
         n = strtok_r(NULL, "\n", &rest))
        if (!shell_script_is_own(n))
            buf_printf(to, "builtin unset -v %s\n", n);
    free(names);
    return r;
}

/* Output of the script is discarded, and single commands may fail: a read-only
 * variable, for example, cannot be set twice. */
static int
shell_script_run_first(struct shell *sh, const struct buf *text)
{
    CLEANUP(buf_fini) struct buf b;
    struct command_outcome o = {0};

    command_body_init(&b);
    int r = shell_script_put_unsets(sh, &b);
    buf_add(&b, text->p, text->len);
    if (r < 0 || b.error)
        return r < 0 ? r : b.error;
    struct command c = {.text = b.p ? b.p : "",
                        .len = b.len,
                        .io = {.out_max = 1, .err_max = 1},
                        .deadline_ns = time_mono_ns() + SCRIPT_NS,
                        .is_ours = true};
    r = command_run(sh, &c, &o);
    if (r < 0)
        return r;
    command_close(sh);
    return o.timed_out ? -ETIMEDOUT : 0;
}

/* The first part runs as a command of its own, and the last one in a function
 * that returns the old $?. */
int
shell_script_run(struct wsand_sandbox *sb, const struct shell_script *s,
                 struct wsand_error *err)
{
    struct shell *sh;
    char *reply = NULL;
    size_t len;

    int r = shell_get(sb, &sh);
    if (r == 0) {
        sh->has_env = true;
        r = shell_script_run_first(sh, &s->first);
    }
    if (r == 0) {
        sh->status = s->status;
        r = shell_ask(sh, &s->last, false, &reply, &len);
    }
    free(reply);
    return r < 0 ? shell_ask_error(err, r) : 0;
}
