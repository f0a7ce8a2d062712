/* A working folder and variables for one command.
 *
 * Three commands: the first reads the shell's own values and sets the new ones,
 * the second is the user's, and the third restores the shell's own. A roll-back
 * undoes all three together. */
#include "kernel/kernel.h"
#include "lib/command.h"
#include "lib/env.h"
#include "lib/error.h"
#include "lib/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Checks with the rights of the shell, which will enter the folder. */
static int
borrow_check_folder(struct shell *sh, const char *path, struct wsand_error *err)
{
    struct task *t = sh->res->task;
    struct walk w;
    struct attr a;

    if (path[0] != '/')
        return error_set(err, EINVAL, "not an absolute path: %s", path);
    if (strlen(path) >= PATH_BYTES_MAX)
        return error_path(err, ENAMETOOLONG, path);
    int r = task_walk(t, &t->as.root, path, WALK_DIRECTORY, &w);
    if (r == 0)
        r = vnode_getattr(&w.node, &a);
    if (r == 0)
        r = vfs_access(&t->as.cred, &a, X_OK);
    return r < 0 ? error_path(err, -r, path) : 0;
}

/* --- reading the shell's own values */

/* Appends a command that prints "ATTRIBUTES NUL VALUE NUL", or "- NUL NUL" if
 * the variable is not set. */
static void
borrow_put_print(struct buf *b, const char *name, size_t len)
{
    buf_puts(b, "if [[ ${");
    buf_add(b, name, len);
    buf_puts(b, "+x} ]]; then \\builtin printf '%s\\0%s\\0' \"${");
    buf_add(b, name, len);
    buf_puts(b, "@a}\" \"$");
    buf_add(b, name, len);
    buf_puts(b, "\"; else \\builtin printf -- '-\\0\\0'; fi\n");
}

static void
borrow_put_questions(struct buf *b, bool moves, const char *const *env)
{
    buf_puts(b, "\\builtin printf '\\0'\n");
    if (moves) {
        buf_puts(b, "\\builtin pwd\n\\builtin printf '\\0'\n");
        borrow_put_print(b, "OLDPWD", strlen("OLDPWD"));
    }
    for (; env && *env; env++)
        borrow_put_print(b, *env, strcspn(*env, "="));
}

/* --- setting the new values: prints "y" if all of them could be set */
static void
borrow_put_orders(struct buf *b, const char *cwd, const char *const *env)
{
    if (cwd) {
        buf_puts(b, "\\builtin cd -- ");
        command_quote(b, cwd);
        buf_puts(b, " && ");
    }
    for (; env && *env; env++) {
        env_put_export(b, *env);
        buf_puts(b, " && ");
    }
    buf_puts(b, "\\builtin printf y\n");
}

/* --- restoring the shell's own values */

/* The strings of a reply, each with a NUL after it. */
struct answer_reader {
    const char *at, *end;
};

/* Returns the next string of the reply, or "" at its end: the reply comes from
 * the guest and may be too short. */
static const char *
borrow_next(struct answer_reader *r)
{
    const char *s = r->at;

    if (s >= r->end)
        return "";
    r->at += strlen(s) + 1;
    return s;
}

/* Appends commands that restore a variable. Returns false for an array, which
 * has no single value that could be restored. */
static bool
borrow_put_variable(struct buf *b, struct answer_reader *r, const char *name,
                    size_t len)
{
    const char *attributes = borrow_next(r), *value = borrow_next(r);

    buf_puts(b, "\\builtin unset -v ");
    buf_add(b, name, len);
    buf_puts(b, "\n");
    if (*attributes == '-')
        return true;
    buf_puts(b, "\\builtin declare -g");
    buf_puts(b, attributes);
    buf_puts(b, " ");
    buf_add(b, name, len);
    buf_puts(b, "=");
    command_quote(b, value);
    buf_puts(b, "\n");
    return !strpbrk(attributes, "aA");
}

/* Appends a command that returns to the folder, which `pwd` printed with a
 * newline. */
static void
borrow_put_folder(struct buf *b, struct answer_reader *r)
{
    char *line = strdup(borrow_next(r));

    if (!line) {
        b->error = -ENOMEM;
        return;
    }
    if (*line)
        line[strlen(line) - 1] = 0;
    buf_puts(b, "\\builtin cd -- ");
    command_quote(b, line);
    buf_puts(b, "\n");
    free(line);
}

/* Builds the restoring script from the reply. -EPERM: a variable is read-only
 * or an array. */
static int
borrow_put_script(struct buf *b, struct answer_reader *r, bool moves,
                  const char *const *env)
{
    bool ok = true;

    if (moves) {
        borrow_put_folder(b, r);
        (void)borrow_put_variable(b, r, "OLDPWD", strlen("OLDPWD"));
    }
    for (; env && *env; env++)
        ok = borrow_put_variable(b, r, *env, strcspn(*env, "=")) && ok;
    if (b->error)
        return b->error;
    return ok && *borrow_next(r) == 'y' ? 0 : -EPERM;
}

/* One question does both: it prints the old values and sets the new ones. If a
 * variable could not be set, the roll-back restores all of them. */
int
borrow(struct shell *sh, const char *cwd, const char *const *env,
       struct borrowed *ret, struct wsand_error *err)
{
    CLEANUP(buf_fini) struct buf b;
    CLEANUP(buf_fini) struct buf back;
    char *reply = NULL;
    size_t len;

    command_body_init(&b);
    command_body_init(&back);
    int r = env_check(env, err);
    if (r == 0 && cwd)
        r = borrow_check_folder(sh, cwd, err);
    if (r < 0)
        return r;
    borrow_put_questions(&b, cwd != NULL, env);
    borrow_put_orders(&b, cwd, env);
    r = shell_ask(sh, &b, false, &reply, &len);
    if (r < 0)
        return shell_ask_error(err, r);
    struct answer_reader reader = {reply, reply ? reply + len : NULL};
    r = borrow_put_script(&back, &reader, cwd != NULL, env);
    free(reply);
    if (r < 0) {
        shell_undo(sh);
        return error_set(err, -r, "a variable cannot be changed");
    }
    ret->len = back.len;
    ret->script = buf_steal(&back);
    return 0;
}

/* If the command was killed, the roll-back has restored the shell's own values
 * already. */
void
borrow_give_back(struct shell *sh, struct borrowed *b, bool failed)
{
    const struct buf body = {.p = b->script, .len = b->len};
    char *reply = NULL;
    size_t len;

    if (failed)
        shell_undo(sh);
    else if (!sh->is_clean)
        (void)shell_ask(sh, &body, true, &reply, &len);
    free(reply);
    free(b->script);
}
