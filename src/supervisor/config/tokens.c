/* Bearer tokens, from a file with one per line.
 *
 * Only hashes are kept in memory, so a leak of memory does not leak tokens.
 * Comparing hashes instead of tokens also hides their length. */
#include "supervisor/config/tokens.h"

#include "base/buf.h"
#include "base/hfd.h"
#include "base/own.h"
#include "base/vec.h"
#include "supervisor/config/config_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 20 };

void
tokens_fini(struct tokens *t)
{
    free(t->v);
    *t = (struct tokens){0};
}

/* --- the file */

/* The ctime cannot be set by a user, so every change of the file is noticed. */
bool
tokens_are_old(struct tokens *t, const char *path)
{
    struct stat st = {0};

    (void)stat(path, &st);
    if (st.st_ctim.tv_sec == t->changed.tv_sec &&
        st.st_ctim.tv_nsec == t->changed.tv_nsec)
        return false;
    t->changed = st.st_ctim;
    return true;
}

/* The checks are made on the opened file, so that it cannot be exchanged in
 * between. */
static int
tokens_check_file(int hfd, const char *path, struct tokens *t,
                  struct buf *errors)
{
    struct stat st;

    if (fstat(hfd, &st) < 0)
        return config_refuse(errors, path, "", "%s", strerror(errno));
    t->changed = st.st_ctim;
    if (!S_ISREG(st.st_mode))
        return config_refuse(errors, path, "", "not a regular file");
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return config_refuse(errors, path, "", "belongs to somebody else");
    if (st.st_mode & 077)
        return config_refuse(errors, path, "",
                             "has mode %04o: others must have no rights to it",
                             st.st_mode & 07777);
    return 0;
}

/* Only the hash and the name are kept. */
static int
tokens_add_token(struct tokens *t, const char *line, size_t len, size_t name)
{
    if (!VEC_ROOM(t->v, t->n))
        return -ENOMEM;
    struct token *token = &t->v[t->n++];
    *token = (struct token){0};
    blake2b_hash(line, len, token->hash);
    (void)snprintf(token->name, TOKEN_NAME_BYTES, "%s", line + name);
    return 0;
}

/* Headers of HTTP cannot contain other characters. */
static bool
tokens_is_printable(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] <= ' ' || p[i] > '~')
            return false;
    return true;
}

/* A line is a token and an optional name. Empty lines and comments are
 * skipped. */
static int
tokens_take_line(struct tokens *t, const char *path, unsigned number,
                 char *line, struct buf *errors)
{
    char where[CONFIG_NAME_BYTES];
    size_t len = strcspn(line, " \t\r");

    if (!*line || *line == '#')
        return 0;
    (void)snprintf(where, sizeof where, "line %u", number);
    if (len < TOKEN_MIN_BYTES || !tokens_is_printable(line, len))
        return config_refuse(errors, path, where,
                             "a token must have at least %d characters, all "
                             "printable ASCII",
                             TOKEN_MIN_BYTES);
    if (t->n == TOKENS_MAX)
        return config_refuse(errors, path, where, "more than %d tokens",
                             TOKENS_MAX);
    return tokens_add_token(t, line, len, len + strspn(line + len, " \t\r"));
}

/* A file without any token is an error: nobody could use HTTP. */
static int
tokens_take_lines(struct tokens *t, const char *path, char *text,
                  struct buf *errors)
{
    unsigned number = 1;
    int r = 0;

    for (char *line = text; line; number++) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        r = config_worse(r, tokens_take_line(t, path, number, line, errors));
        line = next;
    }
    if (r == 0 && !t->n)
        r = config_refuse(errors, path, "", "has no token");
    return r;
}

/* The text is erased afterwards, valid or not, because it contains tokens. */
static int
tokens_read_file(int hfd, const char *path, struct tokens *t,
                 struct buf *errors)
{
    CLEANUP(buf_fini) struct buf text;

    buf_init(&text, FILE_BYTES);
    char *to = buf_room(&text, FILE_BYTES);
    if (!to)
        return -ENOMEM;
    ssize_t n = read(hfd, to, FILE_BYTES - 1);
    if (n < 0)
        return config_refuse(errors, path, "", "%s", strerror(errno));
    to[n] = 0;
    int r = n == FILE_BYTES - 1 || memchr(to, 0, (size_t)n)
                ? config_refuse(errors, path, "", "not a text of at most 1 MiB")
                : tokens_take_lines(t, path, to, errors);
    explicit_bzero(to, (size_t)n);
    return r;
}

/* The new tokens replace the old ones only if the whole file is valid. */
int
tokens_read(struct tokens *t, const char *path, struct buf *errors)
{
    CLEANUP(tokens_fini) struct tokens draft = {0};

    CLEANUP(hfd_closep)
    int hfd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (hfd < 0)
        return config_refuse(errors, path, "", "%s", strerror(errno));
    int r = tokens_check_file(hfd, path, &draft, errors);
    if (r == 0)
        r = tokens_read_file(hfd, path, &draft, errors);
    if (r != 0)
        return r;
    tokens_fini(t);
    *t = draft;
    draft = (struct tokens){0};
    return 0;
}

/* --- headers */

/* Compares all bytes, so the time does not depend on the first difference. */
static bool
tokens_is_same(const uint8_t *a, const uint8_t *b)
{
    uint8_t differ = 0;

    for (size_t i = 0; i < BLAKE2B_BYTES; i++)
        differ |= a[i] ^ b[i];
    return !differ;
}

/* All tokens are compared, for the same reason. */
const struct token *
tokens_find(const struct tokens *t, const char *header)
{
    static const char scheme[] = "Bearer ";
    const struct token *found = NULL;
    uint8_t given[BLAKE2B_BYTES];

    if (!header || strncasecmp(header, scheme, sizeof scheme - 1) != 0)
        return NULL;
    header += sizeof scheme - 1;
    header += strspn(header, " ");
    blake2b_hash(header, strlen(header), given);
    for (size_t i = 0; i < t->n; i++)
        found = tokens_is_same(t->v[i].hash, given) ? &t->v[i] : found;
    return found;
}
