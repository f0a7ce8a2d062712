/* The command `fsck`. */
#include "supervisor/fsck.h"

#include "store/store.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: wasm-sandbox session fsck --store DIR [--repair]\n"
    "Verifies the state of all sessions in a store that no supervisor uses: "
    "every chunk,\n"
    "every reference, the tables of inodes. Prints a line for each thing "
    "found: session,\n"
    "path, what. A file whose contents are damaged costs nothing but itself.\n"
    "\n"
    "  --store DIR   the folder of the store\n"
    "  --repair      replace damaged files by empty ones, damaged shells by "
    "new ones,\n"
    "                and put references and figures right\n";

struct words {
    const char *store;
    bool repair, help;
};

struct tally {
    unsigned found, repaired;
};

/* Names inside a store are those of guests: no control characters. */
static void
print(const char *text)
{
    for (const char *p = text; *p; p++)
        putchar((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
}

static void
print_finding(void *arg, const struct store_finding *f)
{
    struct tally *t = arg;

    if (*f->session) {
        printf("session ");
        print(f->session);
        printf(": ");
    }
    if (*f->path) {
        print(f->path);
        printf(": ");
    }
    print(f->what);
    puts(f->is_repaired ? " (repaired)" : "");
    t->found++;
    t->repaired += f->is_repaired;
}

static int
parse(char **words, struct words *ret)
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
                    strcmp(*words, "--store") != 0 ? "not an option"
                                                   : "needs a value");
            return -1;
        }
    }
    return 0;
}

static int
check(struct store *s, bool repair)
{
    struct tally t = {0};
    int r = store_fsck(s, repair, print_finding, &t);

    if (r < 0) {
        fprintf(stderr, "wasm-sandbox: fsck: %s\n", store_why(s));
        return 125;
    }
    printf("%u found, %u repaired\n", t.found, t.repaired);
    return t.found != t.repaired;
}

int
fsck_main(char **words)
{
    char why[STORE_WHY_BYTES];
    struct words w = {0};
    struct store *s;

    if (parse(words, &w) < 0)
        return 2;
    if (w.help) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (!w.store) {
        fprintf(stderr, "wasm-sandbox: fsck: --store DIR is missing\n");
        return 2;
    }
    if (store_open(w.store, &(struct store_options){.is_old = true}, why, &s)) {
        fprintf(stderr, "wasm-sandbox: fsck: %s\n", why);
        return 125;
    }
    int status = check(s, w.repair);
    store_free(s);
    return status;
}
