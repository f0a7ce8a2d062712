/* Processes beside the shell: input, output, signals, ends.
 *
 * Input, signals and sizes of terminals arrive as messages (letters). The
 * caller gets the output of a pipe where it is written, on the sandbox's
 * thread. Output of a terminal is moved between time slices, because the line
 * discipline may add to it at any time.
 *
 * Unread input is limited to IN_BYTES_MAX for each process. The space is
 * reserved when a letter is sent, so that many senders cannot exceed it
 * together. */
#include "lib/process.h"

#include "kernel/capture.h"
#include "kernel/kernel.h"
#include "kernel/tty.h"
#include "lib/error.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>

/* IN_BYTES_MAX limits the unread input of a process. ENDED_KEPT processes that
 * have ended can still be listed. PUMP_BYTES is a buffer on the stack. */
enum { IN_BYTES_MAX = 1 << 20, ENDED_KEPT = 64, PUMP_BYTES = 2048 };

enum letter_kind { LETTER_INPUT, LETTER_RESIZE, LETTER_KILL, LETTER_RESUME };

/* Mail for a process. */
struct letter {
    struct mail mail;
    struct list link; /* in process->letters */
    uint64_t id;
    enum letter_kind kind;
    int sig;
    struct tty_winsize size;
    size_t len; /* 0: the end of input */
    char data[];
};

/* Finds a process that has not ended. Called with the lock, or on the sandbox's
 * thread, which alone changes the list. */
static struct process *
process_find(const struct wsand_sandbox *sb, uint64_t id)
{
    LIST_FOR_EACH(it, &sb->processes.running) {
        struct process *p = CONTAINER_OF(it, struct process, link);
        if (p->id == id)
            return p;
    }
    return NULL;
}

static void
process_free(OWN struct process *p)
{
    list_remove(&p->link);
    free(p->command);
    free(p);
}

/* --- moving bytes */

/* Reduces the amount of unread input by n. */
static void
process_add_taken(struct process *p, size_t n)
{
    pthread_mutex_lock(&p->sb->processes.lock);
    p->in_bytes -= n;
    pthread_mutex_unlock(&p->sb->processes.lock);
}

/* Removes a letter; its unread bytes do not count any more. */
static void
process_drop_letter(struct process *p, OWN struct letter *l)
{
    process_add_taken(p, l->len - p->taken);
    p->taken = 0;
    list_remove(&l->link);
    free(l);
}

/* Closes the input and drops unread letters. Also the way to pass an end of
 * file to a pipe. */
static void
process_close_input(struct process *p)
{
    waiter_remove(&p->waiter);
    file_put(STEAL(p->in));
    p->tty = NULL;
    while (!list_is_empty(&p->letters))
        process_drop_letter(p,
                            CONTAINER_OF(p->letters.next, struct letter, link));
}

/* Passes an end of input: a pipe is closed (-EPIPE makes the caller do so), and
 * a terminal gets its end-of-file character. -EAGAIN: the input is full. */
static int64_t
process_type_end(struct process *p)
{
    struct tty_termios tio;

    if (!p->tty)
        return -EPIPE; /* closes it */
    tty_get_termios(p->tty, &tio);
    return p->in->ops->write(p->in, NULL, &tio.cc[VEOF], 1, NULL) > 0 ? 0
                                                                      : -EAGAIN;
}

/* Writes as much of the letter as fits. Returns the number of bytes, or
 * -EAGAIN. */
static int64_t
process_type_letter(struct process *p, const struct letter *l)
{
    if (!l->len)
        return process_type_end(p);
    int64_t n = p->in->ops->write(p->in, NULL, l->data + p->taken,
                                  l->len - p->taken, NULL);
    return n ? n : -EAGAIN;
}

/* Writes letters in order until the input is full. The waiter on the input
 * calls again when the process has read some. */
