/* The command `fsck`. */
#include "supervisor/fsck.h"

#include "../store/world.h"
#include "../unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs it; what it prints is in `ret`. */
static int
run(char *ret, size_t size, const char *a, const char *b, const char *c)
{
    char *words[] = {(char *)a, (char *)b, (char *)c, NULL};
    FILE *out = tmpfile();
    int saved[2] = {dup(1), dup(2)};

    CHECK(out && saved[0] >= 0 && saved[1] >= 0);
    (void)fflush(stdout);
    dup2(fileno(out), 1);
    dup2(fileno(out), 2);
    int status = fsck_main(words);
    (void)fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
    }
    rewind(out);
    ret[fread(ret, 1, size - 1, out)] = 0;
    (void)fclose(out);
    return status;
}

TEST(fsck_names_session_and_path_and_repairs)
{
    char text[1024];
    struct world w;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    world_init(&w, NULL);
    CHECK_EQ(session_new(w.s, "a"), 0);
    add_file(&b, 1, "bad\nname", 2, 1, 4096);
    CHECK_EQ(commit_frames(w.s, "a", &b), 0);
    CHECK_EQ(run(text, sizeof text, "--store", w.dir, NULL), 125);
    CHECK(strstr(text, "in use by process"));
    store_free(STEAL(w.s));
    CHECK_EQ(run(text, sizeof text, "--store", w.dir, NULL), 0);
    CHECK(!strcmp(text, "0 found, 0 repaired\n"));
    sql_on(&w, "UPDATE chunk SET data=x'00'");
    CHECK_EQ(run(text, sizeof text, "--store", w.dir, NULL), 1);
    CHECK(!strcmp(text, "session a: /bad?name: its contents are damaged\n"
                        "1 found, 0 repaired\n"));
    CHECK_EQ(run(text, sizeof text, "--store", w.dir, "--repair"), 0);
    CHECK(strstr(text, "damaged (repaired)\n1 found, 1 repaired\n"));
    CHECK_EQ(run(text, sizeof text, "--store", w.dir, NULL), 0);
    buf_fini(&b);
    world_fini(&w);
}

TEST(fsck_refuses_wrong_words)
{
    char text[1024];

    CHECK_EQ(run(text, sizeof text, "--stor", NULL, NULL), 2);
    CHECK(strstr(text, "fsck: --stor: not an option"));
    CHECK_EQ(run(text, sizeof text, "--store", NULL, NULL), 2);
    CHECK(strstr(text, "fsck: --store: needs a value"));
    CHECK_EQ(run(text, sizeof text, NULL, NULL, NULL), 2);
    CHECK_EQ(run(text, sizeof text, "--help", NULL, NULL), 0);
    CHECK(strstr(text, "--repair"));
    CHECK_EQ(run(text, sizeof text, "--store", "/nonexistent", NULL), 125);
}
