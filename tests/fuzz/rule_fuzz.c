/* Fuzzes rules of the network policy. Each line is a rule. A rule that is
 * accepted prints as a rule that is accepted and prints in the same way, and
 * decides in the same way; a rejected one has a reason. */
#include "base/buf.h"
#include "net/policy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
    if (!ok)
        abort();
}

/* Addresses of each kind, and the address of the rule itself. */
static void
check_decisions(const struct rule *a, const struct rule *b)
{
    static const char *const addresses[] = {"1.1.1.1", "10.0.0.1", "127.0.0.1",
                                            "169.254.169.254", "2606::1"};
    struct rule rules[] = {*a, *b};
    const struct rule *found;
    struct policy p = {rules, 1, true}, q = {rules + 1, 1, true};
    struct policy_target t = {a->name, a->name_len, a->ip, a->ports[0].last};

    must(policy_decide(&p, &t, &found) == policy_decide(&q, &t, &found));
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        must(address_parse(addresses[i], strlen(addresses[i]), &t.ip));
        enum verdict v = policy_decide(&p, &t, &found);
        must(v == policy_decide(&q, &t, &found));
        must(v != VERDICT_ALLOWED || !a->is_deny);
    }
}

static void
check_rule(const char *text, size_t len)
{
    struct buf first, second;
    struct rule r, again;
    const char *reason = rule_parse(text, len, &r);

    must(!reason || *reason);
    if (reason)
        return;
    buf_init(&first, RULE_TEXT_MAX);
    buf_init(&second, RULE_TEXT_MAX);
    rule_print(&r, &first);
    must(!first.error && !rule_parse(first.p, first.len, &again));
    rule_print(&again, &second);
    must(first.len == second.len && !memcmp(first.p, second.p, first.len));
    check_decisions(&r, &again);
    buf_fini(&first);
    buf_fini(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data, *end = p + size;

    while (p < end) {
        const char *line = memchr(p, '\n', (size_t)(end - p));
        size_t len = line ? (size_t)(line - p) : (size_t)(end - p);
        check_rule(p, len);
        p += len + 1;
    }
    return 0;
}
