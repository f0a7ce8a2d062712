/* post: fork */
/* Attempts to get out, through the host folders mounted at /rw and /ro. Beside
 * the mounted folder the host has a file "secret"; in it there are links to
 * that file, made by the host: absolute, relative, through a folder. */
#include "attack.h"

/* It cannot be opened, or has nothing of the secret in it. */
static void
try_path(const char *path)
{
    char buf[64] = "";
    int fd = open(path, O_RDONLY | O_NONBLOCK);

    if (fd < 0)
        return;
    (void)!read(fd, buf, sizeof buf - 1);
    close(fd);
    if (strstr(buf, "secret")) {
        dprintf(2, "%s leads to the secret\n", path);
        _exit(1);
    }
}

static void
dots(void)
{
    static const char *const paths[] = {
        "/rw/../secret",
        "/rw/../../secret",
        "/rw/sub/../../secret",
        "/rw/./sub/.././../secret",
        "/rw/sub/../../../../../../../../secret",
        "/ro/../secret",
        "/rw//..//secret",
        "/rw/missing/../../secret",
    };
    char path[4096] = "/rw";

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        try_path(paths[i]);
    for (int i = 0; i < 1000; i++)
        strcat(path, "/..");
    strcat(path, "/secret");
    try_path(path);
    CHECK(chdir("/rw/sub") == 0);
    for (int i = 0; i < 20; i++) {
        try_path("secret");
        CHECK(chdir("..") == 0);
    }
    int fd = open("/rw", O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0);
    CHECK(openat(fd, "../secret", O_RDONLY) < 0);
    CHECK(openat(fd, "../../secret", O_RDONLY) < 0);
    CHECK(fchdir(fd) == 0);
    try_path("../secret");
}

static void
links_of_the_host(void)
{
    static const char *const names[] = {"absolute", "relative", "folder/secret",
                                        "chain", "sub/up/secret"};
    char path[128];
    struct stat st;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "/rw/%s", names[i]);
        try_path(path);
        CHECK(stat(path, &st) < 0);
        CHECK(truncate(path, 0) < 0);
        CHECK(chmod(path, 0777) < 0);
        CHECK(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) < 0 ||
              unlink(path) == 0);
        snprintf(path, sizeof path, "/ro/%s", names[i]);
        try_path(path);
    }
    FAILS(open("/rw/folder", O_RDONLY | O_NOFOLLOW), ELOOP);
}

/* The guest may make any link; where it leads is decided inside. */
static void
own_links(void)
{
    static const char *const targets[] = {
        "../secret",
        "../../secret",
        "/rw/../secret",
        "/../secret",
        "sub/../../secret",
        "/proc/1/root/secret",
        "/proc/self/fd/0/../secret",
    };
    char name[64], deep[64];

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        snprintf(name, sizeof name, "/rw/own%zu", i);
        CHECK(symlink(targets[i], name) == 0);
        try_path(name);
        snprintf(deep, sizeof deep, "/rw/sub/own%zu", i);
        CHECK(rename(name, deep) == 0);
        try_path(deep);
        CHECK(unlink(deep) == 0);
    }
    CHECK(symlink("..", "/rw/upwards") == 0);
    try_path("/rw/upwards/secret");
    try_path("/rw/upwards/upwards/secret");
    CHECK(unlink("/rw/upwards") == 0);
}

static void
hard_links(void)
{
    FAILS(link("/rw/../secret", "/rw/hard"), ENOENT);
    if (link("/rw/absolute", "/rw/hard") == 0) {
        try_path("/rw/hard");
        CHECK(unlink("/rw/hard") == 0);
    }
    CHECK(linkat(AT_FDCWD, "/rw/absolute", AT_FDCWD, "/rw/hard",
                 AT_SYMLINK_FOLLOW) < 0);
    FAILS(link("/rw/file", "/tmp/hard"), EXDEV);
    FAILS(link("/bin/escapes", "/rw/hard"), EXDEV);
    FAILS(rename("/rw/file", "/tmp/moved"), EXDEV);
    FAILS(rename("/rw/file", "/ro/moved"), EXDEV);
    errno = 0;
    CHECK(rename("/rw", "/tmp/rw") < 0);
    CHECK(rmdir("/rw") < 0);
    CHECK(rename("/rw/sub", "/rw/../sub") < 0);
}

