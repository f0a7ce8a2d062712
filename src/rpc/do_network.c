/* network.*: the policy of a sandbox. The methods do not wait for a running
 * command: the thread that runs it calls the handlers between time slices. */
#include "net/param.h"
#include "rpc/job.h"
#include "rpc/methods.h"
#include "rpc/report.h"
#include "rpc/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Appends the rules that deny, without their `!`, or those that allow. */
static void
network_put_list(struct buf *b, const char *name, char *const *rules,
                 bool denies)
{
    const char *separator = "";

    buf_printf(b, "%s\"%s\":[", denies ? "," : "", name);
    for (; *rules; rules++) {
        if ((**rules == '!') != denies)
            continue;
        buf_puts(b, separator);
        put_text(b, *rules + denies);
        separator = ",";
    }
    buf_puts(b, "]");
}

void
do_network_get(struct call *q)
{
    struct wsand_error err = {0};
    char **rules = NULL;
    uint64_t revision;

    int r = wsand_network_get(sandbox_of(q), &rules, &revision, &err);
    if (r != 0) {
        answer_failure(q, &err);
        return;
    }
    struct buf *b = answer_begin(q);
    buf_puts(b, "{\"network\":");
    if (rules) {
        buf_puts(b, "{");
        network_put_list(b, "allow", rules, false);
        network_put_list(b, "deny", rules, true);
        buf_puts(b, "}");
    } else {
        buf_puts(b, "\"off\"");
    }
    buf_printf(b, ",\"revision\":%" PRIu64 "}", revision);
    free(rules);
    answer_end(q);
}

/* Answers a change that returned r. */
static void
network_answer_set(OWN struct call *q, int r, const struct wsand_error *err)
{
    struct wsand_error ignored = {0};
    uint64_t revision = 0;
    char **rules = NULL;

    if (r == 0)
        r = wsand_network_get(sandbox_of(q), &rules, &revision, &ignored);
    free(rules);
    if (r != 0) {
        answer_failure(q, err);
        return;
    }
    buf_printf(answer_begin(q), "{\"revision\":%" PRIu64 "}", revision);
    answer_end(q);
}

/* The limits of a sandbox are those of its creation. */
void
do_network_set(struct call *q)
{
    struct wsand_error err = {0};
    struct network_param p;

    int r = network_param_read(json_get(q->params, "network"), &p);
    if (r < 0) {
        r = report_fail(&err, -r, "%s", p.why);
    } else {
        if (p.connections || p.connects || p.lookups || p.bytes || p.rate)
            r = report_fail(&err, EINVAL,
                            "network: limits are set when a sandbox is "
                            "created");
        else
            r = wsand_network_set(sandbox_of(q), p.rules, &err);
        network_param_fini(&p);
    }
    network_answer_set(q, r, &err);
}

/* Sets the rules of two NULL-terminated lists. */
static int
network_set_both(struct call *q, char *const *old, const char *const *more,
                 struct wsand_error *err)
{
    size_t n_old = 0, n_more = 0, n = 0;

    while (old && old[n_old])
        n_old++;
    while (more[n_more])
        n_more++;
    const char **all = calloc(n_old + n_more + 1, sizeof *all);
    if (!all)
        return report_fail(err, ENOMEM, "out of memory");
    while (n < n_old) {
        all[n] = old[n];
        n++;
    }
    memcpy(all + n, more, n_more * sizeof *more);
    int r = wsand_network_set(sandbox_of(q), all, err);
    free(all);
    return r;
}

/* Adds the rules of the call to the policy. */
static void
network_add_rules(OWN struct call *q, bool denies)
{
    const struct json *given = json_get(q->params, "rules");
    struct wsand_error err = {0};
    struct network_param p = {0};
    char **old = NULL;
    uint64_t revision;

    int r = wsand_network_get(sandbox_of(q), &old, &revision, &err);
    if (r == 0)
        r = network_param_add(denies ? NULL : given, denies ? given : NULL, &p);
    if (r < 0 && *p.why)
        r = report_fail(&err, -r, "%s", p.why);
    if (r == 0)
        r = network_set_both(q, old, p.rules, &err);
    free(old);
    network_param_fini(&p);
    network_answer_set(q, r, &err);
}

void
do_network_allow(struct call *q)
{
    network_add_rules(q, false);
}

void
do_network_deny(struct call *q)
{
    network_add_rules(q, true);
}
