/* Watches a jail until its end.
 *
 * Problem: files of the workspace are in memory, and the kernel charges them to
 * the group like memory. Its limit must therefore be memory and disk together,
 * which is the maximum that the host can lose. But then nothing enforces the
 * memory limit alone.
 *
 * Idea: a watchdog subtracts the files from the group's use. It checks more
 * often the closer the limit is. When memory exceeds its limit, it makes the
 * kernel reduce the group to the allowed size. A jail that loses one process
 * for memory ends as a whole. */
#include "supervisor/jail/watch.h"

#include "supervisor/common/file.h"

#include "base/hfd.h"
#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LOOK_MIN_MS = 5,
    LOOK_MAX_MS = 250,
    FILL_MB_PER_MS = 4, /* no program fills memory faster */
    SLACK_MB = 4,       /* growth of files between two checks */
};

/* --- memory */

/* Returns the private memory of a process and its share of shared memory, from
 * lines like "Pss_Anon: 12 kB". Shares add up to the whole, so nothing is
 * counted twice. */
static uint64_t
watch_process_memory(int proc_hfd, const char *pid)
{
    static const char *const keys[] = {"\nPss_Anon:", "\nPss_Shmem:"};
    char path[64], text[2048];
    uint64_t kb = 0;

    (void)snprintf(path, sizeof path, "%.16s/smaps_rollup", pid);
    if (file_read_text(proc_hfd, path, text, sizeof text) < 0)
        return 0; /* it has just ended */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at = strstr(text, keys[i]);
        if (at)
            kb += strtoull(at + strlen(keys[i]), NULL, 10);
    }
    return kb << 10;
}

/* The sum over all processes of the jail, for hosts without a memory
 * controller. Their /proc was opened before the command ran. */
static uint64_t
watch_all_processes_memory(int proc_hfd)
{
    int hfd = openat(proc_hfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = hfd < 0 ? NULL : fdopendir(hfd);
    const struct dirent *e;
    uint64_t sum = 0;

    while (dir && (e = readdir(dir)))
        if (*e->d_name >= '1' && *e->d_name <= '9')
            sum += watch_process_memory(proc_hfd, e->d_name);
    if (dir)
        closedir(dir);
    return sum;
}

/* Returns the memory outside of files of the workspace, and that in files.
 * Files are measured last: bytes written to them in between must not count as
 * memory. */
static uint64_t
watch_memory_used(const struct watch *w, uint64_t *ret_files)
{
    uint64_t all;
    int r = cgroup_memory(w->group, &all);

    *ret_files = 0;
    (void)jail_disk(w->j, ret_files);
    if (r < 0)
        return watch_all_processes_memory(w->j->proc_hfd);
    return all > *ret_files ? all - *ret_files : 0;
}

/* The kernel can squeeze the group, which kills only if reclaiming is not
 * enough. If it cannot, the jail is killed here. */
static void
watch_stop_over_memory(struct watch *w, uint64_t files, uint64_t most)
{
    if (w->group->host->of[CTL_memory] >= 0 &&
        cgroup_squeeze(w->group, most + files + mb_bytes(SLACK_MB)) != -EBUSY)
        return;
    w->e->over_memory = true;
    jail_kill(w->j);
}

/* The distance to the limit, divided by the fastest possible growth, is the
 * time in which nothing can happen. */
int
watch_pause_ms(uint64_t used, uint64_t most)
{
    uint64_t ms = used > most ? 0 : ((most - used) >> 20) / FILL_MB_PER_MS;

    return ms < LOOK_MIN_MS ? LOOK_MIN_MS
                            : (int)(ms > LOOK_MAX_MS ? LOOK_MAX_MS : ms);
}

/* With v1 the kernel kills one process of the jail; the rest would go on in an
 * unknown state, so it is killed, too. */
int
watch_look(struct watch *w)
{
    uint64_t most = mb_bytes(w->limit[LIMIT_memory]), files;
    uint64_t used = watch_memory_used(w, &files);

    if (cgroup_had_oom(w->group))
        jail_kill(w->j); /* v2 does so itself (memory.oom.group) */
    if (used > most + mb_bytes(SLACK_MB)) {
        watch_stop_over_memory(w, files, most);
        return LOOK_MIN_MS;
    }
    return watch_pause_ms(used, most);
}

/* --- events */

static void
watch_pass_signal_on(const struct watch *w, int signal_hfd)
{
    struct signalfd_siginfo info;

    if (read(signal_hfd, &info, sizeof info) == sizeof info)
        (void)syscall(SYS_pidfd_send_signal, w->j->pid_hfd, (int)info.ssi_signo,
                      NULL, 0);
}

/* The first process is not trusted once the command runs: its numbers are
 * checked, and only influence its own result. */
bool
watch_message(struct watch *w)
{
    struct jail_message m;

    if (read(w->j->message_hfd, &m, sizeof m) != sizeof m)
        return false;
    if (m.kind == JAIL_NO_EXEC || m.kind == JAIL_FAILED)
        w->exec_error = m.value > 0 && m.value < 4096 ? m.value : EIO;
    if (m.kind == JAIL_ENDED)
        w->e->status = m.value;
    return m.kind == JAIL_READY;
}

/* An end of file on the pipe for messages is the end of the jail. */
static void
watch_wait_for_end(struct watch *w, int signal_hfd)
{
    struct pollfd fds[] = {{.fd = w->j->message_hfd, .events = POLLIN},
                           {.fd = signal_hfd, .events = POLLIN}};
    int wait_ms = LOOK_MIN_MS;

    for (;;) {
        int n = poll(fds, 2, wait_ms);
        if (n > 0 && fds[0].revents && !watch_message(w))
            return;
        if (n > 0 && fds[1].revents)
            watch_pass_signal_on(w, signal_hfd);
        wait_ms = watch_look(w);
    }
}

int
watch_run(struct jail *j, const struct cgroup *group, const uint32_t *limit,
          struct ending *ret)
{
    /* Without a message, the whole jail was killed. */
    *ret = (struct ending){.status = SIGKILL};
    struct watch w = {.j = j, .group = group, .limit = limit, .e = ret};
    sigset_t signals;

    (void)sigprocmask(SIG_BLOCK, NULL, &signals);
    CLEANUP(hfd_closep) int hfd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (hfd < 0 || jail_go(j) < 0)
        w.exec_error = EIO;
    else
        watch_wait_for_end(&w, hfd);
    (void)jail_disk(j, &ret->disk_used);
    jail_end(j, &ret->usage);
    cgroup_count(group, &ret->counters);
    return -w.exec_error;
}
