/* Exports and imports. */
#include "shell_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Has `sb` the state that `from` has now. */
static void
copy_state(struct wsand_sandbox *from, struct wsand_sandbox *sb)
{
    struct wsand_error err;
    void *data = NULL;
    size_t len;

    if (wsand_export(from, &data, &len, &err) < 0 ||
        wsand_import(sb, data, len, &err) < 0)
        test_failed(__FILE__, __LINE__, err.message);
    free(data);
}

static void
check_both(const char *file, int line, struct wsand_sandbox *a,
           struct wsand_sandbox *b, const char *command)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 100000};
    struct wsand_output x = {.size = sizeof x}, y = x;

    CHECK_EQ(wsand_run(a, &run, &x, NULL), 0);
    CHECK_EQ(wsand_run(b, &run, &y, NULL), 0);
    if (x.exit_code != y.exit_code || x.out_len != y.out_len ||
        (x.out_len && memcmp(x.out, y.out, x.out_len))) {
        test_failed(file, line, command);
        printf("--- %d\n%.*s--- %d\n%.*s", x.exit_code, (int)x.out_len, x.out,
               y.exit_code, (int)y.out_len, y.out);
    }
    wsand_output_free(&x);
    wsand_output_free(&y);
}
#define CHECK_BOTH(a, b, command) check_both(__FILE__, __LINE__, a, b, command)

static struct wsand_sandbox *
second(struct lib *l)
{
    struct wsand_options o = {.size = sizeof o};
    struct wsand_sandbox *sb = NULL;

    CHECK_EQ(wsand_sandbox_new(l->rt, &o, &sb, NULL), 0);
    return sb;
}

TEST(a_shell_in_a_removed_folder_is_imported_there)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *sb = second(&l);
    CHECK_RUN(l.sb, "mkdir -p /tmp/d/e; cd /tmp/d/e; rmdir ../e", 0, "");
    copy_state(l.sb, sb);
    CHECK_BOTH(l.sb, sb, "pwd; ls -a; stat -c %h .; pwd -P 2>&1; >f; echo $?");
    CHECK_BOTH(l.sb, sb, "ls /tmp/d; cd ..; echo $PWD; /bin/pwd");
    wsand_sandbox_free(sb);
    lib_free(&l);
}

TEST(an_import_is_what_was_exported)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *sb = second(&l);
    CHECK_RUN(sb, "sleep 1000 & other=1; cd /usr; echo x >~/other", 0, "");
    CHECK_RUN(l.sb,
              "cd /tmp; mkdir d; echo one >d/f; ln d/f g; ln -s d l; mkfifo p;"
              "chmod 600 g; touch -d @1.25 d; truncate -s 3G sparse;"
              "mkdir 'a b'; echo >$'a b/\\xff\\n'; rm -r ~/.bashrc ~/.profile;"
              "cd d; umask 027",
              0, "");
    CHECK_RUN(l.sb,
              "s='a\"b`$x\\'; n=$'new\\nline\\t\\x01\\xff'; declare -i i=7;"
              "declare -a a=(1 'two 2' [9]=$'ni\\nne'); declare -r fixed=f;"
              "declare -A m=([k]=v [$'o\\ndd']=\"'q'\"); declare -n ref=s;"
              "declare -u up=up; unset HOME; export n E=1; declare -x unset_x",
              0, "");
    CHECK_RUN(l.sb, "shopt -s extglob nullglob; alias ll='ls -l' q=\"it's\"", 0,
              "");
    CHECK_RUN(l.sb,
              "f() { echo \"f $1\"; case $1 in +(a|b)) echo ext;; esac; };"
              "g() { printf g; }; export -f g; readonly -f f;"
              "trap 'echo term; :' TERM; trap 'echo err >&2' ERR; set -u -f;"
              "trap 'echo bye' EXIT; (exit 3)",
              3, "");
    copy_state(l.sb, sb);
    CHECK_BOTH(l.sb, sb, "echo $? $PWD $OLDPWD $-; umask; jobs; ls ~");
    CHECK_BOTH(l.sb, sb,
               "set +f; ls -lR --time-style=full-iso /tmp | grep -v ^t");
    CHECK_BOTH(l.sb, sb,
               "stat -c '%n %i %h' /tmp/g | cut -d' ' -f1,3; cat ../g");
    CHECK_BOTH(l.sb, sb, "declare -p s n i a fixed m ref up E unset_x; env");
    CHECK_BOTH(l.sb, sb, "declare -p HOME; echo ${other-none}");
    CHECK_BOTH(l.sb, sb, "f a; declare -F; declare -f; bash -c g; alias");
    CHECK_BOTH(l.sb, sb, "trap; shopt; set -o; fixed=2");
    CHECK_BOTH(l.sb, sb, "exit 4");
    struct wsand_status st = {.size = sizeof st};
    CHECK_EQ(wsand_status(sb, &st, NULL), 0);
    CHECK_EQ(st.processes, 1);
    wsand_sandbox_free(sb);
    lib_free(&l);
}

