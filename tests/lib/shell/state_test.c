/* Durable states: a map is kept up to date with what changes in a sandbox, and
 * given to another, which is then the same. */
#include "base/own.h"
#include "record_map.h"
#include "shell_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wsand_options plain = {.size = sizeof plain,
                                           .files = 30000};

/* How many records this has sent. */
static size_t
update(struct map *m, struct wsand_sandbox *sb, bool with_script)
{
    const struct wsand_sink to = {map_put, m};
    struct wsand_error err;

    m->n_sent = m->bytes_sent = 0;
    if (wsand_state_changes(sb, &to, with_script, &err) != 0)
        test_failed(__FILE__, __LINE__, err.message);
    return m->n_sent;
}

static int
load(const struct map *m, struct wsand_sandbox *sb, struct wsand_error *err)
{
    struct wsand_state *st = NULL;

    int r = wsand_state_begin(sb, &st, err);
    for (size_t i = 0; r == 0 && i < m->n; i++) {
        const struct pair *p = &m->v[i];
        r = wsand_state_put(st, p->key, p->key_len, p->value, p->len, err);
    }
    if (r == 0)
        return wsand_state_apply(st, err);
    wsand_state_free(st);
    return r;
}

#define CHECK_LOAD(m, sb)                                  \
    do {                                                   \
        struct wsand_error err_;                           \
        if (load(m, sb, &err_) != 0)                       \
            test_failed(__FILE__, __LINE__, err_.message); \
    } while (0)

/* A new sandbox with the state of the map. */
static struct wsand_sandbox *
resume(const struct map *m, struct wsand_runtime *rt,
       const struct wsand_options *o)
{
    struct wsand_sandbox *sb = NULL;
    struct wsand_error err;

    if (wsand_sandbox_new(rt, o, &sb, &err) != 0 || load(m, sb, &err) != 0) {
        test_failed(__FILE__, __LINE__, err.message);
        abort();
    }
    return sb;
}

static char *
output_of(struct wsand_sandbox *sb, const char *command)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 100000};
    struct wsand_output o = {.size = sizeof o};
    struct wsand_error err;

    if (wsand_run(sb, &run, &o, &err) < 0) {
        test_failed(__FILE__, __LINE__, err.message);
        return NULL;
    }
    char *text = strndup(o.out ? o.out : "", o.out_len);
    wsand_output_free(&o);
    return text;
}

static const char *const questions[] = {
    "echo $? $- $PWD",
    "declare -p | grep -v '^declare -[a-z-]* \\(BASHPID\\|EPOCH[A-Z]*\\|RANDOM"
    "\\|SRANDOM\\|SECONDS\\|PPID\\|BASH_ARG[CV]\\|_\\)='",
    "declare -f; alias; shopt -p; set +o; trap -p; umask; ulimit -a; hash; "
    "dirs; history",
    "pwd -P; for i in 5 6 7; do readlink /proc/$$/fd/$i; "
    "grep -E 'pos|flags' /proc/$$/fdinfo/$i; done 2>/dev/null",
    "find / -xdev -path /root -prune -o ! -path /dev ! -path /proc ! -path "
    "/sys "
    "-printf '%i %M %n %U %G %s %b %A@ %C@ %T@ %p -> %l\\n' | sort",
    "find / -xdev -path /root -prune -o -newer /etc/passwd -type f -exec cksum "
    "{} +",
};

/* Both answer the same; neither is used by this. */
static void
check_same(struct wsand_sandbox *a, struct wsand_sandbox *b)
{
    struct wsand_status x = {.size = sizeof x}, y = {.size = sizeof y};
    char **h, **g;

    CHECK_EQ(wsand_status(a, &x, NULL), 0);
    CHECK_EQ(wsand_status(b, &y, NULL), 0);
    CHECK(y.files <= x.files); /* no orphans */
    CHECK(y.file_bytes <= x.file_bytes);
    CHECK_EQ(wsand_history_list(a, &h, NULL), 0);
    CHECK_EQ(wsand_history_list(b, &g, NULL), 0);
    for (int i = 0; h[i] || g[i]; i++) {
        CHECK_STR(g[i], h[i] ? h[i] : "(none)");
        if (!h[i] || !g[i])
            break;
    }
    free(h);
    free(g);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct wsand_sandbox *p, *q;
        CHECK_EQ(wsand_fork(a, &p, NULL), 0);
        CHECK_EQ(wsand_fork(b, &q, NULL), 0);
        char *one = output_of(p, questions[i]);
        char *two = output_of(q, questions[i]);
        CHECK_STR(two, one);
        free(one);
        free(two);
        wsand_sandbox_free(p);
        wsand_sandbox_free(q);
    }
}

