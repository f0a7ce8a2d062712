/* Events: a log to which sessions append, and whose oldest rows upkeep deletes
 * (tidy.c). AUTOINCREMENT keeps their numbers increasing even after the newest
 * row was deleted, so a client that remembers the last number it saw never
 * misses or repeats an event. */
#include "store/store_impl.h"

int
store_event_append(struct store *s, const struct store_event *e,
                   uint64_t *ret_seq)
{
    int r = store_op_begin(s);

    if (r < 0)
        return r;
    r = sql_run(s, SQL_event_insert, "ittttt", e->time_ms, e->session, e->agent,
                e->kind, e->cause, e->figures);
    int64_t seq = sqlite3_last_insert_rowid(s->db);
    r = store_op_end(s, r);
    if (r == 0 && ret_seq)
        *ret_seq = (uint64_t)seq;
    return r;
}

static int
event_give(sqlite3_stmt *st, store_event_fn *fn, void *arg)
{
    struct store_event e = {
        .seq = (uint64_t)sqlite3_column_int64(st, 0),
        .time_ms = sqlite3_column_int64(st, 1),
        .session = sql_text(st, 2),
        .agent = sql_text(st, 3),
        .kind = sql_text(st, 4),
        .cause = sql_text(st, 5),
        .figures = sql_text(st, 6),
    };

    return fn(arg, &e);
}

int
store_event_list(struct store *s, const char *session, uint64_t after,
                 uint32_t max, store_event_fn *fn, void *arg)
{
    int64_t limit = max ? (int64_t)max : -1;
    SQL *st = session
                  ? sql_start(s, SQL_event_list_of, "iit", (int64_t)after,
                              limit, session)
                  : sql_start(s, SQL_event_list, "ii", (int64_t)after, limit);
    int r = sql_step(s, st);

    while (r > 0) {
        r = event_give(st, fn, arg);
        if (r)
            return r;
        r = sql_step(s, st);
    }
    return r;
}
