/* The table of /proc and /sys: one row per entry.
 *
 * D is a directory, F a file with a generator, T a file with a constant text,
 * and L a link. Saved states contain the numbers of rows, as parts of inode
 * numbers, so new rows are added at the end. */
#include "kernel/proc/procfs_impl.h"

#define D(name, in, is)                                      \
    {                                                        \
        name, in, S_IFDIR | 0555, is, NULL, NULL, NULL, NULL \
    }
#define F(name, in, mode, gen)                                      \
    {                                                               \
        name, in, S_IFREG | (mode), DIR_NONE, NULL, gen, NULL, NULL \
    }
#define T(name, in, text)                                          \
    {                                                              \
        name, in, S_IFREG | 0444, DIR_NONE, text, NULL, NULL, NULL \
    }
#define L(name, in, link, follow)                                    \
    {                                                                \
        name, in, S_IFLNK | 0777, DIR_NONE, NULL, NULL, link, follow \
    }

/* Files whose content never changes: nothing is counted, and nothing can be
 * configured. */
#define NET_ARP                                                                \
    "IP address       HW type     Flags       HW address            Mask     " \
    "Device\n"
#define NET_IF_INET6 "00000000000000000000000000000001 01 80 10 80       lo\n"
#define VMSTAT                                                               \
    "nr_free_pages 0\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault 0\n" \
    "pgmajfault 0\n"
#define SWAPS "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

