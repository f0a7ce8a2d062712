/* wasm-sandbox session net: the network policy of a session. */
#include "cli/session.h"

#include "base/own.h"

#include <stdio.h>
#include <string.h>

static void
cli_put_rules(struct buf *p, const struct cli_rules *rules)
{
    buf_puts(p, "[");
    for (size_t i = 0; i < rules->n; i++) {
        buf_puts(p, i ? "," : "");
        put_text(p, rules->v[i]);
    }
    buf_puts(p, "]");
}

/* `off` and `public` stand for themselves. Rules may begin with `!`, which the
 * supervisor accepts in both lists. */
void
cli_put_network(const struct cli *c, struct buf *params)
{
    const struct cli_rules *rules = &c->net;

    if (!rules->n)
        return;
    put_name(params, "network");
    if (rules->n == 1 && !strcmp(rules->v[0], "off")) {
        buf_puts(params, "\"off\"");
        return;
    }
    buf_puts(params, "{\"allow\":");
    cli_put_rules(params, rules);
    buf_puts(params, "}");
}

/* Sends one change; an answer that is an error was reported. */
static bool
cli_change_network(struct cli *c, const char *method, const char *id,
                   const struct cli_rules *rules)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(id);

    if (rules == &c->net) {
        cli_put_network(c, &p);
    } else {
        put_name(&p, "rules");
        cli_put_rules(&p, rules);
    }
    return cli_call(c, method, &p, &answer);
}

int
cli_net(struct cli *c, const char *id)
{
    const struct {
        const char *method;
        const struct cli_rules *rules;
    } changes[] = {{"network.set", &c->net},
                   {"network.allow", &c->allow},
                   {"network.deny", &c->deny}};
    CLEANUP(json_fini) struct json_doc answer = {0};

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (changes[i].rules->n &&
            !cli_change_network(c, changes[i].method, id, changes[i].rules))
            return CLI_FAILED;
    struct buf p = cli_params(id);
    const struct json *network = cli_call(c, "network.get", &p, &answer);
    if (!network)
        return CLI_FAILED;
    cli_print_json(network);
    return 0;
}
