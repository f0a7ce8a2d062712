#include "net/message.h"

#include "net/policy.h"

#include <string.h>

/* The rest must be zero, so that a name has one form only. */
static bool
message_name_is_valid(const char name[HOSTNAME_MAX + 3], size_t len)
{
    char canonical[HOSTNAME_MAX + 1];

    if (len > HOSTNAME_MAX)
        return false;
    for (size_t i = len; i < HOSTNAME_MAX + 3; i++)
        if (name[i])
            return false;
    return !len || (hostname_parse(name, len, canonical) == len &&
                    !memcmp(canonical, name, len));
}

bool
message_request_is_valid(const struct message_request *q, size_t len)
{
    if (len != sizeof *q || q->kind < REQUEST_CONNECT ||
        q->kind > REQUEST_FIRST)
        return false;
    if (q->kind == REQUEST_FIRST)
        return q->name_len && q->name_len <= MESSAGE_FIRST_BYTES &&
               q->port <= 1;
    return message_name_is_valid(q->name, q->name_len) &&
           (q->kind != REQUEST_CONNECT || q->port) &&
           (q->kind != REQUEST_LOOKUP || q->name_len);
}

static bool
message_policy_has_lengths(const struct message_policy *p, size_t len)
{
    return p->rules_len <= MESSAGE_RULES_MAX &&
           p->maximum_len <= MESSAGE_RULES_MAX &&
           (size_t)p->rules_len + p->maximum_len == len - sizeof *p;
}

bool
message_policy_is_valid(const struct message_policy *p, size_t len)
{
    return len >= sizeof *p && message_policy_has_lengths(p, len) &&
           p->connections && p->connections <= MESSAGE_CONNECTIONS_MAX &&
           p->connects && p->connects <= MESSAGE_RATE_MAX && p->lookups &&
           p->lookups <= MESSAGE_RATE_MAX && p->host_loopback <= 1 &&
           p->reports <= 1;
}

bool
message_report_is_valid(const struct message_report *r, size_t len)
{
    if (len != sizeof *r || r->kind < REPORT_OPEN || r->kind > REPORT_DENY ||
        !message_name_is_valid(r->name, r->name_len))
        return false;
    switch ((enum message_report_kind)r->kind) {
    case REPORT_OPEN:
        return true;
    case REPORT_CLOSE:
        return r->reason < N_CLOSE_CAUSES;
    case REPORT_DENY:
        break;
    }
    return r->reason < N_VERDICTS;
}
