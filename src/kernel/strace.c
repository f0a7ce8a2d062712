/* strace output, generated from the signatures in syscalls.def.
 *
 * The table explains the letters of a signature. A letter without a case of its
 * own is a signed number. */
#include "kernel/strace.h"

#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STRING_BYTES = 64 };

/* A trace of one run has only processes of that run; others may have a sink of
 * their own. */
struct host_sink *
strace_of_task(const struct task *t)
{
    const struct kernel *k = t->kernel;

    return k->strace_has_run && t->run_tag != k->run_tag ? k->strace_others
                                                         : k->strace;
}

void
strace_puts(struct host_sink *out, const char *text)
{
    out->put(out, text, strlen(text));
}

void
strace_printf(struct host_sink *out, const char *format, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    strace_puts(out, text);
}

/* A string is cut; bytes that are not printable are escaped, because the trace
 * goes to a terminal of the host. */
static void
strace_print_string(struct host_sink *out, struct task *t, gaddr a)
{
    char s[STRING_BYTES];
    int64_t len = guest_string(t, a, s, sizeof s);

    if (len == -EFAULT) {
        strace_printf(out, "0x%x", a);
        return;
    }
    if (len < 0)
        (void)copy_from_guest(t, s, a, sizeof s);
    size_t n = len < 0 ? sizeof s : (size_t)len;
    strace_puts(out, "\"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            strace_printf(out, "\\%c", c);
        else if (c < ' ' || c >= 127)
            strace_printf(out, "\\x%02x", c);
        else
            strace_printf(out, "%c", c);
    }
    strace_puts(out, len < 0 ? "\"..." : "\"");
}

/* Prints one argument. Returns the number of words that it consists of. */
static int
strace_print_arg(struct host_sink *out, struct task *t, char letter,
                 const uint32_t *a)
{
    switch (letter) {
    case 's':
        strace_print_string(out, t, a[0]);
        return 1;
    case 'o':
        strace_printf(out, "%lld", (long long)(a[0] | (uint64_t)a[1] << 32));
        return 2;
    case 'p':
        if (!a[0])
            strace_puts(out, "NULL");
        else
            strace_printf(out, "0x%x", a[0]);
        return 1;
    case 'x':
        strace_printf(out, "0x%x", a[0]);
        return 1;
    case 'u':
        strace_printf(out, "%u", a[0]);
        return 1;
    default:
        strace_printf(out, "%d", (int32_t)a[0]);
        return 1;
    }
}

/* The line is begun before the call, so that a call that never returns is
 * visible. */
void
strace_enter(struct host_sink *out, struct task *t, uint32_t nr,
             const struct syscall_row *row, const uint32_t a[6])
{
    int word = 0;

    int tid = t->thread->owner == t ? t->thread->tid : t->pid;

    if (!row) {
        strace_printf(out, "[%d] syscall_%u(0x%x, 0x%x, 0x%x)", tid, nr, a[0],
                      a[1], a[2]);
        return;
    }
    strace_printf(out, "[%d] %s(", tid, row->name);
    for (const char *s = row->args; *s && word < 6; s++) {
        if (s != row->args)
            strace_puts(out, ", ");
        word += strace_print_arg(out, t, *s, a + word);
    }
    strace_puts(out, ")");
}

/* The reason may contain bytes of the guest, so control characters are
 * replaced. */
void
strace_reason(struct host_sink *out, const char *why)
{
    strace_puts(out, " /* ");
    for (; *why; why++)
        strace_printf(out, "%c",
                      (unsigned char)*why < ' ' || *why == 0x7f ? '?' : *why);
    strace_puts(out, " */");
}

const char *
strace_errno_name(int64_t e)
{
    static const char *const names[] = {
#define ERRNO(NAME) [NAME] = #NAME,
#include "kernel/errno.def"
#undef ERRNO
    };

    return e > 0 && e < (int64_t)(sizeof names / sizeof *names) ? names[e]
                                                                : NULL;
}

void
strace_exit(struct host_sink *out, int64_t result)
{
    if (result == -EWAIT)
        strace_puts(out, " = ? (waits)\n");
    else if (result == -ERESTARTSYS)
        strace_puts(out, " = ? (restarts)\n");
    else if (result < 0 && strace_errno_name(-result))
        strace_printf(out, " = -1 %s\n", strace_errno_name(-result));
    else
        strace_printf(out, " = %lld\n", (long long)result);
}
