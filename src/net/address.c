/* The ranges are those of the IANA registries of special-purpose addresses, and
 * the metadata addresses that clouds offer to their machines. */
#include "net/address.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

bool
address_parse(const char *text, size_t len, struct in6_addr *ret)
{
    char copy[ADDRESS_TEXT_BYTES];
    struct in_addr v4;

    if (len >= sizeof copy || memchr(text, 0, len))
        return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    if (inet_pton(AF_INET, copy, &v4) == 1) {
        address_map_v4(&v4, ret);
        return true;
    }
    return inet_pton(AF_INET6, copy, ret) == 1;
}

void
address_print(const struct in6_addr *ip, char to[ADDRESS_TEXT_BYTES])
{
    if (address_is_v4(ip))
        (void)inet_ntop(AF_INET, ip->s6_addr + 12, to, ADDRESS_TEXT_BYTES);
    else
        (void)inet_ntop(AF_INET6, ip, to, ADDRESS_TEXT_BYTES);
}

void
address_map_v4(const void *four_bytes, struct in6_addr *ret)
{
    *ret = (struct in6_addr){0};
    ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
    memcpy(ret->s6_addr + 12, four_bytes, 4);
}

bool
address_is_v4(const struct in6_addr *ip)
{
    return IN6_IS_ADDR_V4MAPPED(ip);
}

/* Returns the bits in which halves of two addresses differ, first bit first. */
static uint64_t
address_differences(const struct in6_addr *a, const struct in6_addr *b,
                    size_t at)
{
    uint64_t x, y;

    memcpy(&x, a->s6_addr + at, sizeof x);
    memcpy(&y, b->s6_addr + at, sizeof y);
    return be64toh(x ^ y);
}

bool
address_covers(const struct in6_addr *net, int bits, const struct in6_addr *ip)
{
    uint64_t high = address_differences(net, ip, 0);

    if (bits <= 64)
        return !bits || !(high >> (64 - bits));
    return !high && !(address_differences(net, ip, 8) >> (128 - bits));
}

#define V4(a, b, c, d)                                                       \
    {                                                                        \
        {                                                                    \
            {                                                                \
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, (a), (b), (c), (d) \
            }                                                                \
        }                                                                    \
    }
/* The first three groups of 16 bits, the last two, and zeros between. */
#define V6(a, b, c, y, z)                                                      \
    {                                                                          \
        {                                                                      \
            {                                                                  \
                (a) >> 8, (a)&0xff, (b) >> 8, (b)&0xff, (c) >> 8, (c)&0xff, 0, \
                    0, 0, 0, 0, 0, (y) >> 8, (y)&0xff, (z) >> 8, (z)&0xff      \
            }                                                                  \
        }                                                                      \
    }

/* Ranges that contain an IPv4 address, at byte `at`. */
static const struct address_way {
    struct in6_addr net;
    int bits, at;
} address_ways[] = {
    {V6(0, 0, 0, 0, 0), 96, 12},
    {V6(0x64, 0xff9b, 0, 0, 0), 96, 12},
    {V6(0x2002, 0, 0, 0, 0), 16, 2},
};

