/* strace output, generated from the signatures in syscalls.def. */
#include "kernel/strace.h"

#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <string.h>

enum { STRING_BYTES = 64 };

FILE *
strace_of_task(const struct task *t)
{
    const struct kernel *k = t->kernel;

    return k->strace_has_run && t->run_tag != k->run_tag ? k->strace_others
                                                         : k->strace;
}

static void
print_string(FILE *out, struct task *t, gaddr a)
{
    char s[STRING_BYTES];
    int64_t len = guest_string(t, a, s, sizeof s);

    if (len == -EFAULT) {
        fprintf(out, "0x%x", a);
        return;
    }
    if (len < 0)
        (void)copy_from_guest(t, s, a, sizeof s);
    size_t n = len < 0 ? sizeof s : (size_t)len;
    fputc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < ' ' || c >= 127)
            fprintf(out, "\\x%02x", c);
        else
            fputc(c, out);
    }
    fputs(len < 0 ? "\"..." : "\"", out);
}

/* Prints one argument; returns how many of the raw words it took. */
static int
print_arg(FILE *out, struct task *t, char letter, const uint32_t *a)
{
    switch (letter) {
    case 's':
        print_string(out, t, a[0]);
        return 1;
    case 'o':
        fprintf(out, "%lld", (long long)(a[0] | (uint64_t)a[1] << 32));
        return 2;
    case 'p':
        if (!a[0])
            fputs("NULL", out);
        else
            fprintf(out, "0x%x", a[0]);
        return 1;
    case 'x':
        fprintf(out, "0x%x", a[0]);
        return 1;
    case 'u':
        fprintf(out, "%u", a[0]);
        return 1;
    default:
        fprintf(out, "%d", (int32_t)a[0]);
        return 1;
    }
}

void
strace_enter(FILE *out, struct task *t, uint32_t nr,
             const struct syscall_row *row, const uint32_t a[6])
{
    int word = 0;

    if (!row) {
        fprintf(out, "[%d] syscall_%u(0x%x, 0x%x, 0x%x)", t->pid, nr, a[0],
                a[1], a[2]);
        return;
    }
    fprintf(out, "[%d] %s(", t->pid, row->name);
    for (const char *s = row->args; *s && word < 6; s++) {
        if (s != row->args)
            fputs(", ", out);
        word += print_arg(out, t, *s, a + word);
    }
    fputc(')', out);
}

void
strace_reason(FILE *out, const char *why)
{
    fputs(" /* ", out);
    for (; *why; why++)
        fputc((unsigned char)*why < ' ' || *why == 0x7f ? '?' : *why, out);
    fputs(" */", out);
}

void
strace_exit(FILE *out, int64_t result)
{
    if (result == -EWAIT)
        fputs(" = ? (waits)\n", out);
    else if (result == -ERESTARTSYS)
        fputs(" = ? (restarts)\n", out);
    else if (result < 0 && strerrorname_np((int)-result))
        fprintf(out, " = -1 %s\n", strerrorname_np((int)-result));
    else
        fprintf(out, " = %lld\n", (long long)result);
}
