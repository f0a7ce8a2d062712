/* The store's own evidence of acknowledged commits: for each session the number
 * of its last commit, in a file beside the database.
 *
 * Problem: SQLite ends the recovery of its log at the first damaged frame, and
 * treats a log that is missing, short or replaced like an empty one.
 * Acknowledged commits could disappear unnoticed.
 *
 * Idea: when the store is opened, every session must have at least the commit
 * that the ledger claims.
 *
 * The ledger must never claim more than the log can contain. An entry is
 * therefore written after the sync of its transaction, and is not synced
 * itself: a power loss may destroy it, which makes the ledger claim less. A
 * commit without a sync (`durability: interval`) survives a kill of this
 * process but not a power loss. Its entry contains the boot id of the host and
 * counts only until the next boot.
 *
 * The first entry, the head, also identifies the log of the database (SQLite's
 * salts change whenever the log begins again) and the database file. If a copy
 * replaced that file, the ledger claims nothing. Before the log can begin
 * again, at every checkpoint and when the store is opened, the head records
 * this and is synced. */
#ifndef STORE_LEDGER_H
#define STORE_LEDGER_H

#include "base/own.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* In place of a number: the session has ended. */
#define LEDGER_ENDED UINT64_MAX

/* The claim that a session has at least this many commits. */
struct claim {
    char id[64]; /* with zeros behind it */
    uint64_t commits;
    /* recover.c */
    bool is_met;
    uint64_t had; /* the commit without the help of salvage.c, or 0 */
};

enum ledger_log {
    LEDGER_LOG_ANY,   /* a log may have begun since then */
    LEDGER_LOG_SALTS, /* this one */
    LEDGER_LOG_NONE,  /* everything is in the database */
};

/* Belongs to the store. `claims` are those of transactions that are not synced
 * yet; the first n_written of them are in the file as commits of this boot. */
struct ledger {
    sqlite3_file *file; /* NULL: it could not be opened */
    uint32_t generation;
    enum ledger_log log;
    uint64_t salts, boot;
    int64_t end; /* position of the next entry */
    /* The claims at opening, by id. */
    struct claim *old;
    size_t n_old;
    /* Claims of transactions that are not synced, in order. */
    struct claim *claims;
    size_t n, n_written;
    size_t n_live; /* entries when this generation began */
    size_t at[8];  /* their number at the start of each op in progress */
    unsigned depth;
};

/* Reads the ledger, which may be missing. -ENOMEM, -EIO. */
int ledger_open(struct store *s, const char *dir);
void ledger_close(struct store *s);
/* True if this is the log that the ledger knows; `salts` come from its header.
 */
bool ledger_knows_log(const struct store *s, uint64_t salts);

/* The current transaction contains this commit of the session. -ENOMEM. */
int ledger_claim(struct store *s, const char *id, uint64_t commits);
/* An op begins; and has ended, possibly with an error. */
void ledger_begin(struct store *s);
void ledger_end(struct store *s, bool has_failed);
/* The transaction was rolled back. */
void ledger_undo(struct store *s);
/* The transaction was committed; with is_synced, all are durable. An entry that
 * cannot be written claims nothing. */
void ledger_settle(struct store *s, bool is_synced);

/* Records which log may exist from now on; durable when it returns 0. */
int ledger_set_log(struct store *s, enum ledger_log log);
/* Called when everything is in the database file: updates the head, and
 * rewrites a ledger that has grown long. */
int ledger_renew(struct store *s);
/* Removes a ledger that cannot be written, because it would become wrong; then
 * nothing is claimed. -EIO. */
int ledger_give_up(struct store *s);

#endif
