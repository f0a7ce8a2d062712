/* System calls that programs of the host are refused in a jail. */
#include "supervisor/native_calls.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef TIOCLINUX
#define TIOCLINUX 0x541c
#endif

#define DENY(name)                                       \
    {                                                    \
        .nr = SYS_##name, .answer = SECCOMP_FAIL(EPERM), \
    }
#define DENY_IF(name, n, bits, equal)                                \
    {                                                                \
        .nr = SYS_##name, .answer = SECCOMP_FAIL(EPERM), .arg = (n), \
        .mask = (bits), .value = (equal),                            \
    }
#define NEW_NAMESPACES                                           \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | \
     CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static const struct seccomp_rule native_rules[] = {
    /* mounts */
    DENY(mount),
    DENY(umount2),
    DENY(pivot_root),
    DENY(chroot),
    DENY(move_mount),
    DENY(open_tree),
    DENY(open_tree_attr),
    DENY(fsopen),
    DENY(fsconfig),
    DENY(fsmount),
    DENY(fspick),
    DENY(mount_setattr),
    DENY(open_by_handle_at),
    DENY(name_to_handle_at),
    DENY(quotactl),
    DENY(quotactl_fd),
    DENY(swapon),
    DENY(swapoff),
    /* namespaces; clone3 hides its flags from filters, libc then uses clone */
    DENY(unshare),
    DENY(setns),
    {.nr = SYS_clone3, .answer = SECCOMP_FAIL(ENOSYS)},
    DENY_IF(clone, 0, NEW_NAMESPACES, 0),
    /* other processes */
    DENY(ptrace),
    DENY(process_vm_readv),
    DENY(process_vm_writev),
    DENY(process_madvise),
    DENY(pidfd_getfd),
    DENY(kcmp),
    /* the kernel */
    DENY(bpf),
    DENY(perf_event_open),
    DENY(userfaultfd),
    DENY(io_uring_setup),
    DENY(io_uring_enter),
    DENY(io_uring_register),
    DENY(keyctl),
    DENY(add_key),
    DENY(request_key),
    DENY(kexec_load),
    DENY(kexec_file_load),
    DENY(init_module),
    DENY(finit_module),
    DENY(delete_module),
    DENY(reboot),
    DENY(acct),
    DENY(syslog),
    DENY(fanotify_init),
    DENY(lookup_dcookie),
    DENY(vhangup),
    DENY(settimeofday),
    DENY(clock_settime),
#ifdef __x86_64__
    DENY(iopl),
    DENY(ioperm),
    DENY(modify_ldt),
    DENY(uselib),
    DENY(_sysctl),
#endif
    /* typing into the terminal that we share */
    DENY_IF(ioctl, 1, UINT32_MAX, TIOCSTI),
    DENY_IF(ioctl, 1, UINT32_MAX, TIOCLINUX),
};
const struct seccomp_policy native_calls = {
    native_rules, sizeof native_rules / sizeof *native_rules,
    SECCOMP_RET_ALLOW};

static const struct seccomp_rule hidden_memory_rules[] = {
    DENY(memfd_create),
    DENY(memfd_secret),
    DENY(shmget),
};
const struct seccomp_policy native_no_hidden_memory = {
    hidden_memory_rules,
    sizeof hidden_memory_rules / sizeof *hidden_memory_rules,
    SECCOMP_RET_ALLOW};
