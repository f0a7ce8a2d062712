#include "net/rule.h"

#include "base/buf.h"
#include "base/parse.h"
#include "base/text.h"

#include <string.h>

#define PRIVATE_MARK "+private"
#define RAW_MARK     "+raw"

enum { PORT_LAST = UINT16_MAX, PORT_HTTPS = 443 };

/* Returns the part of *t before the first `c`, and leaves the part behind it in
 * *t. Without a `c`, returns all and leaves a text without an address. */
static struct text
rule_cut(struct text *t, char c)
{
    const char *at = t->len ? memchr(t->p, c, t->len) : NULL;
    struct text head = *t;

    if (!at) {
        *t = (struct text){0};
        return head;
    }
    head.len = (size_t)(at - t->p);
    *t = (struct text){at + 1, t->len - head.len - 1};
    return head;
}

static bool
rule_parse_port(struct text t, uint16_t *ret)
{
    uint64_t n;

    if (!parse_u64(t.p, t.len, PORT_LAST, &n) || !n)
        return false;
    *ret = (uint16_t)n;
    return true;
}

static bool
rule_parse_range(struct text t, struct rule_ports *ret)
{
    if (text_is(t, "*")) {
        *ret = (struct rule_ports){1, PORT_LAST};
        return true;
    }
    struct text first = rule_cut(&t, '-');
    if (!rule_parse_port(first, &ret->first))
        return false;
    ret->last = ret->first;
    return !t.p || (rule_parse_port(t, &ret->last) && ret->first <= ret->last);
}

static const char *
rule_parse_ports(struct text t, struct rule *r)
{
    do {
        struct text range = rule_cut(&t, ';');
        if (r->n_ports == RULE_PORTS_MAX)
            return "has more than 8 ranges of ports";
        if (!rule_parse_range(range, &r->ports[r->n_ports++]))
            return "has ports that are not numbers from 1 to 65535, ranges "
                   "like 8000-8100, or *";
    } while (t.p);
    return NULL;
}

static void
rule_set_default_ports(struct rule *r)
{
    static const struct rule_ports web[] = {{80, 80}, {443, 443}};

    r->n_ports = r->is_deny ? 1 : 2;
    r->ports[0] = (struct rule_ports){1, PORT_LAST};
    if (!r->is_deny)
        memcpy(r->ports, web, sizeof web);
}

static bool
rule_has_host_bits(const struct rule *r)
{
    for (int i = r->bits; i < ADDRESS_BITS; i++)
        if (r->ip.s6_addr[i / 8] & (0x80 >> i % 8))
            return true;
    return false;
}

/* `bits` is the text behind the slash; without an address, there was none. */
static const char *
rule_parse_bits(struct text bits, struct rule *r)
{
    int before = address_is_v4(&r->ip) ? ADDRESS_V4_BITS : 0;
    uint64_t n = (uint64_t)(ADDRESS_BITS - before);

    r->kind = RULE_ADDRESS;
    if (bits.p && !parse_u64(bits.p, bits.len, n, &n))
        return before ? "has a prefix that is not a number from 0 to 32"
                      : "has a prefix that is not a number from 0 to 128";
    r->bits = (uint8_t)(before + (int)n);
    return rule_has_host_bits(r)
               ? "has bits behind its prefix that are not zero"
               : NULL;
}

static const char *
rule_parse_name(struct text t, struct rule *r)
{
    if (text_is(t, "*"))
        return "is a wildcard for every name: use public";
    if (t.len > 2 && t.p[0] == '*' && t.p[1] == '.') {
        r->is_below = true;
        t.p += 2;
        t.len -= 2;
    }
    r->name_len = (uint16_t)hostname_parse(t.p, t.len, r->name);
    struct text name = {r->name, r->name_len};
    /* "public." would print as the word. */
    if (!name.len || (text_is(name, "public") && !r->is_below))
        return "is neither a name, an address nor public";
    if (r->is_below && !memchr(r->name, '.', r->name_len))
        return "has a wildcard above a single label, which would allow a "
               "whole top-level domain";
    return NULL;
}

/* The case of names does not matter, and so that of this word. */
static bool
rule_is_public(struct text t)
{
    static const char word[] = "public";
    size_t i = 0;

    while (i < t.len && word[i] && (t.p[i] | 0x20) == word[i])
        i++;
    return i == t.len && !word[i];
}

/* Parses `t` up to the ports, which are left in *ret_ports. */
static const char *
rule_parse_target(struct text t, struct rule *r, struct text *ret_ports)
{
    struct text head = rule_cut(&t, ':');

    *ret_ports = t;
    if (rule_is_public(head)) {
        r->kind = RULE_PUBLIC;
        return NULL;
    }
    if (t.p && memchr(t.p, ':', t.len))
        return "has several colons: write an IPv6 address in brackets";
    struct text bits = head, address = rule_cut(&bits, '/');
    if (address_parse(address.p, address.len, &r->ip))
        return rule_parse_bits(bits, r);
    return bits.p ? "has a prefix behind something that is not an address"
                  : rule_parse_name(head, r);
}

