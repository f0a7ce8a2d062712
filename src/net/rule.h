/* A rule of the network policy, as text:
 *
 *   [!] TARGET [:PORTS] [+private] [+raw]
 *
 * TARGET is a name, `*.` and a name for everything below it, an IPv4 address or
 * an IPv6 address in brackets, both with an optional /BITS, or the word
 * `public`. PORTS are numbers and ranges with `;` between them, or `*`. Without
 * ports, a rule that allows means 80 and 443, and one that denies (`!`) means
 * all. */
#ifndef NET_RULE_H
#define NET_RULE_H

#include "net/address.h"
#include "net/hostname.h"

#include <stdint.h>

struct buf;

enum { RULE_PORTS_MAX = 8, RULE_TEXT_MAX = 512 };

enum rule_kind {
    RULE_NAME,
    RULE_ADDRESS,
    RULE_PUBLIC, /* all addresses of the kind ADDRESS_PUBLIC */
};

struct rule_ports {
    uint16_t first, last;
};

struct rule {
    enum rule_kind kind;
    bool is_deny;
    bool is_below;         /* everything below the name, not the name itself */
    bool may_be_private;   /* the name may have private addresses */
    bool is_raw;           /* the first bytes of connections are not checked */
    uint8_t n_ports, bits; /* `bits` of 128, also for IPv4 */
    uint16_t name_len;
    struct rule_ports ports[RULE_PORTS_MAX];
    struct in6_addr ip;
    char name[HOSTNAME_MAX + 1]; /* canonical */
};

/* Parses a rule. Returns NULL, or the reason why the text is no rule: a
 * constant sentence without a subject and a full stop. */
const char *rule_parse(const char *text, size_t len, struct rule *ret);
/* Appends the canonical text of the rule. */
void rule_print(const struct rule *r, struct buf *b);

/* The name must be canonical. */
bool rule_has_name(const struct rule *r, const char *name, size_t len);
/* True for a RULE_ADDRESS that contains the address. */
bool rule_has_address(const struct rule *r, const struct in6_addr *ip);
/* Port 0 means any port: true if the rule has one. */
bool rule_has_port(const struct rule *r, uint16_t port);
bool rule_has_all_ports(const struct rule *r);
/* Returns true if connections to this port must begin with a TLS message that
 * asks for the name: those of rules for names, to port 443, without +raw. */
bool rule_checks_tls(const struct rule *r, uint16_t port);

#endif
