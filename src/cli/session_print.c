/* Printing of answers and of untrusted text, for people. Names, labels and
 * reasons come from guests and other clients. A terminal must not interpret
 * them, so control characters are replaced. */
#include "cli/session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* C1 control characters are two bytes in UTF-8 (c2 80 to c2 9f). Terminals may
 * interpret them like escape sequences. */
const char *
cli_put_plain(const char *text, FILE *to)
{
    const unsigned char *p = (const unsigned char *)text;
    bool is_c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

    (void)fputc(is_c1 || *p < ' ' || *p == 0x7f ? '?' : *p, to);
    return text + 1 + is_c1;
}

/* Recursive: the depth of an answer was limited when it was parsed. */
void
cli_put_indented(struct buf *b, const struct json *v, int level)
{
    bool is_object = json_is(v, JSON_OBJECT);
    const char *comma = "";

    if (!json_count(v)) {
        json_put(b, v);
        return;
    }
    buf_puts(b, is_object ? "{" : "[");
    JSON_EACH(part, v) {
        buf_printf(b, "%s\n%*s", comma, 2 * (level + 1), "");
        comma = ",";
        if (is_object) {
            put_string(b, part->text.p, part->text.len);
            buf_puts(b, ": ");
            part = json_value(part);
        }
        cli_put_indented(b, part, level + 1);
    }
    buf_printf(b, "\n%*s%s", 2 * level, "", is_object ? "}" : "]");
}

/* The text is collected first, so that it is written by one call. */
void
cli_print_json(const struct json *value)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    cli_put_indented(&b, value, 0);
    buf_puts(&b, "\n");
    (void)fwrite(b.p, 1, b.len, stdout);
    buf_fini(&b);
}

/* Counts characters, not bytes, so that columns stay aligned. */
void
cli_print(const char *text, int width)
{
    int n = 0;

    while (*text) {
        n += ((unsigned char)*text & 0xc0) != 0x80; /* begins a character */
        text = cli_put_plain(text, stdout);
    }
    printf("%*s", n < width ? width - n : 0, "");
    if (width && n >= width)
        (void)putchar(' ');
}

/* Prints milliseconds since 1970 as local time, 21 characters wide. */
static void
cli_print_time(int64_t ms)
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;
    char text[32];

    (void)localtime_r(&t, &tm);
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    cli_print(text, 21);
}

/* The beginning of the id is enough to name the session in the next command. */
void
cli_print_row(void *arg, const struct json *s)
{
    char id[13];

    (void)arg;
    (void)snprintf(id, sizeof id, "%s", cli_member(s, "sessionId"));
    cli_print(id, 14);
    cli_print(cli_member(s, "state"), 10);
    cli_print(cli_member(s, "cause"), 14);
    cli_print_time(json_integer(json_get(s, "changedAt")));
    cli_print(cli_member(s, "agent"), 14);
    cli_print(cli_member(s, "label"), 0);
    (void)putchar('\n');
}

/* Strings are printed without quotes, everything else as JSON. */
static void
cli_print_value(const struct json *value)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    if (json_is(value, JSON_STRING))
        buf_add(&b, value->text.p, value->text.len);
    else
        json_put(&b, value);
    buf_add(&b, "", 1);
    cli_print(b.error ? "" : b.p, 0);
    buf_fini(&b);
}

/* Prints an object in one line; empty objects are omitted. */
static void
cli_print_members(const struct json *object)
{
    const char *comma = "";

    JSON_EACH_KEY(key, object) {
        const struct json *value = json_value(key);
        if (json_is(value, JSON_OBJECT) && !value->n)
            continue;
        printf("%s", comma);
        cli_print(key->text.p, 0);
        (void)putchar(' ');
        cli_print_value(value);
        comma = ", ";
    }
}

/* Members that end with "At" are times. */
static bool
cli_is_time(const struct json *key)
{
    return key->text.len > 2 &&
           !strcmp(key->text.p + key->text.len - 2, "At") &&
           json_is(json_value(key), JSON_INTEGER);
}

/* One line for each member: its name, and its value in a form for people. */
static void
cli_print_member(const struct json *key)
{
    const struct json *value = json_value(key);

    cli_print(key->text.p, 14);
    if (json_is(value, JSON_OBJECT))
        cli_print_members(value);
    else if (cli_is_time(key))
        cli_print_time(value->integer);
    else
        cli_print_value(value);
    (void)putchar('\n');
}

/* Without --json, members are printed in the order of the answer, one in each
 * line. */
int
cli_print_session(const struct cli *c, const struct json *session)
{
    if (!session)
        return CLI_FAILED;
    if (c->is_json)
        cli_print_json(session);
    else
        JSON_EACH_KEY(key, session)
            cli_print_member(key);
    return 0;
}
