/* Damaged records of a session: the consequences of each, and their repairs.
 *
 * A repair keeps as much as possible consistent: a lost block empties its file,
 * a lost name removes what it named, a lost page renews the shell. */
#include "store/check_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- repairs */

void
check_add_frame(struct session_check *t, enum record_op op, const void *key,
                size_t key_len, const void *value, size_t len)
{
    struct record_head h = {op, (uint16_t)key_len, (uint32_t)len};
    uint8_t head[RECORD_HEAD_BYTES];

    record_head_put(&h, head);
    buf_add(&t->frames, head, sizeof head);
    buf_add(&t->frames, key, key_len);
    buf_add(&t->frames, value, len);
}

/* Removes all records whose keys begin with these bytes. */
static int
check_remove_all(struct session_check *t, const uint8_t *start, size_t len)
{
    CLEANUP(walk_fini) struct record_walk w = {0};

    int r = walk_init(&w, t->c->s, &t->chain, start, len);
    if (r < 0)
        return r;
    while ((r = walk_next(&w)) > 0 && w.key_len > len &&
           !memcmp(w.key, start, len))
        check_add_frame(t, RECORD_DELETE, w.key, w.key_len, NULL, 0);
    return r < 0 ? r : 0;
}

/* Removes the contents of an inode. A file becomes empty, and a directory keeps
 * its names. A file of the image without a record of its own gets back the
 * contents that it has in the image. */
static int
check_empty_inode(struct session_check *t, const struct record_key *block)
{
    struct record_key k = {
        .type = RECORD_INODE, .mount = block->mount, .inode = block->inode};
    const struct record_inode *was = check_inode_of(t, check_id_of(block));
    uint8_t key[RECORD_KEY_MAX], value[RECORD_FIXED_MAX];
    size_t len = record_key_put(&k, key);

    if (was) {
        struct record_inode i = *was;
        if (!S_ISDIR(i.mode))
            i.mode = S_IFREG | (i.mode & 07777);
        i.size = 0;
        check_add_frame(t, RECORD_PUT, key, len, value,
                        record_inode_put(&i, value));
    }
    *key = RECORD_BLOCK;
    return check_remove_all(t, key, len);
}

/* Removes all records of the shell: its facts, pages and open files are of no
 * use without each other. The next worker then starts a fresh shell. */
static int
check_renew_shell(struct session_check *t)
{
    static const uint8_t page = RECORD_PAGE, file = RECORD_FILE;
    uint8_t key[RECORD_KEY_MAX];

    for (enum record_fact f = 0; f < FACT_COUNT; f++) {
        const struct record_key k = record_fact_key(f);
        if (record_is_shells(f))
            check_add_frame(t, RECORD_DELETE, key, record_key_put(&k, key),
                            NULL, 0);
    }
    int r = check_remove_all(t, &page, 1);
    return r < 0 ? r : check_remove_all(t, &file, 1);
}

/* --- the kinds of damage */

/* A file with several damaged blocks is one finding. Blocks of one file are
 * visited one after the other, so remembering the last file is enough. */
static int
check_lose_file(struct session_check *t, const struct record_key *k,
                const char *what)
{
    char path[1024];

    if (t->emptied == check_id_of(k))
        return 0;
    t->emptied = check_id_of(k);
    int r =
        walk_path(t->c->s, &t->chain, k->mount, k->inode, path, sizeof path);
    if (r == 0)
        r = check_empty_inode(t, k);
    check_report(t->c, t->id, path, what, t->c->repair);
    return r;
}

static int
check_lose_shell(struct session_check *t)
{
    if (t->is_shell_damaged)
        return 0;
    t->is_shell_damaged = true;
    check_report(t->c, t->id, "", "the shell's memory is damaged",
                 t->c->repair);
    return check_renew_shell(t);
}

int
check_lose_record(struct session_check *t, const struct record_walk *w,
                  const char *path, const char *what)
{
    check_report(t->c, t->id, path, what, t->c->repair);
    check_add_frame(t, RECORD_DELETE, w->key, w->key_len, NULL, 0);
    return 0;
}

/* Returns 1 if the directory contains a name. */
static int
check_has_names(struct session_check *t, const struct record_key *k)
{
    CLEANUP(walk_fini) struct record_walk w = {0};
    struct record_key name = {
        .type = RECORD_NAME, .mount = k->mount, .inode = k->inode, .name = ""};
    uint8_t key[RECORD_KEY_MAX];
    size_t len = record_key_put(&name, key);

    int r = walk_init(&w, t->c->s, &t->chain, key, len);
    if (r == 0)
        r = walk_next(&w);
    return r > 0 ? w.key_len > len && !memcmp(w.key, key, len) : r;
}

/* Returns the inode to its state in the image. Names that were added to it
 * stay. */
static int
check_lose_image_inode(struct session_check *t, const struct record_walk *w,
                       const struct record_key *k, const char *path)
{
    t->emptied = check_id_of(k);
    (void)check_lose_record(t, w, path, "its inode is damaged");
    return check_empty_inode(t, k);
}

