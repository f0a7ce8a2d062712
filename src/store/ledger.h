/* The store's own knowledge of what was acknowledged: for each session the
 * number of its last commit, in a file beside the database.
 *
 * SQLite ends the recovery of its log at the first frame that is damaged, and a
 * log that is missing, short or another one is as good as an empty one to it.
 * The ledger is how that is noticed: when the store is opened, every session
 * must have at least the commit that the ledger has of it.
 *
 * The ledger must never claim more than the log can be asked for. So an entry
 * is written after the sync of its transaction, and is not synced itself: a
 * loss of power may take it, which makes the ledger claim less. A commit
 * without a sync (`durability: interval`) survives a kill of this process but
 * not a loss of power; its entry counts only while the host has not been
 * started again, which its boot id says.
 *
 * The first entry, the head, also says which log belongs to the database
 * (SQLite's salts are new each time that the log begins again), and which
 * database file it is about: a copy that was put in its place is another one,
 * and the ledger then claims nothing. Before the log can begin again, at every
 * checkpoint and when the store is opened, the head says so, and is synced. */
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

struct claim {
    char id[64]; /* with zeros behind it */
    uint64_t commits;
    /* recover.c */
    bool is_met;
    uint64_t had; /* the commit without the help of salvage.c; 0: none */
};

enum ledger_log {
    LEDGER_LOG_ANY,   /* a log may have begun since */
    LEDGER_LOG_SALTS, /* this one */
    LEDGER_LOG_NONE,  /* all is in the database */
};

struct ledger {
    sqlite3_file *file; /* NULL: it could not be opened */
    uint32_t generation;
    enum ledger_log log;
    uint64_t salts, boot;
    int64_t end; /* where the next entry goes */
    /* The claims that it had when it was opened, by id. */
    struct claim *old;
    size_t n_old;
    /* Claims of transactions that are not synced, in their order. */
    struct claim *claims;
    size_t n, n_written;
    size_t n_live; /* entries when this generation began */
    size_t at[8];  /* how many there were, for each op under way */
    unsigned depth;
};

/* Reads it. There need be none. -ENOMEM, -EIO. */
int ledger_open(struct store *s, const char *dir);
void ledger_close(struct store *s);
/* Is this the log that the ledger knows? `salts` are those of its header. */
bool ledger_knows_log(const struct store *s, uint64_t salts);

/* The session has this commit with the transaction under way. -ENOMEM. */
int ledger_claim(struct store *s, const char *id, uint64_t commits);
/* An op begins; it has ended, perhaps with an error. */
void ledger_begin(struct store *s);
void ledger_end(struct store *s, bool has_failed);
/* The transaction was undone. */
void ledger_undo(struct store *s);
/* The transaction was committed, and (is_synced) all are durable. What cannot
 * be written is not claimed. */
void ledger_settle(struct store *s, bool is_synced);

/* Which log there may be from now on; durable when it returns 0. */
int ledger_set_log(struct store *s, enum ledger_log log);
/* All is in the file of the database: the head is about what that is now, and a
 * ledger that has grown long is written anew. */
int ledger_renew(struct store *s);
/* One that cannot be written would be wrong: removes it, and nothing is
 * claimed. -EIO. */
int ledger_give_up(struct store *s);

#endif
