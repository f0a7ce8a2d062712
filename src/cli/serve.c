/* wasm-sandbox without a sub-command: parses the options of the server
 * (rpc/server.h) and starts it on standard input and output.
 *
 * Only the form of the options is checked here. The files that they name are
 * read by the server, which reports errors in them. Folders are the exception:
 * see serve_add_folder. */
#include "cli/cli.h"

#include "rpc/server.h"
#include "wasmsand.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of --tools, and of --allow-mount. */
enum { FOLDERS_MAX = 32 };

/* Square brackets contain the default. main.c prints the text, followed by the
 * list of sub-commands. */
const char serve_options_help[] =
    "  --memory-limit MB        memory of the root sandbox [64; with `create` "
    "512]\n"
    "  --timeout-ms N           time limit of a command [30000; line protocol "
    "5000]\n"
    "  --fs-limit BYTES         maximum bytes in files [268435456]\n"
    "  --root IMAGE             root image, a tar file\n"
    "  --image NAME             root image of sandboxes that name none "
    "[default]\n"
    "  --images LIST            further root images, NAME=PATH,... (also "
    "WASMSAND_IMAGES)\n"
    "  --tools DIR              make the programs (*.wasm) of a host folder "
    "commands\n"
    "  --allow-mount DIR        allow mounting host folders under DIR\n"
    "  --config FILE            read the parameters of `create`, as JSON\n"
    "  --resolvers LIST         name servers of networks, with commas between "
    "them\n"
    "                           [the host's]\n"
    "  --mode simple|v86        v86: an emulated i386 Linux computer "
    "[simple]\n"
    "  --disk-image FILE        for v86: its disk, which is never written\n"
    "  --disk-limit MB          for v86: maximum of changes to the disk "
    "[256]\n"
    "  --disk-overlay FILE      for v86: keeps the changes to the disk\n"
    "  --boot-timeout-ms N      for v86 [60000]\n"
    "  --jit on|off             for v86: compile hot code [on]\n"
    "  --log-level LEVEL        error, warn, info or debug [warn]\n"
    "  --help                   print this text\n"
    "  --version                print the version\n";

