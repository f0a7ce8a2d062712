/* From a program whose compiled code is in the cache to one that can run. */
#include "host.h"

#include "engine/engine.h"
#include "lib/hostmap.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

enum { LOADS = 40 };

static char dir[] = "/tmp/wasmsand-bench-XXXXXX";

/* In an engine of its own, which knows no programs yet. */
static double
load_us(const struct host_file *f)
{
    const struct engine_options o = {.max_machines = 2, .cache_dir = dir};
    const struct program_source src = {.bytes = f->bytes,
                                       .len = f->len,
                                       .name = "program",
                                       .is_trusted = true,
                                       .file = f};
    struct engine *e;
    struct program *p;
    char why[160] = "";

    NEED(engine_new(&o, &e, why, sizeof why) == 0);
    double begin = (double)now_ns();
    NEED(engine_ops()->load(e, &src, &p, why, sizeof why) == 0);
    double us = ((double)now_ns() - begin) / 1000;
    program_put(p);
    engine_free(e);
    return us;
}

static double
best_load_us(const struct host_file *f)
{
    double best = load_us(f);

    for (int i = 1; i < LOADS; i++) {
        double us = load_us(f);
        best = us < best ? us : best;
    }
    return best;
}

static void
remove_dir(void)
{
    DIR *d = opendir(dir);

    NEED(d != NULL);
    for (struct dirent *it; (it = readdir(d));)
        (void)unlinkat(dirfd(d), it->d_name, 0);
    closedir(d);
    (void)rmdir(dir);
}

int
load(int argc, char **argv)
{
    struct host_file f;

    if (argc < 2)
        return 2;
    NEED(mkdtemp(dir) && hostmap_open(argv[1], &f) == 0);
    f.is_settled = false;
    (void)load_us(&f); /* compiles */
    report("cached load by content", best_load_us(&f), "us");
    f.is_settled = true;
    (void)load_us(&f);
    report("cached load", best_load_us(&f), "us");
    hostmap_close(&f);
    remove_dir();
    return 0;
}