TEST(functions_named_like_builtins_do_not_matter)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *sb = second(&l);
    CHECK_RUN(l.sb, "cd() { echo no; }; printf() { :; }; alias declare=false",
              0, "");
    CHECK_RUN(l.sb, "set -e; x=1", 0, "");
    copy_state(l.sb, sb);
    CHECK_BOTH(l.sb, sb, "echo $x $-; cd; type cd printf declare; false; echo");
    wsand_sandbox_free(sb);
    lib_free(&l);
}

TEST(tar_lists_an_export)
{
    LIB_SANDBOX(l, .files = 0);
    char path[] = "/tmp/wasmsand-export-XXXXXX", line[256], text[256];
    void *data = NULL;
    size_t len = 0;
    CHECK_RUN(l.sb, "echo x >/tmp/f", 0, "");
    CHECK_EQ(wsand_file_rm(l.sb, "/etc/hosts", false, NULL), 0);
    CHECK_EQ(wsand_export(l.sb, &data, &len, NULL), 0);
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len && close(fd) == 0);
    (void)snprintf(line, sizeof line, "tar tf %s", path);
    FILE *tar = popen(line, "r");
    CHECK(tar);
    size_t n = fread(text, 1, sizeof text - 1, tar);
    text[n] = 0;
    CHECK_EQ(pclose(tar), 0);
    CHECK_STR(text, ".wasmsand.json\netc/\netc/.wh.hosts\ntmp/\ntmp/f\n");
    unlink(path);
    free(data);
    lib_free(&l);
}

static int
import_changed(struct wsand_sandbox *sb, const void *data, size_t len,
               const char *what, const char *to, struct wsand_error *err)
{
    char *copy = malloc(len);

    memcpy(copy, data, len);
    char *at = memmem(copy, len, what, strlen(what));
    CHECK(at);
    if (at)
        memcpy(at, to, strlen(to));
    int r = wsand_import(sb, copy, len, err);
    free(copy);
    return r;
}

TEST(what_cannot_be_imported_changes_nothing)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_options o = {.size = sizeof o, .files = 3};
    struct wsand_sandbox *small = NULL;
    struct wsand_error err;
    void *data = NULL;
    size_t len = 0;
    CHECK_EQ(wsand_sandbox_new(l.rt, &o, &small, NULL), 0);
    CHECK_RUN(l.sb, "touch /tmp/{1,2,3,4}", 0, "");
    CHECK_EQ(wsand_export(l.sb, &data, &len, NULL), 0);
    CHECK_RUN(l.sb, "x=1; echo >/tmp/x; sleep 1000 &", 0, "");
    CHECK_EQ(wsand_import(small, data, len, &err), -ENOSPC);
    CHECK_STR(err.message, "ENOSPC: file count limit reached (max: 3)");
    CHECK_EQ(wsand_import(l.sb, "x", 1, &err), -EINVAL);
    CHECK_EQ(wsand_import(l.sb, data, len / 2, &err), -EINVAL);
    CHECK_EQ(import_changed(l.sb, data, len, "\"version\": 1", "\"version\": 9",
                            &err),
             -EINVAL);
    CHECK_STR(err.message, "EINVAL: export of version 9 instead of 1");
    CHECK_EQ(import_changed(l.sb, data, len, "\"version\": 1", "\"version\":[]",
                            &err),
             -EINVAL);
    CHECK_STR(err.message, "EINVAL: .wasmsand.json is damaged");
    CHECK_EQ(import_changed(l.sb, data, len, "\"shell\"", "\"she??\"", &err),
             -EINVAL);
    CHECK_STR(err.message, "EINVAL: .wasmsand.json is damaged");
    CHECK_RUN(l.sb, "echo $x; ls /tmp; jobs -p | wc -l", 0,
              "1\n1\n2\n3\n4\nx\n1\n");
    free(data);
    wsand_sandbox_free(small);
    lib_free(&l);
}
