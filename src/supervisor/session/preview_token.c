/* Making and checking the tokens of previews: EXPIRY-HASH, where the hash is
 * BLAKE2b of the key and the grant. BLAKE2b with the key in front is a keyed
 * hash: unlike SHA-256, it does not allow extending a known message. */
#include "supervisor/session/preview_token.h"

#include "base/blake2b.h"
#include "base/hfd.h"
#include "base/own.h"
#include "base/parse.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { HASH_BYTES = 16 };

static const char preview_key_name[] = "preview.key";

/* The file appears with its content: a crash leaves no half of a key. */
static int
preview_key_create(int folder, struct preview_key *ret)
{
    static const char new[] = "preview.key.new";

    if (getrandom(ret->bytes, sizeof ret->bytes, 0) !=
        (ssize_t)sizeof ret->bytes)
        return -EIO;
    CLEANUP(hfd_closep)
    int hfd =
        openat(folder, new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (hfd < 0)
        return -errno;
    int r = hfd_write_all(hfd, ret->bytes, sizeof ret->bytes);
    if (r < 0)
        return r;
    return fsync(hfd) < 0 || renameat(folder, new, folder, preview_key_name) < 0
               ? -errno
               : 0;
}

int
preview_key_load(const char *path, struct preview_key *ret)
{
    CLEANUP(hfd_closep)
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    CLEANUP(hfd_closep)
    int hfd = openat(folder, preview_key_name, O_RDONLY | O_CLOEXEC);
    if (hfd < 0)
        return errno == ENOENT ? preview_key_create(folder, ret) : -errno;
    ssize_t n = read(hfd, ret->bytes, sizeof ret->bytes);
    return n < 0 ? -errno : n == (ssize_t)sizeof ret->bytes ? 0 : -EBADMSG;
}

void
preview_token_write(const struct preview_key *k, const struct preview_grant *g,
                    char ret[PREVIEW_TOKEN_BYTES])
{
    uint8_t hash[BLAKE2B_BYTES];
    char grant[128];
    struct blake2b b;

    int n = snprintf(grant, sizeof grant, "preview %s %u %lld", g->session,
                     g->port, (long long)g->expires_s);
    blake2b_init(&b);
    blake2b_add(&b, k->bytes, sizeof k->bytes);
    blake2b_add(&b, grant, (size_t)n);
    blake2b_end(&b, hash);
    n = snprintf(ret, PREVIEW_TOKEN_BYTES, "%lld-", (long long)g->expires_s);
    for (int i = 0; i < HASH_BYTES; i++)
        n +=
            snprintf(ret + n, PREVIEW_TOKEN_BYTES - (size_t)n, "%02x", hash[i]);
}

bool
preview_token_is_valid(const struct preview_key *k,
                       const struct preview_grant *g, struct text token,
                       int64_t now_s)
{
    const char *end = memchr(token.p, '-', token.len);
    struct preview_grant claimed = *g;
    char right[PREVIEW_TOKEN_BYTES];
    uint64_t expires;
    unsigned char differs = 0;

    if (!end || !parse_u64(token.p, (size_t)(end - token.p), INT64_C(1) << 40,
                           &expires))
        return false;
    claimed.expires_s = (int64_t)expires;
    preview_token_write(k, &claimed, right);
    if (strlen(right) != token.len)
        return false;
    for (size_t i = 0; i < token.len; i++)
        differs |= (unsigned char)(right[i] ^ token.p[i]);
    return !differs && claimed.expires_s > now_s;
}