static const char *const steps[] = {
    "x=$((x + 1)); echo $x >count",
    "mkdir -p d/e/f; cd d 2>/dev/null || cd ~",
    "for i in 1 2 3 4 5; do echo $i >>f$i; done",
    "ln -f f1 hard 2>/dev/null; ln -sf nowhere soft",
    "mv -f f2 f3 2>/dev/null; true",
    "rm -rf d f4; (exit 3)",
    "mv d/e moved 2>/dev/null; rm -rf moved/f",
    "dd if=/dev/zero of=sparse bs=1 count=1 seek=100000 conv=notrunc 2>&-",
    "truncate -s 5000 sparse; truncate -s 70000 sparse",
    "fallocate -l 30000 room 2>/dev/null || true",
    "head -c 50000 /usr/bin/env >big; printf x | dd of=big bs=1 seek=9999 "
    "conv=notrunc 2>&-",
    "g() { echo \"g $x\"; }; alias ll='ls -l'; declare -A map=([a]=1 [b]=2)",
    "shopt -s nullglob; set -f; export EXPORTED=\"a b $x\"",
    "shopt -u nullglob; set +f; unset -f g; unalias -a",
    "umask 027; ulimit -n 99; trap 'echo usr1' USR1; trap '' HUP",
    "umask 022; ulimit -n 88; trap - USR1 HUP",
    "exec 5>>log 6<count 2>&1; echo line >&5",
    "exec 5>&- 6<&-",
    "chmod 640 count; chmod +x f1; touch -d '2001-02-03 04:05:06' f1",
    "cd /tmp; cd - >/dev/null; pushd /usr/lib >/dev/null; popd >/dev/null",
    "cd /usr/share",
    "cd ~",
    "rm -f log ~/.bashrc; mkfifo pipe; rm pipe",
    "exec 7>gone; rm gone",
    "big=$(printf '%20000s' x); arr=({1..500})",
    "unset big arr",
    "python3 -c 'open(\"py\", \"w\").write(\"p\" * 5000)'",
    "exit 7",
    "readonly ro=1 2>/dev/null; true",
    "for i in {1..40}; do mkdir -p deep$((i % 3))/$i/$i/$i; done",
    "rm -rf deep1; mv deep2 deep0/in 2>/dev/null",
};

TEST(records_follow_a_sandbox_through_random_commands)
{
    LIB_SANDBOX(l, .files = 30000);
    unsigned seed = 5;
    struct map m = {0};
    uint64_t old = 0;

    for (int i = 0; i < 120; i++) {
        const char *c =
            steps[(unsigned)rand_r(&seed) % (sizeof steps / sizeof *steps)];
        if (i % 6 == 0)
            free(output_of(l.sb, "cd ~"));
        free(output_of(l.sb, c));
        if (i == 50)
            CHECK_EQ(wsand_snapshot_create(l.sb, &old, NULL), 0);
        if (i == 60)
            CHECK_EQ(wsand_snapshot_restore(l.sb, old, NULL), 0);
        if (i == 90)
            wsand_history_clear(l.sb);
        (void)update(&m, l.sb, i % 7 == 0);
        if (i % 8)
            continue;
        struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
        check_same(l.sb, sb);
        CHECK_EQ(update(&m, sb, false), 0);
        if (i % 16 == 0) {
            wsand_sandbox_free(l.sb);
            l.sb = STEAL(sb);
        }
        wsand_sandbox_free(sb);
    }
    map_fini(&m);
    lib_free(&l);
}

/* --- how much is told */