/* clang-format off */
const struct proc_row proc_rows[] = {
    /* Rows with a fixed number; those without a name stand for numbered
     * entries. */
    [PROC_ROOT] = D("", DIR_NONE, DIR_ROOT),
    [PROC_PID] = D(NULL, DIR_ROOT, DIR_PID),
    [PROC_TID] = D(NULL, DIR_TASK, DIR_TID),
    [PROC_FD] = L(NULL, DIR_FD, proc_fd_link, proc_fd_follow),
    [PROC_FDINFO] = F(NULL, DIR_FDINFO, 0400, proc_fdinfo),
    [SYSFS_ROOT] = D("", DIR_NONE, DIR_SYSFS),

    /* /proc */
    L("self", DIR_ROOT, proc_self, NULL),
    L("thread-self", DIR_ROOT, proc_thread_self, NULL),
    D("sys", DIR_ROOT, DIR_SYS),
    D("net", DIR_ROOT, DIR_NET),
    T("cmdline", DIR_ROOT, "wasmsand\n"),
    F("cpuinfo", DIR_ROOT, 0444, proc_cpuinfo),
    F("filesystems", DIR_ROOT, 0444, proc_filesystems),
    F("loadavg", DIR_ROOT, 0444, proc_loadavg),
    F("meminfo", DIR_ROOT, 0444, proc_meminfo),
    L("mounts", DIR_ROOT, proc_mounts_link, NULL),
    F("stat", DIR_ROOT, 0444, proc_stat),
    T("swaps", DIR_ROOT, SWAPS),
    F("uptime", DIR_ROOT, 0444, proc_uptime),
    F("version", DIR_ROOT, 0444, proc_version),
    T("vmstat", DIR_ROOT, VMSTAT),

    /* /proc/net, which is also /proc/<pid>/net */
    T("arp", DIR_NET, NET_ARP),
    F("dev", DIR_NET, 0444, proc_net_dev),
    T("if_inet6", DIR_NET, NET_IF_INET6),
    F("route", DIR_NET, 0444, proc_net_route),
    F("tcp", DIR_NET, 0444, proc_net_tcp),
    F("tcp6", DIR_NET, 0444, proc_net_tcp6),
    F("udp", DIR_NET, 0444, proc_net_udp),
    F("udp6", DIR_NET, 0444, proc_net_udp6),
    F("unix", DIR_NET, 0444, proc_net_unix),

    /* /proc/sys: constants that programs read, and limits of the sandbox */
    D("fs", DIR_SYS, DIR_SYS_FS),
    D("kernel", DIR_SYS, DIR_SYS_KERNEL),
    D("net", DIR_SYS, DIR_SYS_NET),
    D("vm", DIR_SYS, DIR_SYS_VM),
    F("file-max", DIR_SYS_FS, 0444, proc_file_max),
    F("file-nr", DIR_SYS_FS, 0444, proc_file_nr),
    D("inotify", DIR_SYS_FS, DIR_SYS_INOTIFY),
    T("nr_open", DIR_SYS_FS, "1048576\n"),
    T("pipe-max-size", DIR_SYS_FS, "1048576\n"),
    T("max_queued_events", DIR_SYS_INOTIFY, "16384\n"),
    T("max_user_instances", DIR_SYS_INOTIFY, "1024\n"),
    T("max_user_watches", DIR_SYS_INOTIFY, "8192\n"),
    T("cap_last_cap", DIR_SYS_KERNEL, "40\n"),
    T("domainname", DIR_SYS_KERNEL, "(none)\n"),
    F("hostname", DIR_SYS_KERNEL, 0444, proc_hostname),
    T("ngroups_max", DIR_SYS_KERNEL, "65536\n"),
    F("osrelease", DIR_SYS_KERNEL, 0444, proc_osrelease),
    T("ostype", DIR_SYS_KERNEL, "Linux\n"),
    T("overflowgid", DIR_SYS_KERNEL, "65534\n"),
    T("overflowuid", DIR_SYS_KERNEL, "65534\n"),
    T("pid_max", DIR_SYS_KERNEL, "32768\n"),
    D("random", DIR_SYS_KERNEL, DIR_SYS_RANDOM),
    F("threads-max", DIR_SYS_KERNEL, 0444, proc_threads_max),
    F("boot_id", DIR_SYS_RANDOM, 0444, proc_boot_id),
    T("entropy_avail", DIR_SYS_RANDOM, "256\n"),
    T("poolsize", DIR_SYS_RANDOM, "256\n"),
    F("uuid", DIR_SYS_RANDOM, 0444, proc_uuid),
    D("core", DIR_SYS_NET, DIR_SYS_NET_CORE),
    T("somaxconn", DIR_SYS_NET_CORE, "4096\n"),
    T("max_map_count", DIR_SYS_VM, "65530\n"),
    T("overcommit_memory", DIR_SYS_VM, "0\n"),
    T("swappiness", DIR_SYS_VM, "60\n"),

    /* /proc/<pid> */
    T("cgroup", DIR_PID, "0::/\n"),
    F("cmdline", DIR_PID, 0444, proc_pid_cmdline),
    F("comm", DIR_PID, 0444, proc_pid_comm),
    L("cwd", DIR_PID, proc_cwd_link, proc_cwd_follow),
    F("environ", DIR_PID, 0400, proc_pid_environ),
    L("exe", DIR_PID, proc_exe_link, proc_exe_follow),
    D("fd", DIR_PID, DIR_FD),
    D("fdinfo", DIR_PID, DIR_FDINFO),
    F("io", DIR_PID, 0400, proc_pid_io),
    F("limits", DIR_PID, 0444, proc_pid_limits),
    T("loginuid", DIR_PID, "4294967295"),
    F("maps", DIR_PID, 0444, proc_pid_maps),
    F("mountinfo", DIR_PID, 0444, proc_mountinfo),
    F("mounts", DIR_PID, 0444, proc_mounts),
    D("net", DIR_PID, DIR_NET),
    T("oom_score", DIR_PID, "0\n"),
    T("oom_score_adj", DIR_PID, "0\n"),
    L("root", DIR_PID, proc_root_link, proc_root_follow),
    F("stat", DIR_PID, 0444, proc_pid_stat),
    F("statm", DIR_PID, 0444, proc_pid_statm),
    F("status", DIR_PID, 0444, proc_pid_status),
    D("task", DIR_PID, DIR_TASK),
    T("wchan", DIR_PID, "0"),

    /* /proc/<pid>/task/<tid> */
    F("cmdline", DIR_TID, 0444, proc_pid_cmdline),
    F("comm", DIR_TID, 0444, proc_pid_comm),
    F("stat", DIR_TID, 0444, proc_pid_stat),
    F("statm", DIR_TID, 0444, proc_pid_statm),
    F("status", DIR_TID, 0444, proc_pid_status),

    /* /sys: one processor, the loopback interface, and a cgroup with the limits
     * of the sandbox */
    D("block", DIR_SYSFS, DIR_SYSFS_BLOCK),
    D("class", DIR_SYSFS, DIR_SYSFS_CLASS),
    D("devices", DIR_SYSFS, DIR_SYSFS_DEVICES),
    D("fs", DIR_SYSFS, DIR_SYSFS_FS),
    D("net", DIR_SYSFS_CLASS, DIR_SYSFS_CLASS_NET),
    D("lo", DIR_SYSFS_CLASS_NET, DIR_SYSFS_LO),
    T("address", DIR_SYSFS_LO, "00:00:00:00:00:00\n"),
    T("carrier", DIR_SYSFS_LO, "1\n"),
    T("flags", DIR_SYSFS_LO, "0x9\n"),
    T("ifindex", DIR_SYSFS_LO, "1\n"),
    T("mtu", DIR_SYSFS_LO, "65536\n"),
    T("operstate", DIR_SYSFS_LO, "unknown\n"),
    D("statistics", DIR_SYSFS_LO, DIR_SYSFS_LO_STATISTICS),
    T("type", DIR_SYSFS_LO, "772\n"),
    T("rx_bytes", DIR_SYSFS_LO_STATISTICS, "0\n"),
    T("rx_packets", DIR_SYSFS_LO_STATISTICS, "0\n"),
    T("tx_bytes", DIR_SYSFS_LO_STATISTICS, "0\n"),
    T("tx_packets", DIR_SYSFS_LO_STATISTICS, "0\n"),
    D("system", DIR_SYSFS_DEVICES, DIR_SYSFS_SYSTEM),
    D("cpu", DIR_SYSFS_SYSTEM, DIR_SYSFS_CPU),
    D("node", DIR_SYSFS_SYSTEM, DIR_SYSFS_NODE),
    D("cpu0", DIR_SYSFS_CPU, DIR_SYSFS_CPU0),
    T("kernel_max", DIR_SYSFS_CPU, "0\n"),
    T("offline", DIR_SYSFS_CPU, "\n"),
    T("online", DIR_SYSFS_CPU, "0\n"),
    T("possible", DIR_SYSFS_CPU, "0\n"),
    T("present", DIR_SYSFS_CPU, "0\n"),
    D("topology", DIR_SYSFS_CPU0, DIR_SYSFS_CPU0_TOPOLOGY),
    T("core_cpus_list", DIR_SYSFS_CPU0_TOPOLOGY, "0\n"),
    T("core_id", DIR_SYSFS_CPU0_TOPOLOGY, "0\n"),
    T("physical_package_id", DIR_SYSFS_CPU0_TOPOLOGY, "0\n"),
    T("thread_siblings_list", DIR_SYSFS_CPU0_TOPOLOGY, "0\n"),
    T("online", DIR_SYSFS_NODE, "0\n"),
    T("possible", DIR_SYSFS_NODE, "0\n"),
    D("cgroup", DIR_SYSFS_FS, DIR_SYSFS_CGROUP),
    T("cgroup.controllers", DIR_SYSFS_CGROUP, "cpu memory pids\n"),
    F("cgroup.procs", DIR_SYSFS_CGROUP, 0444, cgroup_procs),
    T("cpu.max", DIR_SYSFS_CGROUP, "max 100000\n"),
    F("cpu.stat", DIR_SYSFS_CGROUP, 0444, cgroup_cpu_stat),
    F("memory.current", DIR_SYSFS_CGROUP, 0444, cgroup_memory_current),
    T("memory.high", DIR_SYSFS_CGROUP, "max\n"),
    F("memory.max", DIR_SYSFS_CGROUP, 0444, cgroup_memory_max),
    T("memory.swap.max", DIR_SYSFS_CGROUP, "0\n"),
    F("pids.current", DIR_SYSFS_CGROUP, 0444, cgroup_pids_current),
    F("pids.max", DIR_SYSFS_CGROUP, 0444, cgroup_pids_max),
};
_Static_assert(sizeof proc_rows / sizeof *proc_rows <= 256,
               "a row is a byte of an inode number");
/* clang-format on */
const size_t proc_row_count = sizeof proc_rows / sizeof *proc_rows;
