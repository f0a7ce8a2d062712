/* The command `fsck`: prints the findings of the store's check, and checks the
 * root images beside the store. store/fsck.c does the
 * work. */
#include "supervisor/fsck.h"

#include "base/buf.h"
#include "store/store.h"
#include "supervisor/config/config.h"
#include "supervisor/session/images.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: wasm-sandbox session fsck [--store DIR] [--repair]\n"
    "Verifies a store that no supervisor uses: all chunks, all references, the "
    "inode\n"
    "tables of all sessions, and the root images beside the store. Prints one "
    "line for\n"
    "each finding: session, path, problem. A damaged file does not affect "
    "others.\n"
    "\n"
    "  --store DIR   the folder of the store [as configured]\n"
    "  --repair      replace damaged files by empty ones and damaged shells "
    "by new\n"
    "                ones, and correct references and figures\n";

enum { PATH_BYTES = 1200 };

/* The options of the command. */
struct words {
    const char *store;
    bool repair, help;
};

/* The number of findings, for the last line and the exit status. */
struct fsck_tally {
    unsigned found, repaired;
};

/* Names inside a store come from guests, so control characters are replaced. */
static void
fsck_print(const char *text)
{
    for (const char *p = text; *p; p++)
        putchar((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
}

/* One line: the session, the path, the problem, and whether it was repaired. */
static void
fsck_print_finding(void *arg, const struct store_finding *f)
{
    struct fsck_tally *t = arg;

    if (*f->session) {
        printf("session ");
        fsck_print(f->session);
        printf(": ");
    }
    if (*f->path) {
        fsck_print(f->path);
        printf(": ");
    }
    fsck_print(f->what);
    puts(f->is_repaired ? " (repaired)" : "");
    t->found++;
    t->repaired += f->is_repaired;
}

/* The only command of the supervisor with so few options that a table would be
 * longer. */
static int
fsck_parse(char **words, struct words *ret)
{
    for (; *words; words++) {
        if (!strcmp(*words, "--help")) {
            ret->help = true;
        } else if (!strcmp(*words, "--repair")) {
            ret->repair = true;
        } else if (!strcmp(*words, "--store") && words[1]) {
            ret->store = *++words;
        } else {
            fprintf(stderr, "wasm-sandbox: fsck: %.64s: %s\n", *words,
                    strcmp(*words, "--store") != 0
                        ? "not an option; see wasm-sandbox session fsck --help"
                        : "needs a value");
            return -1;
        }
    }
    return 0;
}

/* The name of an image is its hash, so a damaged image is found without other
 * records. */
static void
fsck_check_images(const char *dir, struct fsck_tally *t)
{
    char folder[PATH_BYTES], path[PATH_BYTES + 80], hash[IMAGE_HASH_BYTES];
    const struct dirent *e;

    (void)snprintf(folder, sizeof folder, "%s/images", dir);
    DIR *d = opendir(folder);
    while (d && (e = readdir(d))) {
        if (strlen(e->d_name) != IMAGE_HASH_BYTES - 1)
            continue;
        (void)snprintf(path, sizeof path, "%s/%.64s", folder, e->d_name);
        int r = image_hash(path, hash);
        if (r == 0 && !strcmp(hash, e->d_name))
            continue;
        const struct store_finding f = {
            "", path, "a damaged root image: its sessions cannot be resumed",
            false};
        fsck_print_finding(t, &f);
    }
    if (d)
        closedir(d);
}

/* The status is 0 only if nothing is left to repair. */
static int
fsck_check(struct store *s, const char *dir, bool repair)
{
    struct fsck_tally t = {0};
    int r = store_fsck(s, repair, fsck_print_finding, &t);

    if (r < 0) {
        fprintf(stderr, "wasm-sandbox: fsck: %s\n", store_why(s));
        return 125;
    }
    fsck_check_images(dir, &t);
    printf("%u found, %u repaired\n", t.found, t.repaired);
    return t.found != t.repaired;
}

/* The store must exist: checking a wrong folder must not create one. */
static int
fsck_check_dir(const char *dir, bool repair)
{
    const struct store_options o = {.is_old = true};
    char why[STORE_WHY_BYTES];
    struct store *s;

    if (store_open(dir, &o, why, &s) < 0) {
        fprintf(stderr, "wasm-sandbox: fsck: %s\n", why);
        return 125;
    }
    int status = fsck_check(s, dir, repair);
    store_free(s);
    return status;
}

/* Without --store, the folder is that of the configuration. */
static int
fsck_check_configured(bool repair)
{
    CLEANUP(config_freep) struct config *c = NULL;
    char *none[] = {NULL};
    struct buf errors;

    buf_init(&errors, SIZE_MAX);
    int r = config_read(none, environ, &errors, &c);
    if (r < 0)
        fprintf(stderr, "%.*swasm-sandbox: fsck: no configuration\n",
                (int)errors.len, errors.p ? errors.p : "");
    buf_fini(&errors);
    return r < 0 ? 125 : fsck_check_dir(c->store_dir, repair);
}

/* Without --store, the folder of the configuration is checked. */
int
fsck_main(char **words)
{
    struct words w = {0};

    if (fsck_parse(words, &w) < 0)
        return 2;
    if (w.help) {
        (void)fputs(help, stdout);
        return 0;
    }
    return w.store ? fsck_check_dir(w.store, w.repair)
                   : fsck_check_configured(w.repair);
}