TEST(a_command_that_changes_nothing_tells_a_few_records)
{
    LIB_SANDBOX(l, .files = 30000);
    struct map m = {0};
    CHECK_EQ(update(&m, l.sb, false), 2); /* image, version */
    CHECK_EQ(update(&m, l.sb, false), 0);
    CHECK_RUN(l.sb, "mkdir /tmp/d; for i in {1..3000}; do >/tmp/d/$i; done", 0,
              "");
    CHECK(update(&m, l.sb, false) > 6000);
    for (int i = 0; i < 50; i++) {
        CHECK_RUN(l.sb, "true", 0, "");
        size_t n = update(&m, l.sb, false);
        CHECK(n >= 2 && n <= 16); /* the patch, the history; seldom pages */
        CHECK(i == 0 || m.bytes_sent < 16384);
        CHECK_EQ(map_find(&m, "apatch", 6)->len % 1024, 0);
        CHECK_EQ(update(&m, l.sb, false), 0);
    }
    map_fini(&m);
    lib_free(&l);
}

TEST(a_page_that_changes_no_more_leaves_the_patch)
{
    LIB_SANDBOX(l, .files = 0);
    struct map m = {0};
    size_t with_pages = 0;

    for (int i = 0; i < 200; i++) {
        CHECK_RUN(l.sb, "true", 0, "");
        with_pages += update(&m, l.sb, false) > 2;
    }
    CHECK(with_pages < 50);
    map_fini(&m);
    lib_free(&l);
}

TEST(one_byte_of_a_large_file_is_a_handful)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_write w = {.size = sizeof w,
                            .path = "/tmp/f",
                            .data = "x",
                            .len = 1,
                            .has_offset = true,
                            .offset = 100 << 20};
    struct map m = {0};
    char *mib = calloc(1, 1 << 20);
    for (int i = 0; i < 100; i++) {
        struct wsand_write all = {.size = sizeof all,
                                  .path = "/tmp/f",
                                  .data = mib,
                                  .len = 1 << 20,
                                  .append = true};
        CHECK_EQ(wsand_file_write(l.sb, &all, NULL), 0);
    }
    free(mib);
    CHECK(update(&m, l.sb, false) > 25600);
    CHECK_EQ(wsand_file_write(l.sb, &w, NULL), 0);
    w.offset = 12345678;
    CHECK_EQ(wsand_file_write(l.sb, &w, NULL), 0);
    CHECK_EQ(update(&m, l.sb, false), 3); /* the inode, two blocks */
    map_fini(&m);
    lib_free(&l);
}

/* --- failures */

struct failing {
    struct map *m;
    size_t left;
};

static int
put_some(void *arg, const void *key, size_t key_len, const void *value,
         size_t len)
{
    struct failing *f = arg;

    return f->left-- ? map_put(f->m, key, key_len, value, len) : -EPIPE;
}

