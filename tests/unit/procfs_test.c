/* /proc. */
#include "kernel/proc/procfs.h"

#include "kernel/devfs.h"
#include "kernel/proc/procfs_impl.h"
#include "kernel/tty.h"
#include "test.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* A kernel with /proc and /dev, and a process. */
struct system {
    struct kernel *k;
    struct task *t;
    char text[16384]; /* of the file that was read last */
};

static void
system_init(struct system *s)
{
    struct fs *fs;

    s->k = world_new();
    CHECK_EQ(procfs_new(s->k, &fs), 0);
    CHECK_EQ(world_mount(s->k, "/proc", fs), 0);
    CHECK_EQ(devfs_new(s->k, &fs), 0);
    CHECK_EQ(world_mount(s->k, "/dev", fs), 0);
    s->t = world_child(s->k, NULL);
    strcpy(s->t->comm, "a) b");
}

/* The whole file as text; an empty string when it cannot be opened. */
static const char *
slurp(struct system *s, const char *path)
{
    struct file *f = world_open(s->k, s->t, path, O_RDONLY, NULL);
    size_t len = 0;
    int64_t n;

    while (f && (n = world_read(f, s->t, s->text + len,
                                sizeof s->text - 1 - len)) > 0)
        len += (size_t)n;
    s->text[len] = 0;
    file_put(f);
    return s->text;
}

static const char *
link_text(struct system *s, const char *path)
{
    struct mount *root = mount_root(&s->k->vfs);
    struct vnode base = {root, root->fs->root};
    struct walk w;

    s->text[0] = 0;
    if (world_walk(s->k, s->t, &base, path, WALK_NOFOLLOW, &w) < 0)
        return s->text;
    struct fs *fs = w.node.mnt->fs;
    int64_t n = fs->ops->readlink(fs, &s->t->as, w.node.ino, s->text, 1024);
    s->text[n > 0 ? n : 0] = 0;
    return s->text;
}

TEST(procfs_stat_has_52_fields)
{
    struct system s;
    int pid, ppid, fields = 2;
    char state;

    system_init(&s);
    slurp(&s, "/proc/self/stat");
    CHECK_EQ(sscanf(s.text, "%d (a) b) %c %d", &pid, &state, &ppid), 3);
    CHECK_EQ(pid, s.t->pid);
    CHECK_EQ(ppid, 1);
    CHECK_EQ(state, 'S');
    for (char *p = strrchr(s.text, ')') + 1; (p = strchr(p, ' ')); p++)
        fields++;
    CHECK_EQ(fields, 52);
    CHECK(strstr(slurp(&s, "/proc/self/status"), "Name:\ta) b\n"));
    CHECK(strstr(s.text, "\nState:\tS (sleeping)\n"));
    CHECK(strstr(s.text, "\nUid:\t1000\t1000\t1000\t1000\n"));
    CHECK(!strcmp(slurp(&s, "/proc/self/comm"), "a) b\n"));
    kernel_free(s.k);
}

TEST(procfs_shows_arguments_and_environment)
{
    const char *argv[] = {"cmd", "", "two", NULL};
    const char *envp[] = {"A=1", "B=", NULL};
    struct system s;

    system_init(&s);
    CHECK_EQ(args_set(s.t, argv, envp, "/bin/cmd"), 0);
    slurp(&s, "/proc/self/cmdline");
    CHECK(!memcmp(s.text, "cmd\0\0two\0", 10));
    slurp(&s, "/proc/self/environ");
    CHECK(!memcmp(s.text, "A=1\0B=\0", 8));
    kernel_free(s.k);
}

