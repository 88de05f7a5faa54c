/* A set of addresses and networks, such as those of proxies that are believed. Fixed size; any
 * thread once it is filled. */
#ifndef NET_ADDRESS_SET_H
#define NET_ADDRESS_SET_H

#include "tandem/types.h"

#define ADDRESS_SET_MAX 64

struct sockaddr;

struct address_set {
    size_t count;
    bool has_path; /* whoever comes by a socket of a path is in it */
    struct {
        uint8_t bytes[16]; /* IPv4 as ::ffff:a.b.c.d */
        uint8_t bits;      /* of 128 */
    } items[ADDRESS_SET_MAX];
};

/* "10.0.0.7", "10.0.0.0/8", "fd00::/8", or "unix". False when it is none of these, when bits are
 * set behind the prefix, or when the set is full. */
bool address_set_add(struct address_set *set, struct td_str text);
/* An IPv4 address is the same in IPv6's form. */
bool address_set_has(const struct address_set *set, const struct sockaddr *address);

/* Neither this machine nor a network of somebody's own, nor anything else that is not of the whole
 * internet (the IANA registries of special-purpose addresses). An IPv4 address inside of an IPv6
 * one counts as itself. */
bool address_is_public(const struct sockaddr *address);

#endif