TEST(what_could_not_be_told_is_told_again)
{
    LIB_SANDBOX(l, .files = 0);
    struct map m = {0};
    struct wsand_error err;
    CHECK_RUN(l.sb, "cd /tmp; echo 1 >a; echo 2 >b; rm ~/.profile", 0, "");
    for (size_t n = 0; n < 12; n++) {
        struct failing f = {&m, n};
        const struct wsand_sink to = {put_some, &f};
        CHECK_EQ(wsand_state_changes(l.sb, &to, false, &err), -EPIPE);
        CHECK_STR(err.message, "EPIPE: cannot save the state: Broken pipe");
    }
    (void)update(&m, l.sb, false);
    struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
    check_same(l.sb, sb);
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

TEST(a_state_that_is_refused_changes_nothing)
{
    LIB_SANDBOX(l, .files = 100);
    struct wsand_sandbox *sb = NULL;
    struct map m = {0};
    struct wsand_error err;
    CHECK_EQ(wsand_sandbox_new(l.rt, &plain, &sb, NULL), 0);
    CHECK_RUN(sb, "cd /tmp; for i in {1..200}; do >$i; done", 0, "");
    (void)update(&m, sb, false);
    CHECK_RUN(l.sb, "x=1; >/tmp/mine; sleep 100 & cd /tmp", 0, "");
    CHECK_EQ(load(&m, l.sb, &err), -ENOSPC);
    CHECK_STR(err.message, "ENOSPC: file count limit reached (max: 100)");
    CHECK_RUN(l.sb, "echo $x $PWD *; kill %1", 0, "1 /tmp mine\n");
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

TEST(descriptors_of_one_open_file_stay_so)
{
    LIB_SANDBOX(l, .files = 0);
    struct map m = {0};
    CHECK_RUN(l.sb, "cd /tmp; exec 5>f 6>&5 7>f; echo a >&5; echo b >&6", 0,
              "");
    (void)update(&m, l.sb, false);
    struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
    CHECK_RUN(sb, "echo c >&5; echo d >&6; cat f", 0, "a\nb\nc\nd\n");
    CHECK_RUN(sb, "printf A >&7; exec 5>&-; echo e >&6; cat f", 0,
              "A\nb\nc\nd\ne\n");
    CHECK_EQ(map_put(&m, "f\0\0\0\5", 5, NULL, 0), 0);
    CHECK_LOAD(&m, sb);
    CHECK_RUN(sb, "echo c >&6; cat f", 0, "a\nb\nc\n");
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

/* Runs the command and checks its output and its standard error. */
static void
check_says(struct wsand_sandbox *sb, const char *command, const char *out,
           const char *text)
{
    struct wsand_run run = {.size = sizeof run,
                            .command = command,
                            .command_len = strlen(command),
                            .timeout_ms = 100000};
    struct wsand_output o = {.size = sizeof o};

    CHECK_EQ(wsand_run(sb, &run, &o, NULL), 0);
    char *err = strndup(o.err ? o.err : "", o.err_len);
    CHECK_STR(err, text);
    CHECK_EQ(o.out_len, strlen(out));
    CHECK(!o.out_len || !memcmp(o.out, out, o.out_len));
    free(err);
    wsand_output_free(&o);
}

#define CLOSED(fd) \
    "descriptor " #fd " is closed: its file could not be opened again\n"

/* Checks a fork, a snapshot and a resumed copy of l->sb in this way. */
static void
check_copies(struct lib *l, const char *command, const char *out,
             const char *err)
{
    struct wsand_sandbox *fork, *resumed;
    struct map m = {0};
    uint64_t id;

    (void)update(&m, l->sb, false);
    CHECK_EQ(wsand_fork(l->sb, &fork, NULL), 0);
    resumed = resume(&m, l->rt, &plain);
    CHECK_EQ(update(&m, resumed, false), 0);
    CHECK_EQ(wsand_snapshot_create(l->sb, &id, NULL), 0);
    CHECK_EQ(wsand_snapshot_restore(l->sb, id, NULL), 0);
    struct wsand_sandbox *const all[] = {fork, resumed, l->sb};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        check_says(all[i], command, out, err);
        check_says(all[i], ":", "", "");
    }
    wsand_sandbox_free(fork);
    wsand_sandbox_free(resumed);
    map_fini(&m);
}

TEST(descriptors_of_devices_are_opened_again)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb,
              "exec 3</dev/zero 4>/dev/full 5</dev/urandom 6<>/dev/null 7<&3 "
              "8</proc/version",
              0, "");
    check_copies(&l,
                 "head -c 2 <&3 | od -An -tx1; echo x >&4 || echo $?;"
                 "head -c 9 <&5 | wc -c; echo x >&6; cat <&6;"
                 "head -c 1 <&7 | wc -c; head -c 5 <&8; readlink "
                 "/proc/$$/fd/{3,4,5,6,7,8}",
                 " 00 00\n1\n9\n1\nLinux/dev/zero\n/dev/full\n/dev/urandom\n"
                 "/dev/null\n/dev/zero\n/proc/version\n",
                 "bash: line 1: echo: write error: No space left on device\n");
    lib_free(&l);
}

TEST(descriptors_of_fifos_are_opened_again)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(l.sb,
              "cd /tmp; mkfifo f g; exec 3<>f 4<>g 5>g 4<&- 6<f; echo a >&3; "
              "read a <&6",
              0, "");
    check_copies(&l,
                 "echo b >&3; read x <&6; echo $x; (trap '' PIPE; echo c >&5) "
                 "2>&-; echo $?; exec 8<g; echo d >&5; read x <&8; echo $x",
                 "b\n1\nd\n", "");
    lib_free(&l);
}