TEST(procfs_system_files_have_linux_formats)
{
    struct system s;
    unsigned long kb;
    double a, b, c;
    int run, all, last;

    system_init(&s);
    CHECK_EQ(sscanf(slurp(&s, "/proc/meminfo"), "MemTotal: %lu kB", &kb), 1);
    CHECK_EQ(kb, 524288);
    CHECK(strstr(s.text, "MemTotal:         524288 kB\n"));
    CHECK(strstr(s.text, "\nSwapFree:"));
    CHECK_EQ(sscanf(slurp(&s, "/proc/uptime"), "%lf %lf\n", &a, &b), 2);
    CHECK_EQ(sscanf(slurp(&s, "/proc/loadavg"), "%lf %lf %lf %d/%d %d", &a, &b,
                    &c, &run, &all, &last),
             6);
    CHECK_EQ(all, 2);
    CHECK(!strncmp(slurp(&s, "/proc/stat"), "cpu  0 0 0 ", 11));
    CHECK(strstr(s.text, "\nbtime "));
    CHECK(!strncmp(slurp(&s, "/proc/version"), "Linux version ", 14));
    CHECK(strstr(slurp(&s, "/proc/filesystems"), "nodev\tproc\n"));
    CHECK(strstr(slurp(&s, "/proc/mounts"), "proc /proc proc rw,relatime 0 0"));
    CHECK(strstr(slurp(&s, "/proc/self/mountinfo"), " - proc proc rw\n"));
    CHECK(!strcmp(slurp(&s, "/proc/sys/kernel/hostname"), "sandbox\n"));
    CHECK(!strcmp(slurp(&s, "/proc/sys/kernel/pid_max"), "32768\n"));
    CHECK(strstr(slurp(&s, "/proc/self/limits"),
                 "Max open files            1024                 1024"));
    CHECK_EQ(strlen(slurp(&s, "/proc/sys/kernel/random/uuid")), 37);
    CHECK_EQ(s.text[14], '4');
    kernel_free(s.k);
}

TEST(procfs_boot_id_stays_and_uuid_changes)
{
    struct system s;
    char first[40];

    system_init(&s);
    strcpy(first, slurp(&s, "/proc/sys/kernel/random/boot_id"));
    CHECK(!strcmp(slurp(&s, "/proc/sys/kernel/random/boot_id"), first));
    strcpy(first, slurp(&s, "/proc/sys/kernel/random/uuid"));
    CHECK(strcmp(slurp(&s, "/proc/sys/kernel/random/uuid"), first));
    kernel_free(s.k);
}

TEST(procfs_links_lead_to_files_and_directories)
{
    struct system s;
    char want[64];

    system_init(&s);
    snprintf(want, sizeof want, "%d", s.t->pid);
    CHECK(!strcmp(link_text(&s, "/proc/self"), want));
    snprintf(want, sizeof want, "%d/task/%d", s.t->pid, s.t->pid);
    CHECK(!strcmp(link_text(&s, "/proc/thread-self"), want));
    CHECK(!strcmp(link_text(&s, "/proc/self/cwd"), "/"));
    CHECK(!strcmp(link_text(&s, "/proc/self/root"), "/"));
    CHECK(!strcmp(link_text(&s, "/proc/self/exe"), "")); /* has none */
    CHECK(strstr(slurp(&s, "/proc/self/cwd/proc/version"), "Linux"));
    CHECK(strstr(slurp(&s, "/proc/thread-self/status"), "Name:\ta) b\n"));
    kernel_free(s.k);
}

TEST(procfs_descriptors_have_links_and_can_be_reopened)
{
    struct system s;
    struct file *master;
    struct tty *tty;
    char want[64];
    int err;

    system_init(&s);
    struct file *null = world_open(s.k, NULL, "/dev/null", O_WRONLY, NULL);
    CHECK_EQ(fd_install(s.t, null, 0, false), 0);
    CHECK_EQ(pty_new_pair(s.k, &master, &tty), 0);
    uint64_t ino = master->anon_ino;
    CHECK_EQ(fd_install(s.t, file_get(master), 0, true), 1);
    CHECK(!strcmp(link_text(&s, "/proc/self/fd/0"), "/dev/null"));
    snprintf(want, sizeof want, "ptmx:[%llu]", (unsigned long long)ino);
    CHECK(!strcmp(link_text(&s, "/proc/self/fd/1"), want));
    struct file *same = world_open(s.k, s.t, "/proc/self/fd/1", O_RDWR, NULL);
    CHECK(same == master);
    CHECK(!world_open(s.k, s.t, "/proc/self/fd/2", O_RDWR, &err));
    CHECK_EQ(err, -ENOENT);
    CHECK(strstr(slurp(&s, "/proc/self/fdinfo/1"), "flags:\t02000002\n"));
    file_put(same);
    file_put(master);
    kernel_free(s.k);
}

