/* Sessions, as a client in C sees them: the best of many times.
 *
 * usage: sessions SUPERVISOR FOLDER   (an empty folder, on the disk) */
#include "../rpc/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STARTS = 10,
    CREATES = 40,
    ROUNDS = 1500,
    RESUMES = 15,
    CROWD = 1000,
    ID_BYTES = 33,
    BIRTH_US = 600000 /* then the pool has a worker ready again */
};

extern char **environ;

#define HEAD "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"

static void
note_best(double *best, double us)
{
    if (*best == 0 || us < *best)
        *best = us;
}

static void
report(const char *name, double value, const char *unit)
{
    printf("%s %.3f %s\n", name, value, unit);
    fflush(stdout);
}

/* --- the supervisor */

static pid_t
start(const char *supervisor, const char *folder)
{
    char socket[256], store[256];
    const char *argv[] = {supervisor,
                          "serve",
                          "--socket",
                          socket,
                          "--store-dir",
                          store,
                          "--pool-size",
                          "2",
                          "--log-level",
                          "error",
                          "--max-active",
                          "2000",
                          "--idle-pause-s",
                          "0",
                          NULL};
    pid_t pid;

    snprintf(socket, sizeof socket, "%s/socket", folder);
    snprintf(store, sizeof store, "%s/store", folder);
    errno =
        posix_spawn(&pid, supervisor, NULL, NULL, (char *const *)argv, environ);
    if (errno)
        die(supervisor);
    return pid;
}

static void
connect_to(struct peer *p, const char *folder)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int hfd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%s/socket", folder);
    for (int i = 0; connect(hfd, (void *)&at, sizeof at) < 0; i++) {
        if (i == 10000)
            die(at.sun_path);
        usleep(1000);
    }
    *p = (struct peer){
        .in_hfd = hfd, .out_hfd = hfd, .cap = 1 << 16, .buf = malloc(1 << 16)};
    if (!p->buf)
        die("memory");
}

static void
stop(struct peer *p, pid_t pid)
{
    close(p->in_hfd);
    free(p->buf);
    kill(pid, SIGTERM);
    if (waitpid(pid, NULL, 0) != pid)
        die("the supervisor");
}

/* --- requests */

static double __attribute__((format(printf, 2, 3)))
ask(struct peer *p, const char *format, ...)
{
    static char line[16384];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return peer_ask(p, line);
}

static void
take_id(const struct peer *p, char id[ID_BYTES])
{
    static const char mark[] = "\"sessionId\":\"";
    const char *at = memmem(p->buf, p->len, mark, sizeof mark - 1);

    if (!at)
        die("no id");
    memcpy(id, at + sizeof mark - 1, ID_BYTES - 1);
    id[ID_BYTES - 1] = 0;
}

static double
create(struct peer *p, const char *durability, char id[ID_BYTES])
{
    double us = ask(p,
                    HEAD "\"session.create\",\"params\":{\"durability\":"
                         "\"%s\",\"limits\":{\"memoryMb\":128,\"diskMb\":128}"
                         "}}\n",
                    durability);
    take_id(p, id);
    return us;
}

static double
run(struct peer *p, const char *id, const char *command)
{
    return ask(p,
               HEAD "\"run\",\"params\":{\"sessionId\":\"%s\",\"command\":"
                    "\"%s\"}}\n",
               id, command);
}

static double
change(struct peer *p, const char *word, const char *id)
{
    return ask(p, HEAD "\"session.%s\",\"params\":{\"sessionId\":\"%s\"}}\n",
               word, id);
}

/* --- rows */

/* From its exec until a client is connected; workers are ready then. */
static void
bench_start(const char *supervisor, const char *folder)
{
    double best_us = 0;

    for (int i = 0; i < STARTS; i++) {
        struct peer p;
        double begin = now_us();
        pid_t pid = start(supervisor, folder);
        connect_to(&p, folder);
        note_best(&best_us, now_us() - begin);
        stop(&p, pid);
    }
    report("serve start", best_us / 1000, "ms");
}