/* Parses what follows the opening bracket, in the same way. */
static const char *
rule_parse_bracket(struct text t, struct rule *r, struct text *ret_ports)
{
    struct text address = rule_cut(&t, ']');

    if (!t.p || !address_parse(address.p, address.len, &r->ip))
        return "has brackets without an IPv6 address in them";
    if (address_is_v4(&r->ip))
        return "has brackets around an IPv4 address";
    struct text rest = t, behind = rule_cut(&rest, ':');
    *ret_ports = rest;
    if (!behind.len)
        return rule_parse_bits((struct text){0}, r);
    if (behind.p[0] != '/')
        return "has something other than a prefix or ports behind its "
               "brackets";
    return rule_parse_bits((struct text){behind.p + 1, behind.len - 1}, r);
}

/* Removes a mark from the end of *t. */
static bool
rule_cut_mark(struct text *t, const char *mark)
{
    size_t n = strlen(mark);

    if (t->len < n || memcmp(t->p + t->len - n, mark, n) != 0)
        return false;
    t->len -= n;
    return true;
}

/* The marks may be in any order; each occurs once. */
static void
rule_cut_marks(struct text *t, struct rule *r)
{
    r->is_raw = rule_cut_mark(t, RAW_MARK);
    r->may_be_private = rule_cut_mark(t, PRIVATE_MARK);
    if (r->may_be_private && !r->is_raw)
        r->is_raw = rule_cut_mark(t, RAW_MARK);
}

static const char *
rule_check_marks(const struct rule *r)
{
    if (r->kind == RULE_NAME && !r->is_deny)
        return NULL;
    if (r->may_be_private)
        return "has +private, which belongs to names that are allowed";
    return r->is_raw ? "has +raw, which belongs to names that are allowed"
                     : NULL;
}

const char *
rule_parse(const char *text, size_t len, struct rule *ret)
{
    struct text t = {text, len}, ports = {0};
    struct rule r = {0};
    const char *reason;

    if (!len || len > RULE_TEXT_MAX)
        return len ? "is longer than 512 bytes" : "is empty";
    if (t.p[0] == '!') {
        r.is_deny = true;
        t = (struct text){t.p + 1, t.len - 1};
    }
    rule_cut_marks(&t, &r);
    if (t.len && t.p[0] == '[')
        reason =
            rule_parse_bracket((struct text){t.p + 1, t.len - 1}, &r, &ports);
    else
        reason = rule_parse_target(t, &r, &ports);
    if (!reason)
        reason = rule_check_marks(&r);
    if (reason)
        return reason;
    if (ports.p)
        reason = rule_parse_ports(ports, &r);
    else
        rule_set_default_ports(&r);
    if (!reason)
        *ret = r;
    return reason;
}

static void
rule_print_target(const struct rule *r, struct buf *b)
{
    char address[ADDRESS_TEXT_BYTES];
    bool is_v4 = address_is_v4(&r->ip);

    if (r->kind == RULE_PUBLIC) {
        buf_puts(b, "public");
        return;
    }
    if (r->kind == RULE_NAME) {
        buf_puts(b, r->is_below ? "*." : "");
        buf_puts(b, r->name);
        return;
    }
    address_print(&r->ip, address);
    buf_printf(b, is_v4 ? "%s" : "[%s]", address);
    if (r->bits < ADDRESS_BITS)
        buf_printf(b, "/%d", r->bits - (is_v4 ? ADDRESS_V4_BITS : 0));
}

void
rule_print(const struct rule *r, struct buf *b)
{
    struct rule plain = {.is_deny = r->is_deny};

    buf_puts(b, r->is_deny ? "!" : "");
    rule_print_target(r, b);
    rule_set_default_ports(&plain);
    bool is_plain =
        plain.n_ports == r->n_ports &&
        !memcmp(plain.ports, r->ports, r->n_ports * sizeof *r->ports);
    for (int i = 0; i < r->n_ports && !is_plain; i++) {
        const struct rule_ports *p = &r->ports[i];
        buf_puts(b, i ? ";" : ":");
        if (p->first == 1 && p->last == PORT_LAST)
            buf_puts(b, "*");
        else if (p->first == p->last)
            buf_printf(b, "%d", p->first);
        else
            buf_printf(b, "%d-%d", p->first, p->last);
    }
    buf_puts(b, r->may_be_private ? PRIVATE_MARK : "");
    buf_puts(b, r->is_raw ? RAW_MARK : "");
}

bool
rule_has_name(const struct rule *r, const char *name, size_t len)
{
    size_t n = r->name_len;

    if (r->kind != RULE_NAME)
        return false;
    if (!r->is_below)
        return len == n && !memcmp(name, r->name, n);
    return len > n + 1 && name[len - n - 1] == '.' &&
           !memcmp(name + len - n, r->name, n);
}

bool
rule_has_address(const struct rule *r, const struct in6_addr *ip)
{
    return r->kind == RULE_ADDRESS &&
           address_is_v4(&r->ip) == address_is_v4(ip) &&
           address_covers(&r->ip, r->bits, ip);
}

bool
rule_has_port(const struct rule *r, uint16_t port)
{
    for (int i = 0; i < r->n_ports; i++)
        if (!port || (port >= r->ports[i].first && port <= r->ports[i].last))
            return true;
    return false;
}

bool
rule_has_all_ports(const struct rule *r)
{
    for (int i = 0; i < r->n_ports; i++)
        if (r->ports[i].first == 1 && r->ports[i].last == PORT_LAST)
            return true;
    return false;
}

bool
rule_checks_tls(const struct rule *r, uint16_t port)
{
    return r->kind == RULE_NAME && port == PORT_HTTPS && !r->is_raw;
}