/* A narrow range stands before the wider one that contains it. */
static const struct address_range {
    struct in6_addr net;
    int bits;
    enum address_kind kind;
} address_ranges[] = {
    {V4(169, 254, 169, 254), 128, ADDRESS_RESERVED},
    {V4(169, 254, 170, 2), 128, ADDRESS_RESERVED},
    {V4(100, 100, 100, 200), 128, ADDRESS_RESERVED},
    {V4(168, 63, 129, 16), 128, ADDRESS_RESERVED},
    {V4(255, 255, 255, 255), 128, ADDRESS_RESERVED},
    {V4(0, 0, 0, 0), 104, ADDRESS_RESERVED},
    {V4(224, 0, 0, 0), 100, ADDRESS_RESERVED},
    {V4(127, 0, 0, 0), 104, ADDRESS_LOOPBACK},
    {V4(10, 0, 0, 0), 104, ADDRESS_PRIVATE},
    {V4(100, 64, 0, 0), 106, ADDRESS_PRIVATE},
    {V4(169, 254, 0, 0), 112, ADDRESS_PRIVATE},
    {V4(172, 16, 0, 0), 108, ADDRESS_PRIVATE},
    {V4(192, 0, 0, 0), 120, ADDRESS_PRIVATE},
    {V4(192, 0, 2, 0), 120, ADDRESS_PRIVATE},
    {V4(192, 88, 99, 0), 120, ADDRESS_PRIVATE},
    {V4(192, 168, 0, 0), 112, ADDRESS_PRIVATE},
    {V4(198, 18, 0, 0), 111, ADDRESS_PRIVATE},
    {V4(198, 51, 100, 0), 120, ADDRESS_PRIVATE},
    {V4(203, 0, 113, 0), 120, ADDRESS_PRIVATE},
    {V4(240, 0, 0, 0), 100, ADDRESS_PRIVATE},
    {V6(0, 0, 0, 0, 0), 128, ADDRESS_RESERVED},
    {V6(0, 0, 0, 0, 1), 128, ADDRESS_LOOPBACK},
    {V6(0xfd00, 0xec2, 0, 0, 0x254), 128, ADDRESS_RESERVED},
    {V6(0xfd20, 0xce, 0, 0, 0x254), 128, ADDRESS_RESERVED},
    {V6(0xff00, 0, 0, 0, 0), 8, ADDRESS_RESERVED},
    {V6(0x64, 0xff9b, 1, 0, 0), 48, ADDRESS_PRIVATE},
    {V6(0x100, 0, 0, 0, 0), 64, ADDRESS_PRIVATE},
    {V6(0x2001, 0, 0, 0, 0), 23, ADDRESS_PRIVATE},
    {V6(0x2001, 0xdb8, 0, 0, 0), 32, ADDRESS_PRIVATE},
    {V6(0x3fff, 0, 0, 0, 0), 20, ADDRESS_PRIVATE},
    {V6(0x5f00, 0, 0, 0, 0), 16, ADDRESS_PRIVATE},
    {V6(0xfc00, 0, 0, 0, 0), 7, ADDRESS_PRIVATE},
    {V6(0xfe80, 0, 0, 0, 0), 10, ADDRESS_PRIVATE},
    {V6(0xfec0, 0, 0, 0, 0), 10, ADDRESS_PRIVATE},
};

static const struct address_range *
address_range_find(const struct in6_addr *ip)
{
    for (size_t i = 0; i < sizeof address_ranges / sizeof *address_ranges; i++)
        if (address_covers(&address_ranges[i].net, address_ranges[i].bits, ip))
            return &address_ranges[i];
    return NULL;
}

static const struct address_way *
address_way_find(const struct in6_addr *ip)
{
    for (size_t i = 0; i < sizeof address_ways / sizeof *address_ways; i++)
        if (address_covers(&address_ways[i].net, address_ways[i].bits, ip))
            return &address_ways[i];
    return NULL;
}

bool
address_leads_to(const struct in6_addr *ip, struct in6_addr *ret_v4)
{
    const struct address_way *way = address_way_find(ip);

    if (!way || IN6_IS_ADDR_UNSPECIFIED(ip) || IN6_IS_ADDR_LOOPBACK(ip))
        return false;
    address_map_v4(ip->s6_addr + way->at, ret_v4);
    return true;
}

/* An address that leads to an IPv4 one is at least private, because its route
 * is not that of the IPv4 address, and as restricted as that one. */
enum address_kind
address_kind(const struct in6_addr *ip, int *ret_bits)
{
    const struct address_range *range;
    struct in6_addr v4;

    *ret_bits = 0;
    if (address_leads_to(ip, &v4)) {
        *ret_bits = address_way_find(ip)->bits;
        range = address_range_find(&v4);
        return range ? range->kind : ADDRESS_PRIVATE;
    }
    range = address_range_find(ip);
    if (!range)
        return ADDRESS_PUBLIC;
    *ret_bits = range->bits;
    return range->kind;
}