static void
bench_create(struct peer *p)
{
    double best_us = 0;
    char id[ID_BYTES];

    for (int i = 0; i < CREATES; i++) {
        usleep(BIRTH_US);
        double us = create(p, "full", id);
        note_best(&best_us, us + run(p, id, "echo a"));
        change(p, "end", id);
    }
    report("session create + run", best_us / 1000, "ms");
}

static double
best_run(struct peer *p, const char *durability)
{
    double best_us = 0;
    char id[ID_BYTES];

    create(p, durability, id);
    run(p, id, "true");
    for (int i = 0; i < ROUNDS; i++)
        note_best(&best_us, run(p, id, "true"));
    change(p, "end", id);
    return best_us;
}

static void
bench_status(struct peer *p)
{
    double best_us = 0;
    char id[ID_BYTES];

    create(p, "full", id);
    for (int i = 0; i < ROUNDS; i++)
        note_best(&best_us, ask(p,
                                HEAD "\"status\",\"params\":{\"sessionId\":"
                                     "\"%s\"}}\n",
                                id));
    change(p, "end", id);
    report("session status", best_us, "us");
}

/* One small append and one fdatasync, on the same disk. */
static double
sync_us(int hfd)
{
    static char block[4096];
    double begin = now_us();

    if (write(hfd, block, sizeof block) != sizeof block || fdatasync(hfd) < 0)
        die("fdatasync");
    return now_us() - begin;
}

static void
bench_write(struct peer *p, const char *folder)
{
    double best_us = 0, disk_us = 0;
    char id[ID_BYTES], path[256];

    snprintf(path, sizeof path, "%s/sync", folder);
    int hfd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (hfd < 0)
        die(path);
    create(p, "full", id);
    for (int i = 0; i < ROUNDS; i++) {
        note_best(&disk_us, sync_us(hfd));
        note_best(&best_us,
                  ask(p,
                      HEAD "\"files.write\",\"params\":{\"sessionId\":\"%s\""
                           ",\"path\":\"/home/user/f\",\"data\":\"%08d\"}}\n",
                      id, i));
    }
    close(hfd);
    change(p, "end", id);
    report("session fdatasync", disk_us, "us");
    report("session files.write", best_us, "us");
    report("session files.write x", best_us / disk_us, "x");
}

static void
bench_resume(struct peer *p)
{
    double best_us = 0;
    char id[ID_BYTES];

    create(p, "full", id);
    run(p, id,
        "mkdir d; for ((i = 0; i < 9900; i++)); do echo $i > d/$i; done");
    for (int i = 0; i < RESUMES; i++) {
        change(p, "pause", id);
        usleep(BIRTH_US);
        note_best(&best_us, change(p, "resume", id));
    }
    change(p, "end", id);
    report("session resume", best_us / 1000, "ms");
}

static double
rss_mb(pid_t pid)
{
    char path[64], line[256];
    long kb = 0;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        die(path);
    while (fgets(line, sizeof line, f))
        (void)sscanf(line, "VmRSS: %ld", &kb);
    fclose(f);
    return (double)kb / 1000;
}

static void
bench_crowd(struct peer *p, pid_t pid)
{
    char id[ID_BYTES];
    double best_us = 0;

    create(p, "full", id);
    run(p, id, "x=1; echo a > f");
    change(p, "pause", id);
    for (int i = 1; i < CROWD; i++)
        note_best(&best_us, change(p, "fork", id));
    report("session fork", best_us, "us");
    report("supervisor RSS", rss_mb(pid), "MB");
}

int
main(int argc, char **argv)
{
    struct peer p;

    if (argc != 3)
        return 2;
    bench_start(argv[1], argv[2]);
    pid_t pid = start(argv[1], argv[2]);
    connect_to(&p, argv[2]);
    bench_create(&p);
    bench_status(&p);
    report("session run true, full", best_run(&p, "full"), "us");
    report("session run true, interval", best_run(&p, "interval"), "us");
    bench_write(&p, argv[2]);
    bench_resume(&p);
    bench_crowd(&p, pid);
    stop(&p, pid);
    return 0;
}
