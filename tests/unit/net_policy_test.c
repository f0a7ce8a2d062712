#include "net/policy.h"

#include "base/buf.h"
#include "test.h"

#include <errno.h>
#include <string.h>

/* The rules of most tests below. */
static const char *const office[] = {
    "api.example.com",
    "*.files.example.com:443",
    "db.corp.example:5432+private",
    "!evil.files.example.com",
    "!late.files.example.com:8443",
    "93.184.216.0/24:443",
    "10.1.0.0/16:8000-8100;9000",
    "!10.1.2.3:*",
    "[2606:2800::]/32:443",
    NULL,
};

static void
add_all(struct policy *p, const char *const *rules)
{
    const char *reason = NULL;

    policy_init(p);
    for (; *rules; rules++) {
        int r = policy_add(p, *rules, strlen(*rules), &reason);
        CHECK_EQ(r, 0);
        if (r < 0)
            test_failed(*rules, 0, reason);
    }
}

static enum verdict
name_verdict(const struct policy *p, const char *text, uint16_t port)
{
    char name[HOSTNAME_MAX + 1];
    size_t len = hostname_parse(text, strlen(text), name);

    CHECK(len > 0);
    return policy_decide_name(p, name, len, port);
}

static enum verdict
host_verdict(const struct policy *p, const char *name, const char *address,
             uint16_t port)
{
    struct policy_target t = {name, name ? strlen(name) : 0, {{{0}}}, port};
    const struct rule *rule = NULL;

    CHECK(address_parse(address, strlen(address), &t.ip));
    enum verdict v = policy_decide(p, &t, &rule);
    CHECK_EQ(v == VERDICT_ALLOWED, rule != NULL);
    return v;
}

/* Checks one decision and reports the address, not only the line. */
static void
check_host(const struct policy *p, const char *name, const char *address,
           uint16_t port, enum verdict want)
{
    enum verdict got = host_verdict(p, name, address, port);

    if (got != want)
        test_failed(address, port, verdict_word(got));
}