static void
through_proc(void)
{
    static const char *const names[] = {"secret", "../secret", "../../secret"};
    static const char *const places[] = {
        "/proc/1/root",    "/proc/self/root",         "/proc/1/cwd",
        "/proc/self/cwd",  "/proc/self/fd/%d",        "/dev/fd/%d",
        "/proc/1/exe",     "/proc/self/exe",          "/proc/self/fd/0",
        "/proc/self/fd/1", "/proc/self/fd/%d/sub/..",
    };
    int fd = open("/rw", O_RDONLY | O_DIRECTORY);
    char place[64], path[128];

    CHECK(fd >= 0 && chdir("/rw") == 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < 3; j++) {
            snprintf(place, sizeof place, places[i], fd);
            snprintf(path, sizeof path, "%s/%s", place, names[j]);
            try_path(path);
        }
    for (int pid = 1; pid < 400; pid++) {
        snprintf(path, sizeof path, "/proc/%d/root/etc/shadow", pid);
        try_path(path);
        snprintf(path, sizeof path, "/proc/%d/environ", pid);
        try_path(path);
    }
}

/* The host moves the folder we are in out of the mounted one. */
static void
moved_by_the_host(void)
{
    char c;
    int fd = open("/rw/sub/deep", O_RDONLY | O_DIRECTORY);

    CHECK(fd >= 0 && chdir("/rw/sub/deep") == 0);
    dprintf(1, "move\n");
    CHECK(read(0, &c, 1) == 1);
    try_path("../secret");
    try_path("../../secret");
    try_path("../../../secret");
    CHECK(openat(fd, "../secret", O_RDONLY) < 0);
    int created = open("../created", O_WRONLY | O_CREAT, 0600);
    if (created >= 0)
        close(created);
    DIR *d = opendir("..");
    for (struct dirent *e; d && (e = readdir(d));)
        CHECK(strcmp(e->d_name, "secret") != 0);
    CHECK(chdir("/") == 0);
}

/* Meanwhile the host makes "swap" a folder and a link to outside, in turn. */
static void
swapped_by_the_host(void)
{
    for (int i = 0; i < 20000; i++) {
        try_path("/rw/swap/secret");
        int fd = open("/rw/swap/made", O_WRONLY | O_CREAT, 0600);
        if (fd >= 0)
            close(fd);
    }
}

static void
special_files(void)
{
    static const char *const names[] = {"/rw/socket", "/rw/device"};
    struct stat st;

    /* A FIFO is a place to meet inside, and not the host's. */
    int fifo = open("/rw/fifo", O_RDWR | O_NONBLOCK);
    CHECK(fifo < 0 || write(fifo, "x", 1) == 1);
    for (size_t i = 0; i < 2; i++) {
        if (lstat(names[i], &st) < 0)
            continue;
        CHECK(open(names[i], O_RDONLY | O_NONBLOCK) < 0);
        CHECK(open(names[i], O_RDWR | O_NONBLOCK) < 0);
        CHECK(open(names[i], O_WRONLY | O_NONBLOCK) < 0);
        CHECK(truncate(names[i], 0) < 0);
    }
    CHECK(mkfifo("/rw/made", 0600) < 0);
    CHECK(mknod("/rw/made", S_IFCHR | 0666, 1 << 8 | 3) < 0);
    struct sockaddr_un a = {AF_UNIX, "/rw/made"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)bind(s, (void *)&a, sizeof a);
    strcpy(a.sun_path, "/rw/socket");
    CHECK(connect(s, (void *)&a, sizeof a) < 0);
}

static void
set_id_bits(void)
{
    int fd = open("/rw/made", O_RDWR | O_CREAT, 06777);

    CHECK(fd >= 0);
    (void)fchmod(fd, 07777);
    (void)chmod("/rw/made", 06755);
    CHECK(mkdir("/rw/made-dir", 06777) == 0);
    (void)chmod("/rw/made-dir", 07777);
    FAILS(chown("/rw/made", 0, 0), EPERM);
    (void)fallocate(fd, 0, 0, 10);
}