TEST(descriptors_that_cannot_be_opened_again_are_closed_and_reported)
{
    LIB_SANDBOX(l, .files = 0);
    CHECK_RUN(
        l.sb,
        "cd /tmp; mkfifo f g; exec 3<>f 4<>g 5<>/dev/ptmx 6<&5 7</dev/zero;"
        "echo unread >&3; rm g",
        0, "");
    check_copies(&l,
                 "for i in 3 4 5 6 7; do [ -e /proc/$$/fd/$i ]; echo $?; done",
                 "1\n1\n1\n1\n0\n", CLOSED(3) CLOSED(4) CLOSED(5) CLOSED(6));
    lib_free(&l);
}

TEST(closed_descriptors_are_reported_after_several_copies)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *sb = NULL, *next;
    struct map m = {0};
    CHECK_RUN(l.sb, "exec 5<>/dev/ptmx 9</dev/ptmx 7</etc/passwd", 0, "");
    (void)update(&m, l.sb, false);
    for (int i = 0; i < 3; i++) {
        next = resume(&m, l.rt, &plain);
        CHECK_EQ(update(&m, next, false), 0);
        wsand_sandbox_free(sb);
        sb = next;
    }
    CHECK_EQ(wsand_fork(sb, &next, NULL), 0);
    check_says(next, "head -c 4 <&7", "root", CLOSED(5) CLOSED(9));
    check_says(sb, "head -c 4 <&7", "root", CLOSED(5) CLOSED(9));
    wsand_sandbox_free(next);
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

TEST(each_record_that_is_missing_or_wrong_is_survived)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *sb = NULL;
    struct map m = {0};
    struct wsand_error err;
    CHECK_RUN(l.sb, "cd /tmp; mkdir d; echo 1 >d/a; mv d e; exec 5<e/a", 0, "");
    (void)update(&m, l.sb, false);
    CHECK_RUN(l.sb, ":", 0, "");
    (void)update(&m, l.sb, false);
    CHECK(map_find(&m, "apatch", 6));
    CHECK_EQ(wsand_sandbox_new(l.rt, &plain, &sb, NULL), 0);
    for (size_t i = 0; i < m.n; i++) {
        struct pair kept = m.v[i];
        memmove(&m.v[i], &m.v[i + 1], (--m.n - i) * sizeof *m.v);
        (void)load(&m, sb, &err);
        memmove(&m.v[i + 1], &m.v[i], (m.n++ - i) * sizeof *m.v);
        m.v[i] = kept;
        for (size_t at = 0; at < kept.len; at += 1 + kept.len / 5) {
            kept.value[at] ^= 0x41;
            if (load(&m, sb, &err) == 0)
                free(output_of(sb, "echo $PWD; ls -lR /tmp >&2"));
            kept.value[at] ^= 0x41;
        }
    }
    CHECK_EQ(load(&m, sb, &err), 0);
    CHECK_RUN(sb, "cat e/a; pwd; read -u5; echo $REPLY", 0, "1\n/tmp\n1\n");
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

TEST(a_state_belongs_to_its_root_image)
{
    LIB_SANDBOX(l, .files = 0);
    const uint8_t hash[32] = {1, 2, 3};
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .root_image = getenv("WASMSAND_ROOT"),
                                       .root_image_hash = hash};
    struct wsand_runtime *rt;
    struct wsand_sandbox *sb;
    struct map m = {0};
    struct wsand_error err;
    CHECK_RUN(l.sb, "true", 0, "");
    (void)update(&m, l.sb, false);
    CHECK_EQ(wsand_runtime_new(&ro, &rt, NULL), 0);
    CHECK_EQ(wsand_sandbox_new(rt, &plain, &sb, NULL), 0);
    CHECK_EQ(load(&m, sb, &err), -EINVAL);
    CHECK_STR(err.message, "EINVAL: saved with another root image");
    wsand_sandbox_free(sb);
    wsand_runtime_free(rt);
    map_fini(&m);
    lib_free(&l);
}

/* --- the script */