TEST(a_rule_prints_in_its_canonical_form)
{
    static const char *const same[][2] = {
        {"API.Example.com.", "api.example.com"},
        {"api.example.com:80;443", "api.example.com"},
        {"api.example.com:443", "api.example.com:443"},
        {"*.Example.com:1-65535", "*.example.com:*"},
        {"db.corp.example:5432+private", "db.corp.example:5432+private"},
        {"x.example:443+raw", "x.example:443+raw"},
        {"x.example+raw+private", "x.example+private+raw"},
        {"x.example+private+raw", "x.example+private+raw"},
        {"!x.example", "!x.example"},
        {"!x.example:*", "!x.example"},
        {"!x.example:80;443", "!x.example:80;443"},
        {"10.1.0.0/16:8000-8100;9000", "10.1.0.0/16:8000-8100;9000"},
        {"10.1.2.3/32", "10.1.2.3"},
        {"0.0.0.0/0:*", "0.0.0.0/0:*"},
        {"[2606:2800:0::]/32:443", "[2606:2800::]/32:443"},
        {"[::1]:8080", "[::1]:8080"},
        {"[::]/0", "[::]/0"},
        {"public", "public"},
        {"public:*", "public:*"},
        {"!puBlic:25", "!public:25"},
        {"!public:25", "!public:25"},
        {"localhost", "localhost"},
        {"_dmarc.x-y.example", "_dmarc.x-y.example"},
        {"xn--bcher-kva.example", "xn--bcher-kva.example"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct rule r;
        struct buf b;
        buf_init(&b, RULE_TEXT_MAX);
        CHECK(!rule_parse(same[i][0], strlen(same[i][0]), &r));
        rule_print(&r, &b);
        CHECK_EQ(b.len, strlen(same[i][1]));
        if (b.len == strlen(same[i][1]) && memcmp(b.p, same[i][1], b.len) != 0)
            test_failed(same[i][0], 0, same[i][1]);
        buf_fini(&b);
    }
}

TEST(a_bad_rule_is_rejected_with_the_reason)
{
    static const char *const bad[][2] = {
        {"", "is empty"},
        {"!", "neither a name"},
        {"*", "use public"},
        {"*.com", "top-level domain"},
        {"*.", "neither a name"},
        {"public.", "neither a name"},
        {"a.*.example", "neither a name"},
        {"x*.example", "neither a name"},
        {"a b", "neither a name"},
        {"a..b", "neither a name"},
        {".a.b", "neither a name"},
        {"http://a.example", "ports"},
        {"a.example/24", "prefix behind something"},
        {"b\303\274cher.example", "neither a name"},
        {"2130706433", "neither a name"},
        {"0x7f.1", "neither a name"},
        {"127.1", "neither a name"},
        {"127.0.0.01", "neither a name"},
        {"1.2.3.4/33", "from 0 to 32"},
        {"1.2.3.4/", "from 0 to 32"},
        {"1.2.3.4/-1", "from 0 to 32"},
        {"1.2.3.4/8", "behind its prefix"},
        {"[::1]/129", "from 0 to 128"},
        {"[2606::1]/16", "behind its prefix"},
        {"[1.2.3.4]", "around an IPv4"},
        {"[::ffff:1.2.3.4]", "around an IPv4"},
        {"[::ffff:102:304]:80", "around an IPv4"},
        {"[fe80::1%eth0]", "without an IPv6"},
        {"[::1", "without an IPv6"},
        {"[::1]x", "behind its brackets"},
        {"2606::1", "in brackets"},
        {"a.example:", "ports"},
        {"a.example:0", "ports"},
        {"a.example:65536", "ports"},
        {"a.example:80-70", "ports"},
        {"a.example:80-", "ports"},
        {"a.example:80;", "ports"},
        {"a.example:80,443", "ports"},
        {"a.example:+80", "ports"},
        {"a.example: 80", "ports"},
        {"a.example:1;2;3;4;5;6;7;8;9", "more than 8"},
        {"a.example:80:90", "several colons"},
        {"10.0.0.0/8+private", "belongs to names"},
        {"public+private", "belongs to names"},
        {"!a.example+private", "belongs to names"},
        {"a.example+privat", "neither a name"},
        {"10.0.0.0/8+raw", "+raw, which belongs to names"},
        {"public+raw", "+raw, which belongs to names"},
        {"!a.example+raw", "+raw, which belongs to names"},
        {"a.example+raw+raw", "neither a name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rule r;
        const char *reason = rule_parse(bad[i][0], strlen(bad[i][0]), &r);
        if (!reason || !strstr(reason, bad[i][1]))
            test_failed(bad[i][0], 0, reason ? reason : "accepted");
    }
}

TEST(a_rule_with_a_nul_or_of_too_many_bytes_is_rejected)
{
    char text[RULE_TEXT_MAX + 1];
    struct rule r;

    CHECK(rule_parse("a.example\0", 10, &r) != NULL);
    CHECK(rule_parse("10.0.0.1\0", 9, &r) != NULL);
    memset(text, 'a', sizeof text);
    CHECK(rule_parse(text, RULE_TEXT_MAX, &r) != NULL);
    CHECK(strstr(rule_parse(text, sizeof text, &r), "512") != NULL);
    for (size_t i = HOSTNAME_LABEL_MAX; i < sizeof text; i += 64)
        text[i] = '.';
    CHECK(!rule_parse(text, HOSTNAME_MAX, &r));
    CHECK(rule_parse(text, HOSTNAME_MAX + 2, &r) != NULL);
    text[HOSTNAME_LABEL_MAX] = 'a';
    CHECK(rule_parse(text, HOSTNAME_MAX, &r) != NULL);
}

TEST(a_name_is_looked_up_only_with_a_rule)
{
    static const struct {
        const char *name;
        uint16_t port;
        enum verdict want;
    } cases[] = {
        {"api.example.com", 0, VERDICT_ALLOWED},
        {"API.Example.COM.", 0, VERDICT_ALLOWED},
        {"api.example.com", 443, VERDICT_ALLOWED},
        {"api.example.com", 22, VERDICT_NO_RULE},
        {"xapi.example.com", 0, VERDICT_NO_RULE},
        {"x.api.example.com", 0, VERDICT_NO_RULE},
        {"api.example.com.evil.org", 0, VERDICT_NO_RULE},
        {"example.com", 0, VERDICT_NO_RULE},
        {"files.example.com", 0, VERDICT_NO_RULE},
        {"a.files.example.com", 0, VERDICT_ALLOWED},
        {"a.b.files.example.com", 443, VERDICT_ALLOWED},
        {"a.b.files.example.com", 80, VERDICT_NO_RULE},
        {"evilfiles.example.com", 0, VERDICT_NO_RULE},
        {"evil.files.example.com", 0, VERDICT_DENIED},
        {"evil.files.example.com", 443, VERDICT_DENIED},
        {"late.files.example.com", 0, VERDICT_ALLOWED},
        {"late.files.example.com", 8443, VERDICT_DENIED},
        {"secret-data.attacker.example", 0, VERDICT_NO_RULE},
    };
    CLEANUP(policy_fini) struct policy p;

    add_all(&p, office);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (name_verdict(&p, cases[i].name, cases[i].port) != cases[i].want)
            test_failed(cases[i].name, cases[i].port, "decision");
}

TEST(a_connection_needs_a_rule_for_its_name_or_address)
{
    static const struct {
        const char *name, *address;
        uint16_t port;
        enum verdict want;
    } cases[] = {
        {"api.example.com", "93.184.215.14", 443, VERDICT_ALLOWED},
        {"api.example.com", "93.184.215.14", 80, VERDICT_ALLOWED},
        {"api.example.com", "93.184.215.14", 22, VERDICT_NO_RULE},
        {NULL, "93.184.215.14", 443, VERDICT_NO_RULE},
        {"other.example", "93.184.215.14", 443, VERDICT_NO_RULE},
        {"a.files.example.com", "198.41.0.4", 443, VERDICT_ALLOWED},
        {"a.files.example.com", "198.41.0.4", 80, VERDICT_NO_RULE},
        {"evil.files.example.com", "198.41.0.5", 443, VERDICT_DENIED},
        {"evil.files.example.com", "93.184.216.9", 443, VERDICT_DENIED},
        {"db.corp.example", "10.9.9.9", 5432, VERDICT_ALLOWED},
        {"db.corp.example", "10.9.9.9", 443, VERDICT_NO_RULE},
        {"db.corp.example", "127.0.0.1", 5432, VERDICT_LOOPBACK},
        {"db.corp.example", "::1", 5432, VERDICT_LOOPBACK},
        /* Rebinding: the name's owner answers with an inner address. */
        {"api.example.com", "10.9.9.8", 443, VERDICT_PRIVATE},
        {"api.example.com", "127.0.0.1", 443, VERDICT_LOOPBACK},
        {"api.example.com", "169.254.169.254", 443, VERDICT_RESERVED},
        {"db.corp.example", "169.254.169.254", 5432, VERDICT_RESERVED},
        {"api.example.com", "::ffff:169.254.169.254", 443, VERDICT_RESERVED},
        {NULL, "93.184.216.34", 443, VERDICT_ALLOWED},
        {NULL, "::ffff:93.184.216.34", 443, VERDICT_ALLOWED},
        {"other.example", "93.184.216.34", 443, VERDICT_ALLOWED},
        {NULL, "93.184.217.34", 443, VERDICT_NO_RULE},
        {NULL, "10.1.7.7", 8080, VERDICT_ALLOWED},
        {NULL, "10.1.7.7", 9000, VERDICT_ALLOWED},
        {NULL, "10.1.7.7", 9001, VERDICT_NO_RULE},
        {NULL, "10.2.7.7", 9000, VERDICT_NO_RULE},
        {NULL, "10.1.2.3", 8080, VERDICT_DENIED},
        {NULL, "::ffff:10.1.2.3", 8080, VERDICT_DENIED},
        {NULL, "64:ff9b::a01:203", 8080, VERDICT_DENIED},
        {NULL, "2002:a01:203::1", 8080, VERDICT_DENIED},
        {NULL, "2606:2800::1", 443, VERDICT_ALLOWED},
        {NULL, "2606:2801::1", 443, VERDICT_NO_RULE},
    };
    CLEANUP(policy_fini) struct policy p;

    add_all(&p, office);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_host(&p, cases[i].name, cases[i].address, cases[i].port,
                   cases[i].want);
}

/* Every spelling of "all addresses" means the public ones. */
static void
check_public(const char *const *rules)
{
    static const struct {
        const char *address;
        enum verdict want;
    } cases[] = {
        {"1.1.1.1", VERDICT_ALLOWED},
        {"2606:4700::1111", VERDICT_ALLOWED},
        {"10.0.0.1", VERDICT_PRIVATE},
        {"172.31.0.1", VERDICT_PRIVATE},
        {"192.168.1.1", VERDICT_PRIVATE},
        {"100.64.0.1", VERDICT_PRIVATE},
        {"169.254.1.1", VERDICT_PRIVATE},
        {"192.0.0.8", VERDICT_PRIVATE},
        {"192.0.2.53", VERDICT_PRIVATE},
        {"198.18.0.1", VERDICT_PRIVATE},
        {"203.0.113.10", VERDICT_PRIVATE},
        {"240.0.0.1", VERDICT_PRIVATE},
        {"fe80::1", VERDICT_PRIVATE},
        {"fec0::1", VERDICT_PRIVATE},
        {"fc00::1", VERDICT_PRIVATE},
        {"fd12::1", VERDICT_PRIVATE},
        {"2001::1", VERDICT_PRIVATE},
        {"2001:db8::1", VERDICT_PRIVATE},
        {"::ffff:10.0.0.1", VERDICT_PRIVATE},
        {"64:ff9b::101:101", VERDICT_PRIVATE},
        {"64:ff9b:1::a00:1", VERDICT_PRIVATE},
        {"2002:a00:1::1", VERDICT_PRIVATE},
        {"127.0.0.1", VERDICT_LOOPBACK},
        {"127.255.1.1", VERDICT_LOOPBACK},
        {"::1", VERDICT_LOOPBACK},
        {"::ffff:127.0.0.1", VERDICT_LOOPBACK},
        {"::7f00:1", VERDICT_LOOPBACK},
        {"64:ff9b::7f00:1", VERDICT_LOOPBACK},
        {"2002:7f00:1::", VERDICT_LOOPBACK},
        {"0.0.0.0", VERDICT_RESERVED},
        {"0.1.2.3", VERDICT_RESERVED},
        {"::", VERDICT_RESERVED},
        {"::ffff:0.0.0.0", VERDICT_RESERVED},
        {"169.254.169.254", VERDICT_RESERVED},
        {"169.254.170.2", VERDICT_RESERVED},
        {"100.100.100.200", VERDICT_RESERVED},
        {"168.63.129.16", VERDICT_RESERVED},
        {"224.0.0.1", VERDICT_RESERVED},
        {"255.255.255.255", VERDICT_RESERVED},
        {"ff02::1", VERDICT_RESERVED},
        {"fd00:ec2::254", VERDICT_RESERVED},
        {"fd20:ce::254", VERDICT_RESERVED},
        {"64:ff9b::a9fe:a9fe", VERDICT_RESERVED},
        {"2002:a9fe:a9fe::1", VERDICT_RESERVED},
    };
    CLEANUP(policy_fini) struct policy p;

    add_all(&p, rules);
    p.host_loopback = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_host(&p, NULL, cases[i].address, 443, cases[i].want);
        check_host(&p, "a.example", cases[i].address, 443, cases[i].want);
    }
    CHECK_EQ(name_verdict(&p, "any.example", 443), VERDICT_ALLOWED);
}

TEST(a_wide_rule_means_public_addresses)
{
    check_public((const char *[]){"public", NULL});
    check_public((const char *[]){"0.0.0.0/0", "[::]/0", NULL});
    check_public((const char *[]){"0.0.0.0/1", "128.0.0.0/1", "[::]/1",
                                  "[8000::]/1", "0.0.0.0/0", NULL});
}

TEST(a_rule_of_one_family_does_not_allow_the_other)
{
    CLEANUP(policy_fini) struct policy p;

    add_all(&p, (const char *[]){"[::]/0:*", NULL});
    check_host(&p, NULL, "1.1.1.1", 443, VERDICT_NO_RULE);
    check_host(&p, NULL, "2606:4700::1111", 443, VERDICT_ALLOWED);
    policy_fini(&p);
    add_all(&p, (const char *[]){"0.0.0.0/0:*", NULL});
    check_host(&p, NULL, "1.1.1.1", 443, VERDICT_ALLOWED);
    check_host(&p, NULL, "2606:4700::1111", 443, VERDICT_NO_RULE);
}

TEST(public_has_the_ports_of_every_rule)
{
    CLEANUP(policy_fini) struct policy p;

    add_all(&p, (const char *[]){"public", "!bad.example", NULL});
    check_host(&p, "a.example", "1.1.1.1", 25, VERDICT_NO_RULE);
    check_host(&p, "bad.example", "1.1.1.1", 443, VERDICT_DENIED);
    CHECK_EQ(name_verdict(&p, "bad.example", 0), VERDICT_DENIED);
    policy_fini(&p);
    add_all(&p, (const char *[]){"public:*", "!public:25", NULL});
    check_host(&p, "a.example", "1.1.1.1", 22, VERDICT_ALLOWED);
    check_host(&p, "a.example", "1.1.1.1", 25, VERDICT_DENIED);
}

TEST(a_rule_that_names_an_address_opens_it)
{
    CLEANUP(policy_fini) struct policy p;

    add_all(&p,
            (const char *[]){"169.254.169.254:80", "127.0.0.1:8080",
                             "192.168.0.0/16:22", "192.0.0.0/8:23",
                             "126.0.0.0/7:8080", "169.254.0.0/16:80", NULL});
    check_host(&p, NULL, "169.254.169.254", 80, VERDICT_ALLOWED);
    check_host(&p, NULL, "169.254.170.2", 80, VERDICT_RESERVED);
    check_host(&p, NULL, "169.254.1.1", 80, VERDICT_ALLOWED);
    check_host(&p, NULL, "192.168.7.7", 22, VERDICT_ALLOWED);
    check_host(&p, NULL, "192.168.7.7", 23, VERDICT_PRIVATE);
    check_host(&p, NULL, "192.1.7.7", 23, VERDICT_ALLOWED);
    check_host(&p, NULL, "127.0.0.1", 8080, VERDICT_LOOPBACK);
    p.host_loopback = true;
    check_host(&p, NULL, "127.0.0.1", 8080, VERDICT_ALLOWED);
    check_host(&p, NULL, "127.0.0.2", 8080, VERDICT_LOOPBACK);
    check_host(&p, NULL, "126.0.0.1", 8080, VERDICT_ALLOWED);
}

TEST(a_connection_is_checked_if_only_names_allow_it)
{
    static const char *const rules[][4] = {
        {"a.example"},
        {"a.example+raw"},
        {"*.example.com:*", "public:443"},
        {"public:443", "*.example.com:*"},
        {"*.example.com:*", "b.example.com+raw"},
        {"*.example.com:*", "b.example.com:80+raw"},
    };
    static const bool checks[] = {true, false, false, false, false, true};
    struct policy_target t = {"a.example", 9, {{{0}}}, 443};

    CHECK(address_parse("1.1.1.1", 7, &t.ip));
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct rule *rule = NULL;
        struct policy p;
        add_all(&p, rules[i]);
        t.name = i < 2 ? "a.example" : "b.example.com";
        t.name_len = strlen(t.name);
        CHECK_EQ(policy_decide(&p, &t, &rule), VERDICT_ALLOWED);
        CHECK_EQ(rule_checks_tls(rule, 443), checks[i]);
        CHECK(!rule_checks_tls(rule, 80));
        policy_fini(&p);
    }
}