TEST(procfs_finds_the_new_name_of_a_renamed_file)
{
    struct system s;
    struct mount *root;

    system_init(&s);
    struct file *f =
        world_open(s.k, NULL, "/old", O_RDWR | O_CREAT | O_EXCL, NULL);
    CHECK_EQ(fd_install(s.t, f, 0, false), 0);
    root = mount_root(&s.k->vfs);
    struct vnode base = {root, root->fs->root};
    struct at from = {.vfs = &s.k->vfs, .base = &base, .path = "/old"};
    struct at to = {.vfs = &s.k->vfs, .base = &base, .path = "/new"};
    CHECK_EQ(vfs_rename(&from, &to, 0), 0);
    CHECK(!strcmp(link_text(&s, "/proc/self/fd/0"), "/new"));
    CHECK_EQ(vfs_unlink(&to, 0), 0);
    CHECK(!strcmp(link_text(&s, "/proc/self/fd/0"), "/old (deleted)"));
    kernel_free(s.k);
}

TEST(procfs_files_of_a_gone_process_fail)
{
    struct system s;
    struct task *other;
    char path[64], buf[16];
    int err;

    system_init(&s);
    other = world_child(s.k, NULL);
    snprintf(path, sizeof path, "/proc/%d/stat", other->pid);
    struct file *f = world_open(s.k, s.t, path, O_RDONLY, NULL);
    thread_free(STEAL(other->thread));
    task_exit(other, 0);
    task_reap(other);
    CHECK_EQ(world_read(f, s.t, buf, sizeof buf), -ESRCH);
    CHECK(!world_open(s.k, s.t, path, O_RDONLY, &err));
    CHECK_EQ(err, -ENOENT);
    file_put(f);
    kernel_free(s.k);
}

TEST(procfs_content_is_made_anew_after_a_rewind)
{
    struct system s;
    char buf[64];

    system_init(&s);
    struct file *f = world_open(s.k, s.t, "/proc/loadavg", O_RDONLY, NULL);
    CHECK(world_reads(f, s.t, "0.00 0.00 0.00 0/2 2\n"));
    (void)world_child(s.k, NULL);
    f->pos = (uint64_t)f->ops->seek(f, 0, SEEK_SET);
    CHECK_EQ(world_read(f, s.t, buf, 5), 5);
    CHECK(world_reads(f, s.t, "0.00 0.00 0/3 3\n"));
    file_put(f);
    kernel_free(s.k);
}

/* Contents, and a directory. */
TEST(procfs_positions_that_are_none_are_refused)
{
    static const char *const path[] = {"/proc/loadavg", "/proc"};
    struct system s;

    system_init(&s);
    for (int i = 0; i < 2; i++) {
        struct file *f = world_open(s.k, s.t, path[i], O_RDONLY, NULL);
        f->pos = 1;
        CHECK_EQ(f->ops->seek(f, INT64_MAX - 1, SEEK_CUR), INT64_MAX);
        CHECK_EQ(f->ops->seek(f, INT64_MAX, SEEK_CUR), -EOVERFLOW);
        CHECK_EQ(f->ops->seek(f, -2, SEEK_CUR), -EINVAL);
        CHECK_EQ(f->ops->seek(f, -EAGAIN, SEEK_SET), -EINVAL);
        CHECK_EQ(f->ops->seek(f, 0, SEEK_END), -EINVAL);
        file_put(f);
    }
    kernel_free(s.k);
}

struct found {
    struct dir_emit emit;
    const char *want;
    int count;
};

static bool
count_name(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
           unsigned dtype, uint64_t cookie)
{
    struct found *f = CONTAINER_OF(e, struct found, emit);

    (void)ino;
    (void)dtype;
    (void)cookie;
    f->count += len == strlen(f->want) && !memcmp(name, f->want, len);
    return true;
}

TEST(procfs_content_counts_as_memory)
{
    enum { LONG = 100 << 10 };
    static char text[LONG + 1];
    const char *const argv[] = {text, NULL}, *const envp[] = {NULL};
    struct system s;
    int error;

    system_init(&s);
    memset(text, 'a', LONG);
    CHECK_EQ(args_set(s.t, argv, envp, "/a"), 0);
    uint64_t before = world_memory(s.k);
    struct file *f = world_open(s.k, s.t, "/proc/self/cmdline", O_RDONLY, NULL);
    CHECK(world_memory(s.k) >= before + LONG);
    (void)slurp(&s, "/proc/self/cmdline");
    s.k->limits.max[LIMIT_memory] = s.k->limits.used[LIMIT_memory] + LONG / 2;
    CHECK(!world_open(s.k, s.t, "/proc/self/cmdline", O_RDONLY, &error));
    CHECK_EQ(error, -ENOMEM);
    CHECK_EQ(world_read(f, s.t, text, 1), 1);
    file_put(f);
    CHECK_EQ(world_memory(s.k), before);
    kernel_free(s.k);
}

