/* Bearer tokens; only their hashes are kept. */
#ifndef SUPERVISOR_TOKENS_H
#define SUPERVISOR_TOKENS_H

#include "base/blake2b.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct buf;

enum { TOKEN_NAME_BYTES = 64, TOKEN_MIN_BYTES = 16, TOKENS_MAX = 1024 };

/* One token: its hash, and its name for the log. */
struct token {
    uint8_t hash[BLAKE2B_BYTES];
    char name[TOKEN_NAME_BYTES]; /* for the log; "": none */
};

/* The valid tokens. */
struct tokens {
    struct token *v;
    size_t n;
    struct timespec changed; /* of the file when it was read */
};

/* Reads a file with one token per line, and an optional name after it. -EINVAL:
 * `errors` contains lines, and the tokens are unchanged. -ENOMEM. */
int tokens_read(struct tokens *t, const char *path, struct buf *errors);
/* True once after each change of the file. */
bool tokens_are_old(struct tokens *t, const char *path);
void tokens_fini(struct tokens *t);
/* Returns the token of a header `Authorization: Bearer ...`, or NULL. Takes the
 * same time for every token, and for none. */
const struct token *tokens_find(const struct tokens *t, const char *header);

#endif
