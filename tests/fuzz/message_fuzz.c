/* Fuzzes what a sandbox sends: questions to the name server, and requests to
 * the broker. An answer fits its buffer and is no question itself; an accepted
 * request has a canonical name, or first bytes that fit. */
#include "net/dns.h"
#include "net/message.h"
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

static void
check_answer(const uint8_t *p, size_t len)
{
    struct dns_question again;

    must(len >= 12 && len <= DNS_BYTES_MAX);
    must(!dns_question_parse(p, len, &again));
}

static void
check_question(const uint8_t *data, size_t size)
{
    static const uint8_t v4[] = {198, 18, 0, 1};
    uint8_t to[DNS_BYTES_MAX], found[4];
    struct dns_question q;

    if (!dns_question_parse(data, size, &q))
        return;
    must(q.len <= size && strlen(q.name) == q.name_len);
    check_answer(to, dns_answer_empty(&q, DNS_NO_NAME, to));
    check_answer(to, dns_answer_address(&q, v4, to));
    if (dns_question_address(&q, found))
        check_answer(to, dns_answer_name(&q, q.name, to));
}

static void
check_request(const uint8_t *data, size_t size)
{
    char name[HOSTNAME_MAX + 1];
    struct message_request q = {0};

    memcpy(&q, data, size < sizeof q ? size : sizeof q);
    if (!message_request_is_valid(&q, size))
        return;
    if (q.kind == REQUEST_FIRST) {
        must(q.name_len && q.name_len <= sizeof q.name && q.port <= 1);
        return;
    }
    must(!q.name_len ||
         hostname_parse(q.name, strlen(q.name), name) == q.name_len);
}

/* A report of the broker is read by its owner, which does not trust it. */
static void
check_report(const uint8_t *data, size_t size)
{
    struct message_report r = {0};

    memcpy(&r, data, size < sizeof r ? size : sizeof r);
    if (!message_report_is_valid(&r, size))
        return;
    must(strlen(r.name) == r.name_len);
    must(r.kind == REPORT_OPEN || r.reason < N_VERDICTS);
}

static void
check_policy(const uint8_t *data, size_t size)
{
    struct message_policy *m = malloc(size + sizeof *m);

    memcpy(m, data, size);
    if (size >= sizeof *m && message_policy_is_valid(m, size))
        must(m->rules_len + m->maximum_len + sizeof *m == size &&
             m->connections);
    free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_question(data, size);
    check_request(data, size);
    check_policy(data, size);
    check_report(data, size);
    return 0;
}
