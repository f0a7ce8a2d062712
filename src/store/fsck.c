/* The check of a whole store: the pages of the database, the graph of layers,
 * and then every session.
 *
 * The order goes from the inside out: a damaged page explains later findings,
 * and the graph must be repaired before sessions are read through it. */
#include "store/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rules about the graph of layers. Each statement counts the rows that break a
 * rule, and `repair` fixes them. Owners come first: a layer that lost its owner
 * becomes unused, and a later row finds it. */
static const struct {
    enum statement count, repair;
    const char *what;
    bool can_repair;
} graph[] = {
    {SQL_owner_wrong, SQL_owner_right, "layers that no session has", true},
    {SQL_session_bare, 0, "sessions without their layer", false},
    {SQL_layer_orphans, SQL_layer_to_roots,
     "layers without their parent: what it had is lost", true},
    {SQL_record_stray, SQL_record_unstray, "records of no layer", true},
    {SQL_layer_lost, SQL_layer_find_lost, "layers that nothing refers to",
     true},
    {SQL_chunk_lost, SQL_chunk_find_lost, "chunks that nothing refers to",
     true},
};

static int
fsck_check_graph_row(struct check *c, size_t i)
{
    char what[128];
    int64_t n;

    int r = sql_number(c->s, &n, graph[i].count, "");
    if (r < 0 || !n)
        return r;
    bool repair = c->repair && graph[i].can_repair;
    if (repair)
        r = sql_run(c->s, graph[i].repair, "");
    c->s->may_tidy = true;
    (void)snprintf(what, sizeof what, "%lld %s", (long long)n, graph[i].what);
    check_report(c, "", "", what, repair && r == 0);
    return r;
}

static int
fsck_check_graph(struct check *c)
{
    int r = store_op_begin(c->s);

    if (r < 0)
        return r;
    for (size_t i = 0; i < sizeof graph / sizeof *graph && r == 0; i++)
        r = fsck_check_graph_row(c, i);
    return store_op_end(c->s, r);
}

/* SQLite's own check. Its findings cannot be repaired here, only reported. */
static int
fsck_check_pages(struct check *c)
{
    SQL *st = sql_start(c->s, SQL_pages_check, "");
    int r;

    while ((r = sql_step(c->s, st)) > 0)
        if (strcmp(sql_text(st, 0), "ok") != 0)
            check_report(c, "", "", sql_text(st, 0), false);
    return r;
}

/* A session that cannot be checked is reported, and the check goes on with the
 * next one. */
static int
fsck_check_sessions(struct check *c)
{
    int64_t number = 0, layer;
    char id[65];
    int r;

    while ((r = session_row_next(c->s, &number, id, &layer)) > 0) {
        r = check_session(c, id);
        if (r == -EBADMSG)
            check_report(c, id, "", store_why(c->s), false);
        if (r < 0 && r != -EBADMSG)
            return r;
    }
    return r;
}

/* Without memory for the table, the check still works and reads shared chunks
 * several times. */
static int
fsck_init_checked(struct store *s, struct checked *ret)
{
    int64_t last;

    int r = sql_number(s, &last, SQL_chunk_last, "");
    if (r < 0)
        return r;
    ret->bits = calloc((size_t)last / 4 + 1, 1);
    ret->n = ret->bits ? (size_t)last + 1 : 0;
    return 0;
}

/* Lists the damage that was found when the store was opened. */
static int
fsck_give_damage(struct store *s, bool forget, store_finding_fn *fn, void *arg)
{
    SQL *st = sql_start(s, SQL_damage_list, "");
    int n = 0, r;

    while ((r = sql_step(s, st)) > 0) {
        const struct store_finding f = {sql_text(st, 0), "", sql_text(st, 1),
                                        forget};
        fn(arg, &f);
        n++;
    }
    return r < 0 ? r : n;
}

int
store_damage(struct store *s, bool forget, store_finding_fn *fn, void *arg)
{
    int n = fsck_give_damage(s, forget, fn, arg);

    if (n <= 0 || !forget)
        return n;
    int r = store_op_begin(s);
    if (r == 0)
        r = store_op_end(s, sql_run(s, SQL_damage_delete, ""));
    return r < 0 ? r : n;
}

int
store_fsck(struct store *s, bool repair, store_finding_fn *fn, void *arg)
{
    struct checked checked = {0};
    struct check c = {.s = s,
                      .repair = repair,
                      .accepts = true,
                      .fn = fn,
                      .arg = arg,
                      .checked = &checked};

    int r = store_damage(s, repair, fn, arg);
    c.n_found = r;
    r = r < 0 ? r : fsck_init_checked(s, &checked);
    if (r == 0)
        r = fsck_check_pages(&c);
    if (r == 0)
        r = fsck_check_graph(&c);
    if (r == 0)
        r = fsck_check_sessions(&c);
    free(checked.bits);
    return r < 0 ? r : c.n_found;
}