static void
process_pump_in(struct process *p)
{
    while (!list_is_empty(&p->letters)) {
        struct letter *l = CONTAINER_OF(p->letters.next, struct letter, link);
        int64_t n = process_type_letter(p, l);
        if (n == -EPIPE)
            process_close_input(p);
        if (n < 0)
            return;
        p->taken += (size_t)n;
        process_add_taken(p, (size_t)n);
        if (p->taken == l->len)
            process_drop_letter(p, l);
    }
}

/* Flow control of output. The caller states how many bytes it accepts now (its
 * window). At 0, a writing process waits inside, like at a full pipe, and
 * nothing is buffered for it. The caller announces a new window with
 * wsand_process_resume, which wakes the writers. A slow reader therefore slows
 * down its process and costs no memory. */
size_t
process_window(const struct process *p)
{
    if (p->has_room && !p->has_room(p->arg))
        return 0;
    return p->window ? p->window(p->arg) : SIZE_MAX;
}

/* Moves the output of a terminal: all of it, or as much as the caller
 * accepts. */
static void
process_pump_out(struct process *p, bool all)
{
    char buf[PUMP_BYTES];
    int64_t n = 1;

    while (p->in && p->tty && n > 0) {
        size_t max = all ? sizeof buf : process_window(p);
        if (!max)
            break;
        n = p->in->ops->read(p->in, NULL, buf,
                             max < sizeof buf ? max : sizeof buf, NULL);
        if (n > 0 && p->on_output)
            p->on_output(p->arg, p->id, 1, buf, (size_t)n);
    }
}

/* Moves bytes from and to it. */
static void
process_pump(struct process *p)
{
    process_pump_in(p);
    process_pump_out(p, false);
}

/* --- ends */

/* Children of the process may still write. Their output is discarded, and
 * writers that wait for the caller are woken. */
static void
process_drop_output(OWN struct capture *c)
{
    if (!c)
        return;
    c->on_bytes = NULL;
    c->window = NULL;
    capture_wake(c);
    capture_put(c);
}

/* Reports the remaining output before the exit code. on_exit is called last and
 * without the lock, because it may call functions of the library. By then the
 * process may have been freed. */
static void
process_end(struct process *p, int exit_code)
{
    struct processes *ps = &p->sb->processes;
    uint64_t id = p->id;
    void (*on_exit)(void *arg, uint64_t id, int exit_code) = p->on_exit;
    void *arg = p->arg;

    process_pump_out(p, true);
    process_drop_output(STEAL(p->out));
    process_drop_output(STEAL(p->err));
    process_drop_output(STEAL(p->results));
    process_close_input(p);
    pthread_mutex_lock(&ps->lock);
    p->exit_code = exit_code;
    list_remove(&p->link);
    list_push_back(&ps->ended, &p->link);
    if (++ps->n_ended > ENDED_KEPT) {
        process_free(CONTAINER_OF(ps->ended.next, struct process, link));
        ps->n_ended--;
    }
    pthread_mutex_unlock(&ps->lock);
    if (on_exit)
        on_exit(arg, id, exit_code);
}

/* is_due is cleared first, so that an event during this function leads to
 * another lease. */
void
processes_pump(struct wsand_sandbox *sb)
{
    struct processes *ps = &sb->processes;

    if (!ps->is_due)
        return;
    ps->is_due = false;
    LIST_FOR_EACH_SAFE(it, &ps->running) {
        struct process *p = CONTAINER_OF(it, struct process, link);
        int status;
        process_pump(p);
        if (kernel_reap(sb->kernel, p->pid, &status) == 0)
            process_end(p, status & 0x7f ? 128 + (status & 0x7f)
                                         : status >> 8 & 0xff);
    }
}

void
processes_end(struct wsand_sandbox *sb)
{
    LIST_FOR_EACH_SAFE(it, &sb->processes.running) {
        struct process *p = CONTAINER_OF(it, struct process, link);
        kernel_kill(sb->kernel, p->tag, SIGKILL);
        process_end(p, 128 + SIGKILL);
    }
}

