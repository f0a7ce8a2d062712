/* serve --check-config: prints the effective configuration as a file that could
 * be used, or all errors. Secrets are never part of it: tokens are in a file of
 * their own. */
#include "supervisor/config/config.h"

#include "base/buf.h"
#include "base/exit.h"
#include "supervisor/config/tokens.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { ERRORS_BYTES = 1 << 16 };

/* Keys and values come from files that others may have written, so control
 * characters are replaced. */
void
config_print_errors(const struct buf *errors)
{
    size_t len;

    for (size_t at = 0; at < errors->len; at += len + 1) {
        const char *line = errors->p + at;
        const char *end = memchr(line, '\n', errors->len - at);
        len = end ? (size_t)(end - line) : errors->len - at;
        (void)fputs("wasm-sandbox: ", stderr);
        for (size_t i = 0; i < len; i++)
            (void)fputc((unsigned char)line[i] < ' ' ? '?' : line[i], stderr);
        (void)fputc('\n', stderr);
    }
}

/* The errors are printed here, so callers only need the exit status. */
int
config_load(char *const *argv, OWN struct config **ret)
{
    CLEANUP(buf_fini) struct buf errors;

    buf_init(&errors, ERRORS_BYTES);
    int r = config_read(argv, environ, &errors, ret);
    config_print_errors(&errors);
    if (r == -ENOMEM)
        (void)fputs("wasm-sandbox: no memory\n", stderr);
    return r;
}

/* Checks the file of tokens if HTTP is enabled, as serve does. */
static int
config_check_tokens(const struct config *c)
{
    CLEANUP(tokens_fini) struct tokens tokens = {0};
    CLEANUP(buf_fini) struct buf errors;

    buf_init(&errors, ERRORS_BYTES);
    int r = c->http_enabled ? tokens_read(&tokens, c->http_tokens_file, &errors)
                            : 0;
    config_print_errors(&errors);
    return r;
}

int
config_check_main(char *const *argv)
{
    CLEANUP(config_freep) struct config *c = NULL;

    if (config_load(argv, &c) != 0 || config_check_tokens(c) != 0)
        return EXIT_USAGE;
    config_print(c, stdout);
    return 0;
}