TEST(procfs_lists_processes_and_files)
{
    struct system s;
    char pid[16];

    system_init(&s);
    snprintf(pid, sizeof pid, "%d", s.t->pid);
    struct mount *m = mount_nth(&s.k->vfs, 1);
    struct fs *fs = m->fs;
    const char *want[] = {pid, "1", "self", "meminfo"};
    for (size_t i = 0; i < 4; i++) {
        struct found f = {.emit.entry = count_name, .want = want[i]};
        CHECK_EQ(fs->ops->readdir(fs, fs->root, 0, &f.emit), 0);
        CHECK_EQ(f.count, 1);
    }
    kernel_free(s.k);
}

TEST(sysfs_has_processors_and_limits)
{
    struct system s;
    struct fs *fs;
    int error = 0;

    system_init(&s);
    CHECK_EQ(sysfs_new(s.k, &fs), 0);
    CHECK_EQ(world_mount(s.k, "/sys", fs), 0);
    mount_keep_last(&s.k->vfs);
    CHECK(!strcmp(slurp(&s, "/sys/devices/system/cpu/online"), "0\n"));
    CHECK(!strcmp(slurp(&s, "/sys/class/net/lo/../../net/lo/mtu"), "65536\n"));
    s.k->limits.max[LIMIT_memory] = 12345678;
    CHECK(!strcmp(slurp(&s, "/sys/fs/cgroup/memory.max"), "12345678\n"));
    CHECK(!strcmp(slurp(&s, "/sys/fs/cgroup/cpu.max"), "max 100000\n"));
    CHECK(!strcmp(slurp(&s, "/sys/../proc/1/cmdline"), "init"));
    CHECK(!world_open(s.k, s.t, "/sys/self", O_RDONLY, &error));
    CHECK_EQ(error, -ENOENT);
    CHECK(!world_open(s.k, s.t, "/sys/1", O_RDONLY, &error));
    CHECK(!world_open(s.k, s.t, "/proc/class", O_RDONLY, &error));

    /* The numbers of other mounts are as if it were not there. */
    CHECK_EQ(devfs_new(s.k, &fs), 0);
    CHECK_EQ(world_mount(s.k, "/later", fs), 0);
    CHECK(!strcmp(mount_nth(&s.k->vfs, 3)->path, "/later"));
    CHECK(!strcmp(mount_nth(&s.k->vfs, 4)->path, "/sys"));
    kernel_free(s.k);
}

/* A saved state names files by their inode numbers, and may be damaged. */
TEST(procfs_numbers_of_process_files_need_a_process)
{
    struct system s;
    struct attr a;

    system_init(&s);
    struct mount *m = mount_nth(&s.k->vfs, 1);
    CHECK(!strcmp(m->path, "/proc"));
    for (uint64_t row = 0; row < 256; row++) {
        struct file *f = NULL;
        if (m->fs->ops->open(m->fs, &s.t->as, row << 32, O_RDONLY, &f) == 0)
            file_put(f);
    }
    struct vnode root = {m, (uint64_t)PROC_ROOT << 32};
    struct vnode process = {m, (uint64_t)PROC_PID << 32};
    struct vnode link = {m, (uint64_t)PROC_FD << 32};
    CHECK_EQ(vnode_getattr(&root, &a), 0);
    CHECK_EQ(vnode_getattr(&process, &a), -ENOENT);
    CHECK_EQ(vnode_getattr(&link, &a), -ENOENT);
    kernel_free(s.k);
}

TEST(procfs_new_and_open_survive_lack_of_memory)
{
    struct system s;

    system_init(&s);
    EACH_OOM(oom) {
        struct fs *fs = NULL;
        int r = procfs_new(s.k, &fs);
        CHECK(r == 0 || r == -ENOMEM);
        if (fs)
            fs->ops->free(fs);
    }
    EACH_OOM(oom) {
        int err;
        struct file *f =
            world_open(s.k, s.t, "/proc/self/status", O_RDONLY, &err);
        CHECK(f || err == -ENOMEM);
        file_put(f);
    }
    kernel_free(s.k);
}