static void
change_module(struct map *m)
{
    struct pair *p = map_find(m, "amodule", 7);

    CHECK(p && p->len == 32);
    p->value[0] ^= 1;
}

TEST(another_shell_is_told_by_the_script)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_sandbox *sb = NULL;
    struct map m = {0};
    struct wsand_error err;
    CHECK_RUN(l.sb, "cd /tmp; x='a b'; f() { echo \"f $x\"; }; >new; (exit 4)",
              4, "");
    (void)update(&m, l.sb, false);
    change_module(&m);
    CHECK_EQ(wsand_sandbox_new(l.rt, &plain, &sb, NULL), 0);
    CHECK_EQ(load(&m, sb, &err), -EINVAL);
    CHECK_STR(err.message,
              "EINVAL: saved with another shell, without a script");
    (void)update(&m, l.sb, true);
    CHECK_LOAD(&m, sb);
    CHECK_RUN(sb, "echo $? $PWD; f; ls", 0, "4 /tmp\nf a b\nnew\n");
    (void)update(&m, sb, false); /* what is recorded is of this shell now */
    CHECK(!map_find(&m, "ascript", 7));
    struct wsand_sandbox *next = resume(&m, l.rt, &plain);
    check_same(sb, next);
    wsand_sandbox_free(next);
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