static const struct option options[] = {
    {"memory-limit", required_argument, NULL, 'M'},
    {"timeout-ms", required_argument, NULL, 't'},
    {"fs-limit", required_argument, NULL, 'f'},
    {"root", required_argument, NULL, 'r'},
    {"image", required_argument, NULL, 'i'},
    {"images", required_argument, NULL, 'I'},
    {"tools", required_argument, NULL, 'T'},
    {"allow-mount", required_argument, NULL, 'a'},
    {"config", required_argument, NULL, 'c'},
    {"resolvers", required_argument, NULL, 'R'},
    {"mode", required_argument, NULL, 'm'},
    {"disk-image", required_argument, NULL, 'd'},
    {"disk-limit", required_argument, NULL, 'd'},
    {"disk-overlay", required_argument, NULL, 'd'},
    {"boot-timeout-ms", required_argument, NULL, 'd'},
    {"jit", required_argument, NULL, 'd'},
    {"log-level", required_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {0},
};

/* The options, with space for lists and for the path of the root image. */
struct serve_command {
    struct server_options o;
    const char *tools[FOLDERS_MAX + 1], *allow_mount[FOLDERS_MAX + 1];
    char root[ROOT_PATH_BYTES];
    const char *images; /* of --images, or NULL */
    /* is_v86: the mode; has_v86_option: an option that only this mode has. */
    bool is_v86, has_v86_option;
};

/* Adds a folder to a list that ends with NULL. The folder is checked now,
 * because an error at the first request would come too late. Returns false
 * after reporting an error. */
static bool
serve_add_folder(const char *option, const char **list, const char *dir)
{
    size_t n = 0;

    while (list[n])
        n++;
    if (n == FOLDERS_MAX)
        complain("%s: more than %d", option, FOLDERS_MAX);
    else if (access(dir, R_OK | X_OK) < 0)
        complain("%s: %s: %s", option, dir, strerror(errno));
    else
        list[n] = dir;
    return list[n];
}

static bool
serve_parse_mode(struct serve_command *s, const char *arg)
{
    s->is_v86 = !strcmp(arg, "v86");
    if (s->is_v86 || !strcmp(arg, "simple"))
        return true;
    complain("--mode: '%s' is neither simple nor v86", arg);
    return false;
}

/* Levels are cumulative: `info` includes `warn` and `error`. */
static bool
serve_parse_level(struct server_options *o, const char *arg)
{
    static const char *const names[] = {[LOG_ERROR] = "error",
                                        [LOG_WARN] = "warn",
                                        [LOG_INFO] = "info",
                                        [LOG_DEBUG] = "debug"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(arg, names[i])) {
            o->log_level = (enum log_level)i;
            return true;
        }
    complain("--log-level: '%s' is not error, warn, info or debug", arg);
    return false;
}

/* Returns false after reporting an error. */
static bool
serve_parse_option(struct serve_command *s, int c, const char *arg)
{
    switch (c) {
    case 'M':
        return request_parse_number("memory-limit", arg, 1 << 20,
                                    &s->o.memory_bytes);
    case 't':
        return request_parse_number("timeout-ms", arg, 1, &s->o.timeout_ms);
    case 'f':
        return request_parse_number("fs-limit", arg, 1, &s->o.fs_bytes);
    case 'r':
        s->o.root_image = arg;
        return true;
    case 'i':
        s->o.image = arg;
        return true;
    case 'I':
        s->images = arg;
        return true;
    case 'T':
        return serve_add_folder("--tools", s->tools, arg);
    case 'a':
        return serve_add_folder("--allow-mount", s->allow_mount, arg);
    case 'c':
        s->o.config = arg;
        return true;
    case 'R':
        s->o.resolvers = arg;
        return true;
    case 'm':
        return serve_parse_mode(s, arg);
    case 'd':
        s->has_v86_option = true;
        return true;
    default:
        return serve_parse_level(&s->o, arg);
    }
}

/* Returns -1 to continue, otherwise the exit status. The server takes no other
 * arguments: a word that is left over is probably a misspelled command. */
static int
serve_parse(struct serve_command *s, int argc, char **argv)
{
    int c;

    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        if (c == 'h') {
            print_help();
            return 0;
        }
        if (c == 'v') {
            printf("wasm-sandbox %s\n", wsand_version());
            return 0;
        }
        if (c == ':')
            complain("%s needs a value", argv[optind - 1]);
        else if (c == '?')
            complain("unknown option '%s'; see wasm-sandbox --help",
                     argv[optind - 1]);
        if (c == ':' || c == '?' || !serve_parse_option(s, c, optarg))
            return EXIT_USAGE;
    }
    if (optind == argc)
        return -1;
    complain("unexpected '%s'; see wasm-sandbox --help", argv[optind]);
    return EXIT_USAGE;
}

/* The mode v86 is a program of its own, with the same options. It checks their
 * values. */
static int
serve_v86(char **argv)
{
    char path[ROOT_PATH_BYTES];

    if (!beside_find("libexec/wasmsand-v86", path, sizeof path)) {
        complain("--mode v86: libexec/wasmsand-v86 is not installed beside "
                 "this program; `make v86` builds it");
        return EXIT_USAGE;
    }
    argv[0] = path;
    (void)execv(path, argv);
    complain("%s: %s", path, strerror(errno));
    return EXIT_CANNOT_RUN;
}

/* A user who starts the server by hand sees no prompt, so one line explains
 * what it expects. */
int
cmd_serve(int argc, char **argv)
{
    static struct serve_command s;

    s.o = (struct server_options){.shipped_dir = beside_find_code(),
                                  .broker = beside_find_broker(),
                                  .tools = s.tools,
                                  .allow_mount = s.allow_mount,
                                  .log_level = LOG_WARN};
    int status = serve_parse(&s, argc, argv);
    if (status >= 0)
        return status;
    if (s.is_v86)
        return serve_v86(argv);
    if (s.has_v86_option) {
        complain("--disk-image, --disk-limit, --disk-overlay, "
                 "--boot-timeout-ms and --jit need "
                 "--mode v86");
        return EXIT_USAGE;
    }
    if (!s.o.root_image && beside_find_root(s.root, sizeof s.root))
        s.o.root_image = s.root;
    if (!s.o.root_image) {
        complain("no root image; `make rootfs` builds one, --root IMAGE names "
                 "one");
        return EXIT_USAGE;
    }
    if (!beside_find_images(s.images, &s.o.images, &s.o.n_images))
        return EXIT_USAGE;
    if (isatty(STDIN_FILENO))
        complain("reads requests, a JSON object on each line, until the end of "
                 "input; see wasm-sandbox --help");
    return server_main(&s.o, STDIN_FILENO, STDOUT_FILENO);
}
