/* SPDX-License-Identifier: MIT */
/* lsof: the open files of processes, from /proc. */
#include "sockets.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LIST_MAX = 64, COMMAND_BYTES = 9, NAME_BYTES = 1024 };

static struct request {
    struct filter nets[LIST_MAX];
    size_t n_nets;
    const char *pids, *users, *commands;
    bool wants_net, wants_unix, is_all; /* is_all: -a */
    bool is_terse, no_hosts, no_services;
    char **files;
    bool found_file[LIST_MAX];
} q;

static bool has_found, has_header;

struct process {
    long pid;
    char command[32], user[32];
    bool is_wanted; /* by -p, -u or -c */
};

struct row {
    char fd[16], type[8], device[24], size[24], node[24], name[NAME_BYTES];
    unsigned long inode;
    dev_t dev;
    const struct socket *socket;
};

static const char help[] =
    "usage: lsof [-aknPtU] [-c NAME] [-i [46][tcp|udp][@HOST][:PORTS]] "
    "[-p PIDS]\n"
    "            [-u USERS] [--] [FILE]...\n"
    "Lists the open files of processes: those that any of the options asks "
    "for,\n"
    "with -a those that all of them do.\n";

/* --- what is asked for */

/* Is it one of the words between commas? Those with ^ are not. */
static bool
is_listed(const char *list, const char *word, const char *other)
{
    bool has_others = false;

    for (const char *p = list; *p; p += *p == ',') {
        bool is_not = *p == '^';
        p += is_not;
        size_t len = strcspn(p, ",");
        bool is_it = (strlen(word) == len && !strncmp(p, word, len)) ||
                     (other && strlen(other) == len && !strncmp(p, other, len));
        if (is_it)
            return !is_not;
        has_others |= is_not;
        p += len;
    }
    return has_others;
}

static bool
asks_for_processes(void)
{
    return q.pids || q.users || q.commands;
}

static bool
is_process_wanted(const struct process *p, const char *uid)
{
    char pid[24];
    int asked = 0, met = 0;

    (void)snprintf(pid, sizeof pid, "%ld", p->pid);
    if (q.pids)
        asked++, met += is_listed(q.pids, pid, NULL);
    if (q.users)
        asked++, met += is_listed(q.users, p->user, uid);
    if (q.commands)
        asked++, met += !strncmp(p->command, q.commands, strlen(q.commands));
    return q.is_all ? met == asked : met > 0;
}

static bool
is_net_wanted(const struct socket *s)
{
    if (!s || !q.wants_net || s->family == AF_UNIX)
        return s && q.wants_unix && s->family == AF_UNIX;
    for (size_t i = 0; i < q.n_nets; i++)
        if (filter_matches(&q.nets[i], s))
            return true;
    return !q.n_nets;
}

static bool
is_file_wanted(const struct row *r)
{
    struct stat st;
    bool is_wanted = false;

    for (size_t i = 0; q.files[i] && i < LIST_MAX; i++)
        if (!r->socket && stat(q.files[i], &st) == 0 && st.st_ino == r->inode &&
            st.st_dev == r->dev)
            q.found_file[i] = is_wanted = true;
    return is_wanted;
}

static bool
is_wanted(const struct process *p, const struct row *r)
{
    bool nets = q.wants_net || q.wants_unix, files = q.files[0] != NULL;
    bool processes = asks_for_processes();

    if (!nets && !files && !processes)
        return true;
    bool net = nets && is_net_wanted(r->socket);
    bool file = files && is_file_wanted(r);
    if (q.is_all)
        return (!nets || net) && (!files || file) &&
               (!processes || p->is_wanted);
    return net || file || (processes && p->is_wanted);
}

/* --- rows */

static void
print_row(const struct process *p, const struct row *r)
{
    static long last;

    has_found = true;
    if (q.is_terse) {
        if (last != p->pid)
            printf("%ld\n", p->pid);
        last = p->pid;
        return;
    }
    if (!has_header)
        printf("%-9s %5s %8s %4s %7s %8s %9s %8s %s\n", "COMMAND", "PID",
               "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF", "NODE", "NAME");
    has_header = true;
    printf("%-9.9s %5ld %8s %5s %6s %8s %9s %8s %s\n", p->command, p->pid,
           p->user, r->fd, r->type, r->device, r->size, r->node, r->name);
}

static void
describe_socket(struct row *r)
{
    const struct socket *s = r->socket;

    (void)snprintf(r->device, sizeof r->device, "%lu", r->inode);
    (void)snprintf(r->size, sizeof r->size, "0t0");
    (void)snprintf(r->type, sizeof r->type, "%s",
                   !s                     ? "sock"
                   : s->family == AF_UNIX ? "unix"
                   : s->family == AF_INET ? "IPv4"
                                          : "IPv6");
    if (!s)
        return;
    if (s->family != AF_UNIX)
        (void)snprintf(r->node, sizeof r->node, "%s",
                       s->is_udp ? "UDP" : "TCP");
    else
        (void)snprintf(r->node, sizeof r->node, "%lu", r->inode);
    socket_name(s, !q.no_hosts, !q.no_services, r->name, sizeof r->name);
}

static const char *
type_name(mode_t mode)
{
    return S_ISREG(mode)    ? "REG"
           : S_ISDIR(mode)  ? "DIR"
           : S_ISCHR(mode)  ? "CHR"
           : S_ISFIFO(mode) ? "FIFO"
                            : "unknown";
}

