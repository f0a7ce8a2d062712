/* Lists of texts: rules of the network, and name servers. No item contains a
 * comma, so a list is kept as one string with commas between its items. */
#include "supervisor/config/config_impl.h"

#include "net/address.h"
#include "net/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the reason why an item is wrong, or NULL. */
typedef const char *config_list_check(const char *text, size_t len);

static const char *
config_list_check_rule(const char *text, size_t len)
{
    struct rule r;

    return rule_parse(text, len, &r);
}

/* Accepts an address, with a port behind a colon if it is IPv4. */
static const char *
config_list_check_server(const char *text, size_t len)
{
    const char *colon = memchr(text, ':', len);
    struct in6_addr ip;
    size_t n = len;

    if (colon && !memchr(colon + 1, ':', len - (size_t)(colon + 1 - text))) {
        n = (size_t)(colon - text);
        size_t digits = strspn(colon + 1, "0123456789");
        if (digits != len - n - 1 || !digits || digits > 5)
            return "has no port behind its colon";
    }
    return address_parse(text, n, &ip) ? NULL : "is not an address";
}

/* Checks the items of a text with commas, and reports the first wrong one. */
static int
config_list_check_text(const struct config_setting *v, const char *text,
                       config_list_check *check)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        const char *reason = n ? check(text, n) : "is empty";
        if (reason)
            return config_refuse(v->errors, v->where, v->row->key, "'%.*s' %s",
                                 (int)n, text, reason);
        text += n + (text[n] == ',');
    }
    return 0;
}

/* Joins the texts of an array. -EINVAL: it is none. */
static int
config_list_join(const struct json *list, struct buf *b)
{
    if (!json_is(list, JSON_ARRAY))
        return -EINVAL;
    JSON_EACH(item, list) {
        struct text t = json_text(item);
        if (!t.p || !t.len || strlen(t.p) != t.len || strchr(t.p, ','))
            return -EINVAL;
        buf_puts(b, b->len ? "," : "");
        buf_puts(b, t.p);
    }
    return 0;
}

static int
config_list_take(const struct config_setting *v, config_list_check *check)
{
    char **at = config_value_member(v->c, v->row);
    CLEANUP(buf_fini) struct buf b;
    int r = 0;

    buf_init(&b, SIZE_MAX);
    if (v->json)
        r = config_list_join(v->json, &b);
    else
        buf_puts(&b, v->text);
    if (r < 0)
        return config_value_refuse(v);
    buf_add(&b, "", 1);
    if (b.error)
        return -ENOMEM;
    r = config_list_check_text(v, b.p, check);
    if (r < 0)
        return r;
    free(*at);
    *at = buf_steal(&b);
    return 0;
}

int
config_list_take_rules(const struct config_setting *v)
{
    return config_list_take(v, config_list_check_rule);
}

int
config_list_take_servers(const struct config_setting *v)
{
    return config_list_take(v, config_list_check_server);
}

void
config_list_put(struct buf *b, const struct config *c,
                const struct config_row *row)
{
    char **at = config_value_member(c, row);
    const char *text = *at, *comma = "";

    buf_puts(b, "[");
    while (*text) {
        size_t n = strcspn(text, ",");
        buf_puts(b, comma);
        put_string(b, text, n);
        comma = ", ";
        text += n + (text[n] == ',');
    }
    buf_puts(b, "]");
}

void
config_list_allow_rules(const struct config_row *row, char *ret, size_t size)
{
    (void)row;
    (void)snprintf(ret, size, "a list of rules (docs/network.md)");
}

void
config_list_allow_servers(const struct config_row *row, char *ret, size_t size)
{
    (void)row;
    (void)snprintf(ret, size, "a list of addresses");
}
