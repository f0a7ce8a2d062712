/* DNS messages of the virtual name server: one question in, one answer out. */
#ifndef NET_DNS_H
#define NET_DNS_H

#include "net/hostname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DNS_BYTES_MAX = 512, DNS_TTL_S = 60 };

enum dns_type { DNS_A = 1, DNS_PTR = 12, DNS_AAAA = 28 };

enum dns_rcode {
    DNS_OK = 0,
    DNS_FAILED = 2,
    DNS_NO_NAME = 3,
    DNS_NOT_BUILT = 4,
};

/* A question, with its own copy of the message that it came in. */
struct dns_question {
    uint16_t id, type;
    bool is_query; /* of class IN, with exactly one question */
    bool wants_recursion;
    uint16_t len; /* of the header and the question */
    uint8_t bytes[DNS_BYTES_MAX];
    char name[HOSTNAME_MAX + 1]; /* canonical; "": not the name of a host */
    size_t name_len;
};

/* Parses a message. Returns false for one that cannot be answered, because it
 * is no question or is cut off. */
bool dns_question_parse(const uint8_t *p, size_t len, struct dns_question *ret);
/* Returns true if the question is for the name of an IPv4 address (PTR). */
bool dns_question_address(const struct dns_question *q, uint8_t ret_v4[4]);

/* Write an answer of at most DNS_BYTES_MAX bytes, and return its length:
 * without a record, with an address, or with a name. */
size_t dns_answer_empty(const struct dns_question *q, enum dns_rcode rcode,
                        uint8_t *to);
size_t dns_answer_address(const struct dns_question *q, const uint8_t v4[4],
                          uint8_t *to);
size_t dns_answer_name(const struct dns_question *q, const char *name,
                       uint8_t *to);

#endif