/* A child of init has changed its state; processes_pump finds out which. */
static void
process_on_child_event(struct waiter *w)
{
    struct wsand_sandbox *sb =
        CONTAINER_OF(w, struct wsand_sandbox, processes.on_end);

    sb->processes.is_due = true;
    kernel_poke(sb->kernel);
}

/* The waiter stays in init's queue after it was woken, until the kernel is
 * freed. */
void
processes_init(struct processes *ps)
{
    pthread_mutex_init(&ps->lock, NULL);
    list_init(&ps->running);
    list_init(&ps->ended);
    ps->on_end.wake = process_on_child_event;
    ps->on_end.stays = true;
    list_init(&ps->on_end.link);
}

void
processes_fini(struct processes *ps)
{
    LIST_FOR_EACH_SAFE(it, &ps->ended)
        process_free(CONTAINER_OF(it, struct process, link));
    pthread_mutex_destroy(&ps->lock);
}

/* --- mail */

static void
process_deliver_input(struct process *p, OWN struct letter *l)
{
    list_push_back(&p->letters, &l->link);
    if (p->in)
        process_pump(p);
    else
        process_drop_letter(p, l);
}

static void
process_deliver_resize(struct process *p, OWN struct letter *l)
{
    if (p->tty)
        tty_set_winsize(p->tty, &l->size);
    free(l);
}

/* The signal goes to all processes with the tag, so that it reaches
 * descendants. A hang-up also closes the terminal, as when a user closes its
 * window. */
static void
process_deliver_kill(struct process *p, OWN struct letter *l)
{
    kernel_kill(p->sb->kernel, p->tag, l->sig);
    if (l->sig == SIGHUP && p->tty)
        tty_hangup(p->tty);
    free(l);
}

static void
process_deliver_resume(struct process *p, OWN struct letter *l)
{
    capture_wake(p->out);
    capture_wake(p->err);
    if (p->results)
        capture_wake(p->results);
    process_pump(p);
    free(l);
}

/* Passes a letter to its process. The process may have ended since the letter
 * was sent. */
static void
process_deliver(struct wsand_sandbox *sb, OWN struct mail *m)
{
    static void (*const deliver_to[])(struct process *, struct letter *) = {
        [LETTER_INPUT] = process_deliver_input,
        [LETTER_RESIZE] = process_deliver_resize,
        [LETTER_KILL] = process_deliver_kill,
        [LETTER_RESUME] = process_deliver_resume,
    };
    struct letter *l = CONTAINER_OF(m, struct letter, mail);
    struct process *p = process_find(sb, l->id);

    if (p)
        deliver_to[l->kind](p, l);
    else
        free(l);
}

/* The data is copied, because it is delivered after the caller has returned. */
static OWN struct letter *
letter_new(uint64_t id, enum letter_kind kind, const void *data, size_t len)
{
    struct letter *l = calloc(1, sizeof *l + len);

    if (!l)
        return NULL;
    list_init(&l->link);
    l->mail.deliver = process_deliver;
    l->id = id;
    l->kind = kind;
    l->len = len;
    if (len)
        memcpy(l->data, data, len);
    return l;
}

/* Reserves space for n bytes of input, or for its end (n is 0). Called with the
 * lock held. A terminal may get any number of ends, a pipe only one. */
static int
process_reserve_input(struct process *p, size_t n)
{
    if (p->in_is_ended)
        return -EPIPE;
    if (p->in_bytes + n > IN_BYTES_MAX)
        return -EAGAIN;
    p->in_bytes += n;
    p->in_is_ended = !n && !p->is_pty;
    return 0;
}

/* Checks what can be checked at once, so that the caller gets an error and not
 * silence. */
