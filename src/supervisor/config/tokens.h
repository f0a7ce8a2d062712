/* Bearer tokens, of which only hashes are kept. */
#ifndef SUPERVISOR_TOKENS_H
#define SUPERVISOR_TOKENS_H

#include "base/blake2b.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct buf;

enum { TOKEN_NAME_BYTES = 64, TOKEN_MIN_BYTES = 16, TOKENS_MAX = 1024 };

struct token {
    uint8_t hash[BLAKE2B_BYTES];
    char name[TOKEN_NAME_BYTES]; /* for the log; "": none */
};

struct tokens {
    struct token *v;
    size_t n;
    struct timespec changed; /* the file, as it was read */
};

/* Reads a file of one token per line, with an optional name after it. -EINVAL:
 * `errors` has lines, and the tokens are as before; -ENOMEM. */
int tokens_read(struct tokens *t, const char *path, struct buf *errors);
/* Has the file changed since? Once true, not again before it changes again. */
bool tokens_are_old(struct tokens *t, const char *path);
void tokens_fini(struct tokens *t);
/* The token that a header `Authorization: Bearer ...` has, or NULL. Takes the
 * same time whichever it is, and if it is none. */
const struct token *tokens_find(const struct tokens *t, const char *header);

#endif
