/* Internet addresses, and the ranges of them that are not public.
 *
 * An address is always IPv6: IPv4 addresses are mapped (::ffff:a.b.c.d). */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

enum { ADDRESS_TEXT_BYTES = 46, ADDRESS_BITS = 128, ADDRESS_V4_BITS = 96 };

enum address_kind {
    ADDRESS_PUBLIC,
    /* Private, link-local, shared, documentation, and future use. */
    ADDRESS_PRIVATE,
    ADDRESS_LOOPBACK, /* of the host */
    /* Metadata services of clouds, unspecified, multicast and broadcast. */
    ADDRESS_RESERVED,
};

/* Reads a whole address. IPv4 has four decimal numbers without leading zeros;
 * IPv6 has no zone. Returns false for all other texts. */
bool address_parse(const char *text, size_t len, struct in6_addr *ret);
/* Writes an address as address_parse reads it, and a NUL. */
void address_print(const struct in6_addr *ip, char to[ADDRESS_TEXT_BYTES]);
void address_map_v4(const void *four_bytes, struct in6_addr *ret);
bool address_is_v4(const struct in6_addr *ip);
/* Returns true if the first `bits` bits are equal. */
bool address_covers(const struct in6_addr *net, int bits,
                    const struct in6_addr *ip);
/* Returns true if routers or hosts translate ip into an IPv4 address: NAT64,
 * 6to4 and ::a.b.c.d. */
bool address_leads_to(const struct in6_addr *ip, struct in6_addr *ret_v4);
/* Returns the kind. *ret_bits is the number of bits of the range that it is
 * from; 0 for public addresses. */
enum address_kind address_kind(const struct in6_addr *ip, int *ret_bits);

#endif