TEST(a_policy_without_rules_denies_everything)
{
    CLEANUP(policy_fini) struct policy p;

    add_all(&p, (const char *[]){NULL});
    check_host(&p, NULL, "1.1.1.1", 443, VERDICT_NO_RULE);
    CHECK_EQ(name_verdict(&p, "a.example", 0), VERDICT_NO_RULE);
}

TEST(a_policy_has_a_maximum_number_of_rules)
{
    const char *reason = NULL;
    CLEANUP(policy_fini) struct policy p;

    policy_init(&p);
    for (int i = 0; i < POLICY_RULES_MAX; i++)
        CHECK_EQ(policy_add(&p, "a.example", 9, &reason), 0);
    CHECK_EQ(policy_add(&p, "a.example", 9, &reason), -E2BIG);
    CHECK(strstr(reason, "256") != NULL);
    CHECK_EQ(policy_add(&p, "*", 1, &reason), -EINVAL);
    CHECK_EQ(p.n, POLICY_RULES_MAX);
}

TEST(a_policy_without_memory_is_unchanged)
{
    const char *reason = NULL;

    EACH_OOM(oom) {
        CLEANUP(policy_fini) struct policy p;
        policy_init(&p);
        int r = policy_add(&p, "a.example", 9, &reason);
        CHECK_EQ(r, test_alloc_failed() ? -ENOMEM : 0);
        CHECK_EQ(p.n, r == 0);
    }
}
