/* System call filters, from tables. */
#include "supervisor/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH       AUDIT_ARCH_X86_64
#define FOREIGN_NR 0x40000000 /* x32 */
#elif defined(__aarch64__)
#define ARCH       AUDIT_ARCH_AARCH64
#define FOREIGN_NR 0x40000000
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef TIOCLINUX
#define TIOCLINUX 0x541c
#endif

#define FAIL(err) (SECCOMP_RET_ERRNO | (err))
#define DENY(name)                               \
    {                                            \
        .nr = SYS_##name, .answer = FAIL(EPERM), \
    }
#define DENY_IF(name, n, bits, equal)                                        \
    {                                                                        \
        .nr = SYS_##name, .answer = FAIL(EPERM), .arg = (n), .mask = (bits), \
        .value = (equal),                                                    \
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
    {.nr = SYS_clone3, .answer = FAIL(ENOSYS)},
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
const struct seccomp_policy seccomp_native = {
    native_rules, sizeof native_rules / sizeof *native_rules,
    SECCOMP_RET_ALLOW};

static const struct seccomp_rule hidden_memory_rules[] = {
    DENY(memfd_create),
    DENY(memfd_secret),
    DENY(shmget),
};
const struct seccomp_policy seccomp_no_hidden_memory = {
    hidden_memory_rules,
    sizeof hidden_memory_rules / sizeof *hidden_memory_rules,
    SECCOMP_RET_ALLOW};

struct filter {
    struct sock_filter v[256];
    unsigned short n;
};

static void
add(struct filter *f, struct sock_filter step)
{
    f->v[f->n++] = step;
}

static void
add_load(struct filter *f, size_t offset)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                        (uint32_t)offset));
}

static void
add_answer(struct filter *f, uint32_t answer)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

static void
add_jump(struct filter *f, unsigned test, uint32_t k, uint8_t yes, uint8_t no)
{
    add(f, (struct sock_filter)BPF_JUMP(
               (unsigned short)(BPF_JMP | test | BPF_K), k, yes, no));
}

/* The call's number is loaded before each rule. */
static void
add_rule(struct filter *f, const struct seccomp_rule *r)
{
    if (!r->mask) {
        add_jump(f, BPF_JEQ, (uint32_t)r->nr, 0, 1);
        add_answer(f, r->answer);
        return;
    }
    add_jump(f, BPF_JEQ, (uint32_t)r->nr, 0, 5);
    add_load(f, offsetof(struct seccomp_data, args) +
                    r->arg * sizeof(uint64_t)); /* little-endian */
    add(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->mask));
    if (r->value)
        add_jump(f, BPF_JEQ, r->value, 0, 1);
    else
        add_jump(f, BPF_JEQ, 0, 1, 0);
    add_answer(f, r->answer);
    add_load(f, offsetof(struct seccomp_data, nr));
}

int
seccomp_load(const struct seccomp_policy *policy)
{
    struct filter f = {.n = 0};

    add_load(&f, offsetof(struct seccomp_data, arch));
    add_jump(&f, BPF_JEQ, ARCH, 1, 0);
    add_answer(&f, SECCOMP_RET_KILL_PROCESS);
    add_load(&f, offsetof(struct seccomp_data, nr));
    add_jump(&f, BPF_JGE, FOREIGN_NR, 0, 1);
    add_answer(&f, FAIL(ENOSYS));
    for (size_t i = 0; i < policy->n; i++)
        add_rule(&f, &policy->rules[i]);
    add_answer(&f, policy->otherwise);
    struct sock_fprog program = {f.n, f.v};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0
               ? -errno
               : 0;
}
