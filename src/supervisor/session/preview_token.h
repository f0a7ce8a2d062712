/* Tokens of previews. A token is valid for one port of one session until a
 * time, and no table of them exists: a keyed hash shows that the supervisor
 * made it. The key is a file of the store's folder, so tokens survive a
 * restart. */
#ifndef SUPERVISOR_PREVIEW_TOKEN_H
#define SUPERVISOR_PREVIEW_TOKEN_H

#include "base/text.h"

enum { PREVIEW_KEY_BYTES = 32, PREVIEW_TOKEN_BYTES = 64 };

struct preview_key {
    uint8_t bytes[PREVIEW_KEY_BYTES];
};

/* The right that a token grants. */
struct preview_grant {
    const char *session; /* its id */
    uint16_t port;
    int64_t expires_s; /* since 1970 */
};

/* Reads the key in the folder `path`, or creates one. Returns 0 or -errno. */
int preview_key_load(const char *path, struct preview_key *ret);
/* Writes the token of a grant, with a NUL. */
void preview_token_write(const struct preview_key *k,
                         const struct preview_grant *g,
                         char ret[PREVIEW_TOKEN_BYTES]);
/* True if the token was made for this session and port, and has not expired;
 * g->expires_s is not used. The time depends only on the token's length. */
bool preview_token_is_valid(const struct preview_key *k,
                            const struct preview_grant *g, struct text token,
                            int64_t now_s);

#endif
