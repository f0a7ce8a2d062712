/* Fuzzes the configuration. The first byte says what the rest is: the file, an
 * agent's settings, the words of a command line, or a file of tokens. What is
 * accepted is in its range and prints as a configuration that is accepted too;
 * what is refused is refused in whole lines. */
#include "base/buf.h"
#include "supervisor/config/config.h"
#include "supervisor/config/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 32, ERRORS_BYTES = 1 << 16 };

static char folder[] = "/tmp/config-fuzz-XXXXXX";
static char path[64], options[64], token_path[64];

static void
must(bool ok)
{
    if (!ok)
        abort();
}

static void
check_result(int r, const struct buf *errors)
{
    must(r == 0 || r == -EINVAL || r == -ENOENT);
    must(r != 0 || !errors->len);
    must(r != -EINVAL || errors->len);
    must(!errors->len || errors->error || errors->p[errors->len - 1] == '\n');
}

static void
check_limits(const struct config *c, const uint32_t *limit)
{
    for (int i = 0; i < N_LIMITS; i++)
        if (config_limit_key((enum limit)i))
            must(limit[i] >= limit_rows[i].min && limit[i] <= c->most[i] &&
                 c->most[i] <= limit_rows[i].max);
}

static void
write_at(const char *to, const void *data, size_t size)
{
    int hfd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    must(hfd >= 0 && write(hfd, data, size) == (ssize_t)size);
    close(hfd);
}

/* What a configuration prints is read as the same. */
static void
check_print(const struct config *c, struct buf *errors)
{
    char *const words[] = {"--config", path, NULL}, *const env[] = {NULL};
    struct config *again = NULL;
    FILE *f = fopen(path, "w");

    config_print(c, f);
    fclose(f);
    must(config_read(words, env, errors, &again) == 0);
    must(!strcmp(c->socket, again->socket) &&
         c->http_port == again->http_port &&
         !memcmp(c->most, again->most, sizeof c->most));
    config_free(again);
}

static void
read_config(char *const *words, struct buf *errors)
{
    char *const env[] = {"HOME=/h", NULL};
    struct config *c = NULL;

    int r = config_read(words, env, errors, &c);
    check_result(r, errors);
    if (r == 0) {
        check_limits(c, c->standard);
        check_print(c, errors);
    }
    config_free(c);
}

static void
as_file(const uint8_t *data, size_t size, struct buf *errors)
{
    char *const words[] = {"--config", path, NULL};

    write_at(path, data, size);
    read_config(words, errors);
}

static void
as_words(const uint8_t *data, size_t size, struct buf *errors)
{
    char *words[WORDS_MAX + 1];
    char *text = malloc(size + 1);
    int n = 0;

    memcpy(text, data, size);
    text[size] = 0;
    for (char *w = strtok(text, "\n"); w && n < WORDS_MAX;
         w = strtok(NULL, "\n"))
        words[n++] = w;
    words[n] = NULL;
    read_config(words, errors);
    free(text);
}

static void
as_settings(const uint8_t *data, size_t size, struct buf *errors)
{
    char *const words[] = {options, NULL}, *const env[] = {NULL};
    uint32_t limit[N_LIMITS];
    struct config *c = NULL;
    char file[96];

    (void)snprintf(file, sizeof file, "%s/a/.claude/settings.json", folder);
    write_at(file, data, size);
    must(config_read(words, env, errors, &c) == 0);
    int r = config_agent_limits(c, "a", errors, limit);
    check_result(r, errors);
    if (r == 0)
        check_limits(c, limit);
    config_free(c);
}

static void
as_tokens(const uint8_t *data, size_t size, struct buf *errors)
{
    struct tokens t = {0};

    write_at(token_path, data, size);
    int r = tokens_read(&t, token_path, errors);
    check_result(r, errors);
    must(r != 0 || (t.n && t.n <= TOKENS_MAX));
    must(!tokens_find(&t, "Bearer "));
    tokens_fini(&t);
}

static void
clean_up(void)
{
    char command[64];

    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    must(system(command) == 0);
}

static void
prepare(void)
{
    char dir[80];

    must(mkdtemp(folder) != NULL && atexit(clean_up) == 0);
    (void)snprintf(path, sizeof path, "%s/config.json", folder);
    (void)snprintf(token_path, sizeof token_path, "%s/tokens", folder);
    (void)snprintf(options, sizeof options, "--agents-dir=%s", folder);
    (void)snprintf(dir, sizeof dir, "%s/a", folder);
    must(mkdir(dir, 0700) == 0);
    (void)snprintf(dir, sizeof dir, "%s/a/.claude", folder);
    must(mkdir(dir, 0700) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const targets[])(const uint8_t *data, size_t size,
                                   struct buf *errors) = {as_file, as_settings,
                                                          as_words, as_tokens};
    struct buf errors;

    if (!size)
        return 0;
    if (!*path)
        prepare();
    buf_init(&errors, ERRORS_BYTES);
    targets[data[0] % 4](data + 1, size - 1, &errors);
    buf_fini(&errors);
    return 0;
}
