/* Messages as in RFC 1035. A question is copied into the answer as it came, so
 * that the case of its letters stays; no answer is longer than 512 bytes. */
#include "net/dns.h"

#include "base/parse.h"

#include <string.h>

enum {
    HEADER_BYTES = 12,
    QUESTION_TAIL = 4, /* type and class behind the name */
    CLASS_IN = 1,
    FLAG_ANSWER = 0x8000,
    FLAG_OPCODE = 0x7800,
    FLAG_RECURSION = 0x0100,
    FLAG_RECURSES = 0x0080,
    POINTER_TO_QUESTION = 0xc00c,
};

static const char REVERSE[] = ".in-addr.arpa";

static uint16_t
dns_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint8_t *
dns_put16(uint8_t *to, unsigned v)
{
    to[0] = (uint8_t)(v >> 8);
    to[1] = (uint8_t)v;
    return to + 2;
}

/* Reads the labels at byte HEADER_BYTES as text with dots. Compression is not
 * used in questions, so a pointer is an error. Returns the position behind the
 * name, or 0. */
static size_t
dns_read_name(const uint8_t *p, size_t len, char *text, size_t *ret_len)
{
    size_t at = HEADER_BYTES, n = 0;

    while (at < len && p[at]) {
        size_t label = p[at++];
        if (label > HOSTNAME_LABEL_MAX || at + label >= len ||
            n + label + 1 > HOSTNAME_MAX)
            return 0;
        if (n)
            text[n++] = '.';
        memcpy(text + n, p + at, label);
        n += label;
        at += label;
    }
    *ret_len = n;
    return at < len ? at + 1 : 0;
}

bool
dns_question_parse(const uint8_t *p, size_t len, struct dns_question *ret)
{
    char text[HOSTNAME_MAX + 1];
    size_t n = 0;

    if (len < HEADER_BYTES || len > DNS_BYTES_MAX ||
        dns_get16(p + 2) & FLAG_ANSWER)
        return false;
    size_t end = dns_read_name(p, len, text, &n);
    if (!end || end + QUESTION_TAIL > len)
        return false;
    *ret = (struct dns_question){
        .id = dns_get16(p),
        .type = dns_get16(p + end),
        .is_query = !(dns_get16(p + 2) & FLAG_OPCODE) &&
                    dns_get16(p + 4) == 1 && dns_get16(p + end + 2) == CLASS_IN,
        .wants_recursion = dns_get16(p + 2) & FLAG_RECURSION,
        .len = (uint16_t)(end + QUESTION_TAIL),
    };
    memcpy(ret->bytes, p, ret->len);
    ret->name_len = hostname_parse(text, n, ret->name);
    if (!ret->name_len)
        ret->name[0] = 0;
    return true;
}

/* d.c.b.a.in-addr.arpa is the name of a.b.c.d. */
bool
dns_question_address(const struct dns_question *q, uint8_t ret_v4[4])
{
    size_t tail = sizeof REVERSE - 1;
    const char *at = q->name;

    if (q->name_len <= tail ||
        strcmp(q->name + q->name_len - tail, REVERSE) != 0)
        return false;
    for (int i = 3; i >= 0; i--) {
        const char *dot = strchr(at, '.');
        uint64_t n;
        if (!dot || !parse_u64(at, (size_t)(dot - at), UINT8_MAX, &n))
            return false;
        ret_v4[i] = (uint8_t)n;
        at = dot + 1;
    }
    return !strcmp(at, REVERSE + 1);
}

static uint8_t *
dns_begin(const struct dns_question *q, enum dns_rcode rcode, unsigned records,
          uint8_t *to)
{
    unsigned flags = (unsigned)FLAG_ANSWER | FLAG_RECURSES | rcode |
                     (q->wants_recursion ? FLAG_RECURSION : 0);

    memcpy(to, q->bytes, q->len);
    (void)dns_put16(to + 2, flags);
    (void)dns_put16(to + 4, 1);
    (void)dns_put16(to + 6, records);
    memset(to + 8, 0, 4);
    return to + q->len;
}

static uint8_t *
dns_put_record(uint8_t *at, unsigned type, size_t len)
{
    at = dns_put16(at, POINTER_TO_QUESTION);
    at = dns_put16(at, type);
    at = dns_put16(at, CLASS_IN);
    at = dns_put16(at, 0);
    at = dns_put16(at, DNS_TTL_S);
    return dns_put16(at, (unsigned)len);
}

size_t
dns_answer_empty(const struct dns_question *q, enum dns_rcode rcode,
                 uint8_t *to)
{
    return (size_t)(dns_begin(q, rcode, 0, to) - to);
}

/* A question has at most 271 bytes, so the record fits behind it. */
size_t
dns_answer_address(const struct dns_question *q, const uint8_t v4[4],
                   uint8_t *to)
{
    uint8_t *at = dns_put_record(dns_begin(q, DNS_OK, 1, to), DNS_A, 4);

    memcpy(at, v4, 4);
    return (size_t)(at + 4 - to);
}

/* The question is for the name of an address, which is short: see
 * dns_question_address. */
size_t
dns_answer_name(const struct dns_question *q, const char *name, uint8_t *to)
{
    size_t len = strlen(name);
    uint8_t *at = dns_put_record(dns_begin(q, DNS_OK, 1, to), DNS_PTR, len + 2);
    uint8_t *label = at++;

    for (size_t i = 0; i <= len; i++) {
        if (name[i] && name[i] != '.') {
            *at++ = (uint8_t)name[i];
            continue;
        }
        *label = (uint8_t)(at - label - 1);
        label = at++;
    }
    *label = 0;
    return (size_t)(at - to);
}