static int
process_send_letter(struct wsand_sandbox *sb, OWN struct letter *l,
                    struct wsand_error *err)
{
    if (!l)
        return error_set(err, ENOMEM, "out of memory");
    pthread_mutex_lock(&sb->processes.lock);
    struct process *p = process_find(sb, l->id);
    int r = p ? 0 : -ESRCH;
    if (p && l->kind == LETTER_RESIZE && !p->is_pty)
        r = -ENOTTY;
    if (p && l->kind == LETTER_INPUT)
        r = process_reserve_input(p, l->len);
    pthread_mutex_unlock(&sb->processes.lock);
    if (r < 0) {
        r = error_errno(err, -r, "process %llu", (unsigned long long)l->id);
        free(l);
        return r;
    }
    mail_send(sb, &l->mail);
    return 0;
}

/* --- the functions */

int
wsand_process_write(struct wsand_sandbox *sb, uint64_t id, const void *data,
                    size_t len, struct wsand_error *err)
{
    if (len > IN_BYTES_MAX)
        return error_set(err, EMSGSIZE, "more than %d bytes at once",
                         IN_BYTES_MAX);
    return process_send_letter(sb, letter_new(id, LETTER_INPUT, data, len),
                               err);
}

int
wsand_process_resize(struct wsand_sandbox *sb, uint64_t id, uint16_t rows,
                     uint16_t cols, struct wsand_error *err)
{
    struct letter *l = letter_new(id, LETTER_RESIZE, NULL, 0);

    if (l)
        l->size = (struct tty_winsize){.rows = rows, .cols = cols};
    return process_send_letter(sb, l, err);
}

int
wsand_process_kill(struct wsand_sandbox *sb, uint64_t id, int sig,
                   struct wsand_error *err)
{
    struct letter *l = NULL;

    if (sig <= 0 || sig > NSIG_MAX)
        return error_set(err, EINVAL, "no such signal: %d", sig);
    l = letter_new(id, LETTER_KILL, NULL, 0);
    if (l)
        l->sig = sig;
    return process_send_letter(sb, l, err);
}

int
wsand_process_resume(struct wsand_sandbox *sb, uint64_t id,
                     struct wsand_error *err)
{
    return process_send_letter(sb, letter_new(id, LETTER_RESUME, NULL, 0), err);
}

static void
process_count(const struct list *list, size_t *n, size_t *bytes)
{
    LIST_FOR_EACH(it, list) {
        *bytes += strlen(CONTAINER_OF(it, struct process, link)->command) + 1;
        ++*n;
    }
}

/* Fills the entries of one list. Returns the position of the next text. */
static char *
process_describe(const struct list *list, bool has_ended,
                 struct wsand_process *v, char *text)
{
    LIST_FOR_EACH(it, list) {
        const struct process *p = CONTAINER_OF(it, struct process, link);
        *v++ = (struct wsand_process){.id = p->id,
                                      .command = text,
                                      .is_pty = p->is_pty,
                                      .has_ended = has_ended,
                                      .exit_code = p->exit_code};
        text = stpcpy(text, p->command) + 1;
    }
    return text;
}

/* Copies both lists into one allocation. Called with the lock held. */
static OWN struct wsand_process *
process_copy_lists(const struct processes *ps, size_t *ret_n)
{
    size_t n = 0, bytes = 0;

    process_count(&ps->ended, &n, &bytes);
    size_t n_ended = n;
    process_count(&ps->running, &n, &bytes);
    struct wsand_process *v = calloc(1, (n + 1) * sizeof *v + bytes);
    if (!v)
        return NULL;
    char *text = process_describe(&ps->ended, true, v, (char *)(v + n + 1));
    (void)process_describe(&ps->running, false, v + n_ended, text);
    *ret_n = n;
    return v;
}

int
wsand_process_list(struct wsand_sandbox *sb, struct wsand_process **ret,
                   size_t *ret_n, struct wsand_error *err)
{
    struct processes *ps = &sb->processes;

    pthread_mutex_lock(&ps->lock);
    struct wsand_process *v = process_copy_lists(ps, ret_n);
    pthread_mutex_unlock(&ps->lock);
    if (!v)
        return error_set(err, ENOMEM, "out of memory");
    *ret = v;
    return 0;
}
