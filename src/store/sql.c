/* Statements of SQLite, their arguments and errors, and atomic operations.
 *
 * All statements are rows of statements.def, and are prepared once. A statement
 * is a shared object: SQL resets it at the end of its scope, so two uses of the
 * same statement must not overlap. */
#include "store/store_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[N_STATEMENTS] = {
#define STATEMENT(name, text) [SQL_##name] = text,
#include "store/statements.def"
#undef STATEMENT
};

int
store_fail(struct store *s, int error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return error;
}

/* I/O errors need the errno of the system, because a full disk must be
 * distinguished from a broken one. */
static int
sql_errno_of(sqlite3 *db)
{
    static const struct {
        int code, error;
    } table[] = {
        {SQLITE_FULL, -ENOSPC},     {SQLITE_NOMEM, -ENOMEM},
        {SQLITE_CORRUPT, -EBADMSG}, {SQLITE_NOTADB, -EBADMSG},
        {SQLITE_BUSY, -EBUSY},      {SQLITE_CONSTRAINT, -EEXIST},
    };
    int code = sqlite3_errcode(db), system = sqlite3_system_errno(db);

    if (code == SQLITE_IOERR)
        return system == ENOSPC || system == EDQUOT ? -ENOSPC : -EIO;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code)
            return table[i].error;
    return -EIO;
}

int
sql_fail(struct store *s)
{
    int error = sql_errno_of(s->db);

    if (error == -EBADMSG)
        return store_fail(s, error,
                          "the store is damaged: %s; see session fsck",
                          sqlite3_errmsg(s->db));
    return store_fail(s, error, "the store: %s", sqlite3_errmsg(s->db));
}

static int
sql_bind_one(sqlite3_stmt *st, int i, char letter, va_list *args)
{
    switch (letter) {
    case 'i':
        return sqlite3_bind_int64(st, i, va_arg(*args, int64_t));
    case 't': {
        const char *text = va_arg(*args, const char *);
        return sqlite3_bind_text(st, i, text ? text : "", -1, SQLITE_STATIC);
    }
    case 'b': {
        const void *p = va_arg(*args, const void *);
        size_t len = va_arg(*args, size_t);
        return sqlite3_bind_blob64(st, i, p ? p : "", len, SQLITE_STATIC);
    }
    default:
        return sqlite3_bind_null(st, i);
    }
}

/* A statement is compiled when it is first used, and kept. */
static sqlite3_stmt *
sql_start_list(struct store *s, enum statement name, const char *letters,
               va_list *args)
{
    sqlite3_stmt **st = &s->statements[name];

    if (!*st && sqlite3_prepare_v3(s->db, texts[name], -1,
                                   SQLITE_PREPARE_PERSISTENT, st, NULL)) {
        (void)sql_fail(s);
        return NULL;
    }
    for (int i = 0; letters[i]; i++) {
        if (sql_bind_one(*st, i + 1, letters[i], args)) {
            (void)sql_fail(s);
            return NULL;
        }
    }
    return *st;
}

sqlite3_stmt *
sql_start(struct store *s, enum statement name, const char *letters, ...)
{
    va_list args;

    va_start(args, letters);
    sqlite3_stmt *st = sql_start_list(s, name, letters, &args);
    va_end(args);
    return st;
}

int
sql_step(struct store *s, sqlite3_stmt *st)
{
    if (!st)
        return sql_errno_of(s->db);
    int code = sqlite3_step(st);
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : sql_fail(s);
}

void
sql_resetp(sqlite3_stmt **st)
{
    if (!*st)
        return;
    sqlite3_reset(*st);
    sqlite3_clear_bindings(*st);
}

int
sql_run(struct store *s, enum statement name, const char *letters, ...)
{
    va_list args;

    va_start(args, letters);
    SQL *st = sql_start_list(s, name, letters, &args);
    va_end(args);
    int r = sql_step(s, st);
    return r < 0 ? r : 0;
}

int
sql_number(struct store *s, int64_t *ret, enum statement name,
           const char *letters, ...)
{
    va_list args;

    va_start(args, letters);
    SQL *st = sql_start_list(s, name, letters, &args);
    va_end(args);
    int r = sql_step(s, st);
    if (r < 0)
        return r;
    *ret = r ? sqlite3_column_int64(st, 0) : 0;
    return 0;
}

const char *
sql_text(sqlite3_stmt *st, int column)
{
    const unsigned char *t = sqlite3_column_text(st, column);

    return t ? (const char *)t : "";
}

/* --- atomic operations
 *
 * An operation is a savepoint, which SQLite makes a transaction of its own if
 * none is open. A group with a single job (`is_alone`) is the whole
 * transaction, and needs no savepoint: if the job fails, the transaction
 * does. */
int
store_op_begin(struct store *s)
{
    if (s->is_begun && s->broken)
        return store_fail(s, s->broken,
                          "the store: the transaction was rolled back");
    int r = s->is_begun ? 0 : log_repair(s);
    if (r == 0 && !s->is_begun)
        r = sql_set_durable(s, true);
    if (r == 0 && !s->is_alone)
        r = sql_run(s, SQL_savepoint, "");
    if (r == 0)
        ledger_begin(s);
    return r;
}

/* Some errors (a full disk, no memory) make SQLite roll back the whole
 * transaction by itself. Later operations of the same transaction must then
 * fail too. */
static bool
sql_is_gone(struct store *s, int error)
{
    if (!sqlite3_get_autocommit(s->db))
        return false;
    if (s->is_begun)
        s->broken = error;
    return true;
}

/* Ends an operation. After a success outside of a transaction, store_sync makes
 * it durable: the operation itself may have changed nothing, but interval
 * commits before it may wait for a sync. After an error, its writes are undone
 * and the error's text is kept. */
int
store_op_end(struct store *s, int error)
{
    char why[STORE_WHY_BYTES];

    ledger_end(s, error < 0);
    if (s->is_alone) {
        if (error < 0 && !s->ledger.depth)
            s->broken = error; /* the transaction fails with it */
        return error;
    }
    if (error >= 0) {
        int r = sql_run(s, SQL_release, "");
        if (r == 0 && !s->is_begun)
            r = store_sync(s); /* if it changed nothing, others may have */
        if (r == 0)
            return error;
        error = r;
        ledger_undo(s);
        s->is_doubtful |= s->is_unsynced;
    }
    if (sql_is_gone(s, error))
        return error;
    memcpy(why, s->why, sizeof why);
    if (!sql_run(s, SQL_rollback_to, ""))
        (void)sql_run(s, SQL_release, "");
    memcpy(s->why, why, sizeof why);
    (void)sql_is_gone(s, error);
    return error;
}

/* This pragma takes effect when it is prepared, not when it is stepped, so it
 * cannot be a row of statements.def. */
int
sql_set_durable(struct store *s, bool is_durable)
{
    const char *text =
        is_durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL";

    if (s->is_full == is_durable)
        return 0;
    if (sqlite3_exec(s->db, text, NULL, NULL, NULL))
        return sql_fail(s);
    s->is_full = is_durable;
    return 0;
}
