/* Root images with names: sandboxes of one runtime have different ones. */
#include "lib_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A folder with two images; each contains /which with its own name. */
struct folder {
    char dir[32], one[48], two[48];
};

static void
folder_init(struct folder *f)
{
    char command[256];

    (void)snprintf(f->dir, sizeof f->dir, "/tmp/images-XXXXXX");
    CHECK(mkdtemp(f->dir));
    (void)snprintf(f->one, sizeof f->one, "%s/one", f->dir);
    (void)snprintf(f->two, sizeof f->two, "%s/two", f->dir);
    (void)snprintf(command, sizeof command,
                   "cd %s && for i in one two; do printf $i > which && "
                   "tar cf $i which; done",
                   f->dir);
    CHECK_EQ(system(command), 0); /* NOLINT: the names are our own */
}

static void
folder_fini(const struct folder *f)
{
    char which[48];

    (void)snprintf(which, sizeof which, "%s/which", f->dir);
    (void)unlink(which);
    (void)unlink(f->one);
    (void)unlink(f->two);
    CHECK_EQ(rmdir(f->dir), 0);
}

/* Creates a sandbox with the image `name` in a runtime whose default image is
 * `one`. Returns its /which or the error, to be freed. */
static char *
which_of(struct wsand_runtime *rt, const char *name)
{
    const struct wsand_options o = {.size = sizeof o, .image = name};
    struct wsand_error err = {0};
    struct wsand_sandbox *sb = NULL, *fork = NULL;
    void *data = NULL;
    size_t len = 0;
    char *text = NULL;

    if (wsand_sandbox_new(rt, &o, &sb, &err) < 0)
        return strdup(err.message);
    CHECK_EQ(wsand_fork(sb, &fork, NULL), 0);
    wsand_sandbox_free(sb);
    CHECK_EQ(wsand_file_read(fork, "/which", 0, WSAND_ALL, &data, &len, NULL),
             0);
    text = strndup(data, len);
    free(data);
    wsand_sandbox_free(fork);
    return text;
}

static void
check_which(struct wsand_runtime *rt, const char *name, const char *want)
{
    char *got = which_of(rt, name);

    CHECK_STR(got, want);
    free(got);
}

TEST(sandboxes_of_a_runtime_have_different_images)
{
    struct folder f;
    struct wsand_runtime *rt = NULL;

    folder_init(&f);
    const struct wsand_image images[] = {{"two", f.two}, {"gone", "/gone"}};
    const struct wsand_runtime_options o = {
        .size = sizeof o, .root_image = f.one, .images = images, .n_images = 2};
    CHECK_EQ(wsand_runtime_new(&o, &rt, NULL), 0);
    check_which(rt, NULL, "one");
    check_which(rt, "two", "two");
    check_which(rt, "default", "one");
    check_which(rt, "three",
                "EINVAL: image: there is no image 'three'; known: default, "
                "two, gone");
    check_which(rt, "gone",
                "ENOENT: root image /gone: No such file or directory");
    wsand_runtime_free(rt);
    folder_fini(&f);
}

TEST(names_of_images_are_checked)
{
    static const char *const bad[] = {
        "", "..", "a/b", "-a", "a b", "default", NULL, "\xc3\xa4", ".hidden"};
    struct wsand_image image = {.path = "/x"};
    const struct wsand_runtime_options o = {
        .size = sizeof o, .images = &image, .n_images = 1};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct wsand_runtime *rt = NULL;
        image.name = bad[i];
        CHECK_EQ(wsand_runtime_new(&o, &rt, NULL), -EINVAL);
    }
}
