/* The table of /proc and its generators, for the proc*.c files.
 *
 * An entry is a row: its name, the directory it is in, and how its content is
 * made. A directory is named by a constant, so the same rows can appear in
 * several places. */
#ifndef KERNEL_PROC_PROCFS_IMPL_H
#define KERNEL_PROC_PROCFS_IMPL_H

#include "base/buf.h"
#include "kernel/kernel.h"
#include "kernel/vfs/vfs.h"

#include <stdint.h>

/* A mounted /proc or /sys. */
struct procfs {
    struct fs fs;
    uint8_t boot_id[16];
};

/* The subject of a file: the system or a process, and possibly one of its
 * descriptors. */
struct proc_ask {
    struct procfs *procfs;
    struct kernel *kernel;
    struct task *reader;   /* of a link; may be NULL */
    struct task *of;       /* NULL for files about the system */
    int tid;               /* in task/, or 0 */
    struct thread *thread; /* of that number; NULL: the first one, ended */
    int fd;                /* in fd/ and fdinfo/ */
};

/* Writes the content. Returns 0 or -errno; the caller checks b->error. */
typedef int proc_gen(const struct proc_ask *a, struct buf *b);
/* Writes the text of a link, at most size bytes. Returns its length or -errno.
 */
typedef int64_t proc_link(const struct proc_ask *a, char *buf, size_t size);
/* Returns the target of a magic link. -ENXIO: an open file without a path. */
typedef int proc_follow(const struct proc_ask *a, struct vnode *ret);

/* The directories. DIR_PID to DIR_TID exist once for each process. */
enum proc_dir {
    DIR_NONE,
    DIR_ROOT,
    DIR_SYS,
    DIR_SYS_KERNEL,
    DIR_SYS_RANDOM,
    DIR_SYS_VM,
    DIR_SYS_FS,
    DIR_SYS_INOTIFY,
    DIR_SYS_NET,
    DIR_SYS_NET_CORE,
    DIR_NET,
    DIR_PID,
    DIR_FD,
    DIR_FDINFO,
    DIR_TASK,
    DIR_TID,
    DIR_SYSFS, /* the root of /sys, in the same table */
    DIR_SYSFS_CLASS,
    DIR_SYSFS_CLASS_NET,
    DIR_SYSFS_LO,
    DIR_SYSFS_LO_STATISTICS,
    DIR_SYSFS_DEVICES,
    DIR_SYSFS_SYSTEM,
    DIR_SYSFS_CPU,
    DIR_SYSFS_CPU0,
    DIR_SYSFS_CPU0_TOPOLOGY,
    DIR_SYSFS_NODE,
    DIR_SYSFS_FS,
    DIR_SYSFS_CGROUP,
    DIR_SYSFS_BLOCK,
};

/* One entry. Rows without a name represent numbered entries. */
struct proc_row {
    const char *name;
    enum proc_dir in;
    uint32_t mode;    /* with the type */
    enum proc_dir is; /* of a directory */
    const char *text; /* constant content; otherwise `gen` */
    proc_gen *gen;
    proc_link *link;
    proc_follow *follow;
};

/* The first rows are found by their number. */
enum { PROC_ROOT = 1, PROC_PID, PROC_TID, PROC_FD, PROC_FDINFO, SYSFS_ROOT };
extern const struct proc_row proc_rows[];
extern const size_t proc_row_count;

/* proc_pid.c */
proc_gen proc_pid_stat, proc_pid_status, proc_pid_statm, proc_pid_cmdline,
    proc_pid_environ, proc_pid_comm, proc_pid_limits, proc_pid_maps,
    proc_pid_io;
/* The state of a process, or of one of its threads, as a letter. */
char proc_task_state(const struct task *t, const struct thread *th);

/* proc_link.c */
proc_link proc_self, proc_thread_self, proc_mounts_link, proc_cwd_link,
    proc_root_link, proc_exe_link, proc_fd_link;
proc_follow proc_cwd_follow, proc_root_follow, proc_exe_follow, proc_fd_follow;
proc_gen proc_fdinfo;

/* proc_system.c */
proc_gen proc_meminfo, proc_cpuinfo, proc_uptime, proc_loadavg, proc_version,
    proc_stat, proc_hostname, proc_osrelease, proc_uuid, proc_boot_id,
    proc_file_max, proc_file_nr, proc_threads_max;

/* proc_net.c */
proc_gen proc_net_tcp, proc_net_tcp6, proc_net_udp, proc_net_udp6,
    proc_net_unix, proc_net_dev, proc_net_route;

/* proc_cgroup.c */
proc_gen cgroup_memory_max, cgroup_memory_current, cgroup_pids_max,
    cgroup_pids_current, cgroup_procs, cgroup_cpu_stat;

/* proc_mounts.c */
proc_gen proc_mounts, proc_mountinfo, proc_filesystems;
/* Returns the number of a mount in mountinfo and fdinfo; 0: unknown. */
int proc_mount_id(const struct kernel *k, const struct mount *m);

#endif