static void
read_only(void)
{
    struct timespec times[2] = {{0}};

    FAILS(open("/ro/file", O_WRONLY), EROFS);
    FAILS(open("/ro/file", O_RDWR), EROFS);
    FAILS(open("/ro/file", O_RDONLY | O_TRUNC), EROFS);
    FAILS(open("/ro/new", O_WRONLY | O_CREAT, 0600), EROFS);
    FAILS(open("/ro", O_TMPFILE | O_RDWR, 0600), EROFS);
    FAILS(truncate("/ro/file", 0), EROFS);
    FAILS(unlink("/ro/file"), EROFS);
    FAILS(mkdir("/ro/new", 0700), EROFS);
    FAILS(rmdir("/ro/sub"), EROFS);
    FAILS(rename("/ro/file", "/ro/new"), EROFS);
    FAILS(link("/ro/file", "/ro/new"), EROFS);
    FAILS(symlink("x", "/ro/new"), EROFS);
    FAILS(chmod("/ro/file", 0777), EROFS);
    FAILS(chown("/ro/file", 1000, 1000), EROFS);
    FAILS(utimensat(AT_FDCWD, "/ro/file", times, 0), EROFS);
    FAILS(mknod("/ro/new", S_IFREG | 0600, 0), EROFS);
    int fd = open("/ro/file", O_RDONLY);
    CHECK(fd >= 0);
    CHECK(write(fd, "x", 1) < 0);
    CHECK(ftruncate(fd, 0) < 0);
    FAILS(fchmod(fd, 0777), EROFS);
    FAILS(futimens(fd, times), EROFS);
    CHECK(fallocate(fd, 0, 0, 10) < 0);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FAILS(open(path, O_WRONLY), EROFS);
    FAILS(open(path, O_RDONLY | O_TRUNC), EROFS);
}

/* Only 0, 1 and 2 came with us; REPORT_FD is our own. */
static void
host_descriptors(void)
{
    int found = 0;
    DIR *d;

    for (int fd = 3; fd < 1024; fd++)
        if (fd != REPORT_FD)
            FAILS(fcntl(fd, F_GETFD), EBADF);
    d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        found += e->d_name[0] != '.';
    CHECK(found == 5);
}

/* Nothing tells about the host's user, folder or environment. */
static void
host_identity(void)
{
    static const char *const files[] = {
        "/proc/self/environ", "/proc/1/environ", "/proc/mounts",
        "/proc/self/mounts",  "/proc/1/cmdline", "/proc/self/status",
        "/proc/self/maps",    "/proc/version",
    };
    static char buf[65536];

    CHECK(getenv("HOST_SECRET") == NULL);
    CHECK(getuid() == 1000 && getgid() == 1000);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int fd = open(files[i], O_RDONLY);
        ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof buf - 1);
        for (ssize_t j = 0; j < n; j++)
            buf[j] = buf[j] ? buf[j] : ' ';
        buf[n < 0 ? 0 : n] = 0;
        if (strstr(buf, "secret")) {
            dprintf(2, "%s tells: %s\n", files[i], buf);
            _exit(1);
        }
        close(fd);
    }
}

/* A deep tree on the host, with a name too long for one path. */
static void
deep_on_the_host(void)
{
    CHECK(chdir("/rw") == 0);
    for (int i = 0; i < 1000; i++)
        CHECK(mkdir("level", 0700) == 0 && chdir("level") == 0);
    int fd = open("file", O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0);
    CHECK(unlink("file") == 0);
    for (int i = 0; i < 1000; i++)
        CHECK(chdir("..") == 0 && rmdir("level") == 0);
}

/* More open files than the host process may have. */
static void
many_host_files(void)
{
    for (int i = 0; i < 10; i++) {
        while (open("/rw/file", O_RDONLY) >= 0)
            ;
        CHECK(errno == EMFILE || errno == ENFILE);
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid)
            pause();
        for (int fd = 3; fd < 1024; fd++)
            if (fd != REPORT_FD)
                close(fd);
    }
    reached();
    pause();
}

static const struct attack attacks[] = {
#define ATTACK(name) \
    {                \
#name, name  \
    }
    ATTACK(dots),
    ATTACK(links_of_the_host),
    ATTACK(own_links),
    ATTACK(hard_links),
    ATTACK(through_proc),
    ATTACK(moved_by_the_host),
    ATTACK(swapped_by_the_host),
    ATTACK(special_files),
    ATTACK(set_id_bits),
    ATTACK(read_only),
    ATTACK(host_descriptors),
    ATTACK(host_identity),
    ATTACK(deep_on_the_host),
    ATTACK(many_host_files),
    {NULL, NULL},
};