/* Replaces an inode that the session itself made. Its type is lost with the
 * record: an inode that contains names was a directory, and any other becomes
 * an empty file. */
static int
check_lose_inode(struct session_check *t, const struct record_walk *w,
                 const struct record_key *k)
{
    struct record_inode lost = {.mode = S_IFREG | 0644};
    uint64_t inode = k->inode;
    char path[1024];

    int r =
        walk_path(t->c->s, &t->chain, k->mount, k->inode, path, sizeof path);
    if (r == 0)
        r = walk_place(t->c->s, &t->chain, k->mount, &inode, NULL, 0);
    if (r < 0)
        return r;
    if (r > 0 || *path != '/')
        return check_lose_image_inode(t, w, k, path);
    r = check_has_names(t, k);
    if (r > 0)
        lost.mode = S_IFDIR | 0777;
    if (r >= 0)
        r = check_inodes_add(&t->inodes, check_id_of(k), &lost);
    return r < 0 ? r : check_lose_file(t, k, "its inode is damaged");
}

/* The inode is of the image, but its position is not known any more. An empty
 * value says so (walk_place returns 2). */
static int
check_lose_place(struct session_check *t, const struct record_walk *w,
                 const struct record_key *k)
{
    (void)k;
    check_report(t->c, t->id, "", "a place in the image is damaged",
                 t->c->repair);
    check_add_frame(t, RECORD_PUT, w->key, w->key_len, "", 0);
    return 0;
}

static int
check_lose_name(struct session_check *t, const struct record_walk *w,
                const struct record_key *k)
{
    char path[1024], dir[700];

    int r = walk_path(t->c->s, &t->chain, k->mount, k->inode, dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/%.*s", dir, (int)k->name_len,
                   k->name);
    return r < 0 ? r : check_lose_record(t, w, path, "the name is damaged");
}

/* The numbers of commands have no gaps, so an empty command takes this one's
 * place. */
static int
check_lose_command(struct session_check *t, const struct record_walk *w,
                   const struct record_key *k)
{
    (void)k;
    check_report(t->c, t->id, "", "a command of the history is damaged",
                 t->c->repair);
    check_add_frame(t, RECORD_PUT, w->key, w->key_len, "", 0);
    return 0;
}

/* Without its image or format, a session cannot be read at all, and no repair
 * is possible. */
static int
check_lose_fact(struct session_check *t, const struct record_walk *w,
                const struct record_key *k)
{
    enum record_fact f = record_fact_of(k);

    if (f == FACT_script)
        return check_lose_record(t, w, "", "the shell's script is damaged");
    if (f != FACT_image && f != FACT_version)
        return check_lose_shell(t);
    check_report(t->c, t->id, "", "its image or format is not known", false);
    return 0;
}

static int
check_lose_open_file(struct session_check *t, const struct record_walk *w,
                     const struct record_key *k)
{
    (void)k;
    return check_lose_record(t, w, "", "an open file of the shell is damaged");
}

static int
check_lose_page(struct session_check *t, const struct record_walk *w,
                const struct record_key *k)
{
    (void)w;
    (void)k;
    return check_lose_shell(t);
}

static int
check_lose_attrs(struct session_check *t, const struct record_walk *w,
                 const struct record_key *k)
{
    char path[1024];

    int r =
        walk_path(t->c->s, &t->chain, k->mount, k->inode, path, sizeof path);
    return r < 0 ? r
                 : check_lose_record(t, w, path, "its attributes are damaged");
}

static int
check_lose_block(struct session_check *t, const struct record_walk *w,
                 const struct record_key *k)
{
    (void)w;
    return check_lose_file(t, k, "its contents are damaged");
}

/* The actions for records whose bytes are not as they were written. */
static int (*const lose[])(struct session_check *t, const struct record_walk *w,
                           const struct record_key *k) = {
    [RECORD_FACT] = check_lose_fact,       [RECORD_FILE] = check_lose_open_file,
    [RECORD_COMMAND] = check_lose_command, [RECORD_INODE] = check_lose_inode,
    [RECORD_NAME] = check_lose_name,       [RECORD_PAGE] = check_lose_page,
    [RECORD_ATTRS] = check_lose_attrs,     [RECORD_PLACE] = check_lose_place,
    [RECORD_BLOCK] = check_lose_block,
};

/* A commit refuses malformed keys, so it could not remove such a record. It is
 * deleted from every layer of the chain instead; it is wrong for all sessions
 * that see it. */
int
check_lose_formless(struct session_check *t, const struct record_walk *w)
{
    int r = 0;

    check_report(t->c, t->id, "", "a record is malformed", t->c->repair);
    for (size_t i = 0; t->c->repair && i < t->chain.n && r == 0; i++)
        r = sql_run(t->c->s, SQL_record_delete, "ib", t->chain.ids[i], w->key,
                    w->key_len);
    return r;
}

int
check_damaged(struct session_check *t, const struct record_walk *w,
              const struct record_key *k)
{
    return lose[k->type](t, w, k);
}