/* Describes the target of a link of /proc. Returns false if it is gone. */
static bool
describe(const char *path, struct row *r)
{
    struct stat st;
    ssize_t n = readlink(path, r->name, sizeof r->name - 1);

    if (n < 0 || stat(path, &st) < 0)
        return false;
    r->name[n] = 0;
    r->inode = st.st_ino;
    r->dev = st.st_dev;
    if (sscanf(r->name, "socket:[%lu]", &r->inode) == 1) {
        r->socket = socket_find(r->inode);
        describe_socket(r);
        return true;
    }
    bool is_anon = !strncmp(r->name, "anon_inode:", 11);
    dev_t dev = S_ISCHR(st.st_mode) ? st.st_rdev : st.st_dev;
    (void)snprintf(r->type, sizeof r->type, "%s",
                   is_anon ? "a_inode" : type_name(st.st_mode));
    (void)snprintf(r->device, sizeof r->device, "%u,%u", major(dev),
                   minor(dev));
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        (void)snprintf(r->size, sizeof r->size, "%lld", (long long)st.st_size);
    else
        (void)snprintf(r->size, sizeof r->size, "0t0");
    (void)snprintf(r->node, sizeof r->node, "%lu", r->inode);
    if (!strncmp(r->name, "pipe:", 5))
        (void)snprintf(r->name, sizeof r->name, "pipe");
    return true;
}

static void
look_at(const struct process *p, const char *path, const char *fd)
{
    struct row r = {0};

    (void)snprintf(r.fd, sizeof r.fd, "%s", fd);
    if (describe(path, &r) && is_wanted(p, &r))
        print_row(p, &r);
}

/* --- processes */

/* r, w or u: how a descriptor is open. */
static char
access_of(long pid, const char *fd)
{
    char path[64], line[128];
    unsigned flags = 0;

    (void)snprintf(path, sizeof path, "/proc/%ld/fdinfo/%s", pid, fd);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "flags: %o", &flags) == 1)
            break;
    if (f)
        fclose(f);
    return "rwuu"[flags & O_ACCMODE];
}

static int
by_number(const struct dirent **a, const struct dirent **b)
{
    return atoi((*a)->d_name) - atoi((*b)->d_name);
}

static int
is_number(const struct dirent *d)
{
    return isdigit((unsigned char)d->d_name[0]);
}

static void
list_fds(const struct process *p)
{
    char path[320], fd[16];
    struct dirent **v;

    (void)snprintf(path, sizeof path, "/proc/%ld/fd", p->pid);
    int n = scandir(path, &v, is_number, by_number);
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "/proc/%ld/fd/%s", p->pid,
                       v[i]->d_name);
        (void)snprintf(fd, sizeof fd, "%.10s%c", v[i]->d_name,
                       access_of(p->pid, v[i]->d_name));
        look_at(p, path, fd);
        free(v[i]);
    }
    if (n >= 0)
        free(v);
}

static bool
read_process(long pid, struct process *ret)
{
    char path[64], uid[16];
    struct stat st;

    *ret = (struct process){.pid = pid};
    (void)snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    if (fgets(ret->command, sizeof ret->command, f))
        ret->command[strcspn(ret->command, "\n")] = 0;
    bool is_there = fstat(fileno(f), &st) == 0;
    fclose(f);
    (void)snprintf(uid, sizeof uid, "%u", st.st_uid);
    const struct passwd *pw = getpwuid(st.st_uid);
    (void)snprintf(ret->user, sizeof ret->user, "%s", pw ? pw->pw_name : uid);
    ret->is_wanted = is_process_wanted(ret, uid);
    return is_there;
}

static void
list_process(long pid)
{
    static const char *const links[][2] = {
        {"cwd", "cwd"}, {"root", "rtd"}, {"exe", "txt"}};
    struct process p;
    char path[64];

    if (!read_process(pid, &p))
        return;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        (void)snprintf(path, sizeof path, "/proc/%ld/%s", pid, links[i][0]);
        look_at(&p, path, links[i][1]);
    }
    list_fds(&p);
}

/* --- the command line */

/* -i may stand alone: its argument is the next word only if it looks like one.
 */
static void
take_net(int argc, char **argv)
{
    const char *text = optarg;

    q.wants_net = true;
    if (!text && optind < argc && strchr(":@46tuTU", argv[optind][0]) &&
        access(argv[optind], F_OK) < 0)
        text = argv[optind++];
    if (!text || q.n_nets == LIST_MAX)
        return;
    if (!filter_parse(text, &q.nets[q.n_nets++]))
        errx(1, "unacceptable Internet address: -i %s", text);
}

static void
parse(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "+ac:i::klnNPp:stTu:Uwh")) != -1) {
        switch (c) {
        case 'a':
            q.is_all = true;
            break;
        case 'c':
            q.commands = optarg;
            break;
        case 'i':
            take_net(argc, argv);
            break;
        case 'n':
            q.no_hosts = true;
            break;
        case 'P':
            q.no_services = true;
            break;
        case 'p':
            q.pids = optarg;
            break;
        case 't':
            q.is_terse = true;
            break;
        case 'u':
            q.users = optarg;
            break;
        case 'U':
            q.wants_unix = true;
            break;
        case 'h':
            fputs(help, stdout);
            exit(0);
        case '?':
            fputs(help, stderr);
            exit(1);
        default: /* of how things are shown */
            break;
        }
    }
    q.files = argv + optind;
}

static int
check_files(void)
{
    int status = 0;

    for (size_t i = 0; q.files[i] && i < LIST_MAX; i++) {
        if (access(q.files[i], F_OK) < 0)
            warn("status error on %s", q.files[i]);
        status |= !q.found_file[i];
    }
    return status;
}

int
main(int argc, char **argv)
{
    struct dirent **v;

    parse(argc, argv);
    sockets_read();
    int n = scandir("/proc", &v, is_number, by_number);
    if (n < 0)
        err(1, "/proc");
    for (int i = 0; i < n; i++)
        list_process(atol(v[i]->d_name));
    return check_files() || !has_found;
}