TEST(a_script_stays_until_the_shell_changes)
{
    LIB_SANDBOX(l, .files = 0);
    struct map m = {0};
    CHECK_RUN(l.sb, "x=1", 0, "");
    CHECK(update(&m, l.sb, true) > 1);
    CHECK(map_find(&m, "ascript", 7));
    CHECK_EQ(update(&m, l.sb, true), 0);
    CHECK_EQ(wsand_file_mkdir(l.sb, "/tmp/d", 0, false, NULL), 0);
    (void)update(&m, l.sb, false);
    CHECK(map_find(&m, "ascript", 7));
    struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
    CHECK_EQ(update(&m, sb, true), 0);
    CHECK_RUN(sb, "x=2", 0, "");
    (void)update(&m, sb, false);
    CHECK(!map_find(&m, "ascript", 7));
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

TEST(a_shell_whose_home_is_gone_comes_back)
{
    LIB_SANDBOX(l, .files = 0);
    struct map m = {0};
    CHECK_RUN(l.sb, "x=1", 0, "");
    CHECK_EQ(wsand_file_rm(l.sb, "/home", true, NULL), 0);
    (void)update(&m, l.sb, false);
    struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
    CHECK_RUN(sb, "echo $x; cd /tmp; ls /home", 2, "1\n");
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

/* Commands in a removed folder, and what bash on Linux makes of them. */
#define IN_REMOVED                                                           \
    "pwd; ls -a; echo $?; stat -c %h .; pwd -P 2>&-; echo $?; >f; echo $?; " \
    "cat g 2>&-; echo $?"
#define IN_REMOVED_SAYS "/tmp/d/e\n0\n0\n1\n1\n1\n"

static const char *const ways_out[][2] = {
    {"cd ..; /bin/pwd", "/tmp/d\n"},
    {"cd /tmp; pwd", "/tmp\n"},
    {"mkdir /tmp/d/e; cd /tmp/d/e; ls -a; pwd -P", ".\n..\n/tmp/d/e\n"},
};

/* Forks begin in that folder too, and sb itself does not change. */
static void
check_is_in_removed(struct wsand_sandbox *sb)
{
    for (size_t i = 0; i < sizeof ways_out / sizeof *ways_out; i++) {
        struct wsand_sandbox *fork;
        CHECK_EQ(wsand_fork(sb, &fork, NULL), 0);
        CHECK_RUN(fork, IN_REMOVED, 0, IN_REMOVED_SAYS);
        CHECK_RUN(fork, ways_out[i][0], 0, ways_out[i][1]);
        wsand_sandbox_free(fork);
    }
}

TEST(a_shell_in_a_removed_folder_stays_there)
{
    LIB_SANDBOX(l, .files = 0);
    struct map m = {0};
    uint64_t id;
    CHECK_RUN(l.sb, "mkdir -p /tmp/d/e; cd /tmp/d/e; rmdir ../e", 0, "");
    check_is_in_removed(l.sb);
    CHECK_EQ(wsand_snapshot_create(l.sb, &id, NULL), 0);
    CHECK_EQ(wsand_snapshot_restore(l.sb, id, NULL), 0);
    check_is_in_removed(l.sb);
    (void)update(&m, l.sb, false);
    struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
    check_is_in_removed(sb);
    CHECK_EQ(update(&m, sb, false), 0);
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

/* As in states of versions that recorded only the folder itself. */
TEST(a_shell_whose_folder_is_not_recorded_is_in_a_removed_one)
{
    LIB_SANDBOX(l, .files = 0);
    struct map m = {0};
    CHECK_RUN(l.sb, "mkdir -p /tmp/d/e; cd /tmp/d/e", 0, "");
    (void)update(&m, l.sb, false);
    struct pair *p = map_find(&m, "ashell", 6);
    CHECK(p && p->len == 28);
    p->value[26]++; /* the number of its inode */
    struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
    CHECK_RUN(sb, "pwd; ls -a; stat -c %h .; >f; echo $?; cd /tmp && pwd", 0,
              "/tmp/d/e\n0\n1\n/tmp\n");
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}

TEST(a_removed_folder_costs_nothing)
{
    LIB_SANDBOX(l, .files = 0);
    struct wsand_status before = {.size = sizeof before}, after = before;
    struct wsand_sandbox *fork;
    CHECK_EQ(wsand_status(l.sb, &before, NULL), 0);
    CHECK_RUN(l.sb, "mkdir /tmp/d; cd /tmp/d; rmdir ../d", 0, "");
    CHECK_EQ(wsand_fork(l.sb, &fork, NULL), 0);
    CHECK_EQ(wsand_status(fork, &after, NULL), 0);
    CHECK_EQ(after.files, before.files);
    CHECK_RUN(fork, "cd /tmp", 0, "");
    CHECK_EQ(wsand_status(fork, &after, NULL), 0);
    CHECK_EQ(after.files, before.files);
    wsand_sandbox_free(fork);
    lib_free(&l);
}

TEST(a_shell_comes_back_to_folders_that_are_no_files)
{
    LIB_SANDBOX(l, .files = 0);
    static const char *const folders[] = {"/dev", "/proc", "/sys", "/"};
    struct map m = {0};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char cd[32], want[32];
        (void)snprintf(cd, sizeof cd, "cd %s", folders[i]);
        (void)snprintf(want, sizeof want, "%s\n", folders[i]);
        CHECK_RUN(l.sb, cd, 0, "");
        (void)update(&m, l.sb, false);
        struct wsand_sandbox *sb = resume(&m, l.rt, &plain);
        CHECK_RUN(sb, "/bin/pwd", 0, want);
        wsand_sandbox_free(sb);
    }
    map_fini(&m);
    lib_free(&l);
}

/* --- mounts */

TEST(folders_that_can_be_written_are_part_of_the_state)
{
    const struct wsand_file file = {"f", "1\n", 2};
    const struct wsand_mount mounts[] = {
        {.guest_path = "/ro", .files = &file, .n_files = 1},
        {.guest_path = "/rw",
         .files = &file,
         .n_files = 1,
         .is_writable = true}};
    const char *const writable[] = {"/work", NULL};
    struct wsand_options o = {.size = sizeof o,
                              .mounts = mounts,
                              .n_mounts = 2,
                              .writable_paths = writable};
    struct lib l;
    struct map m = {0};
    lib_new(&l, &o);
    CHECK_RUN(l.sb, "echo 2 >>/rw/f; cd /work; exec 5>log 6</ro/f; echo a >&5",
              0, "");
    (void)update(&m, l.sb, false);
    struct wsand_sandbox *sb = resume(&m, l.rt, &o);
    CHECK_RUN(sb, "pwd; echo b >&5; cat log /rw/f /ro/f; cat <&6", 0,
              "/work\na\nb\n1\n2\n1\n1\n");
    CHECK_RUN(sb, "echo no >/home/user/f; echo $?", 0, "1\n");
    wsand_sandbox_free(sb);
    map_fini(&m);
    lib_free(&l);
}
