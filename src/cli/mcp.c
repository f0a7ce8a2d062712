/* wasm-sandbox mcp: the tools of a sandbox for agents (docs/mcp.md). */
#include "cli/cli.h"

#include "base/json.h"
#include "mcp/adapter.h"
#include "wasmsand.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const struct option mcp_options[] = {
    {"root", required_argument, NULL, 'r'},
    {"image", required_argument, NULL, 'i'},
    {"memory-limit", required_argument, NULL, 'M'},
    {"timeout-ms", required_argument, NULL, 't'},
    {"fs-limit", required_argument, NULL, 'f'},
    {"net", required_argument, NULL, 'n'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char mcp_help[] =
    "usage: wasm-sandbox mcp [OPTION]...\n"
    "Serves the tools of a sandbox by MCP on standard input and output.\n\n"
    "  --root IMAGE       root image, a tar file\n"
    "  --image NAME       root image by name [default]\n"
    "  --memory-limit MB  memory of each sandbox [512]\n"
    "  --timeout-ms N     time limit of a command [30000]\n"
    "  --fs-limit BYTES   maximum bytes in files [268435456]\n"
    "  --net off|public   network policy [off]\n"
    "  --help             print this text\n";

static bool
mcp_parse_option(struct server_options *o, const char **ret_net, int c)
{
    switch (c) {
    case 'r':
        o->root_image = optarg;
        return true;
    case 'i':
        o->image = optarg;
        return true;
    case 'M':
        return request_parse_number("memory-limit", optarg, 1 << 20,
                                    &o->memory_bytes);
    case 't':
        return request_parse_number("timeout-ms", optarg, 1, &o->timeout_ms);
    case 'f':
        return request_parse_number("fs-limit", optarg, 1, &o->fs_bytes);
    case 'n':
        *ret_net = optarg;
        if (!strcmp(optarg, "off") || !strcmp(optarg, "public"))
            return true;
        complain("mcp: --net: '%s' is neither off nor public", optarg);
        return false;
    default:
        complain("mcp: unknown option or missing value; see wasm-sandbox mcp "
                 "--help");
        return false;
    }
}

int
cmd_mcp(int argc, char **argv)
{
    static char root[ROOT_PATH_BYTES], create[128];
    static const char *const none[] = {NULL};
    struct server_options o = {.shipped_dir = beside_find_code(),
                               .broker = beside_find_broker(),
                               .tools = none,
                               .allow_mount = none,
                               .log_level = LOG_WARN};
    const char *net = "off";
    int c;

    while ((c = getopt_long(argc, argv, "+:h", mcp_options, NULL)) != -1) {
        if (c == 'h') {
            (void)fputs(mcp_help, stdout);
            return 0;
        }
        if (!mcp_parse_option(&o, &net, c))
            return EXIT_USAGE;
    }
    if (optind < argc) {
        complain("mcp: unexpected '%s'", argv[optind]);
        return EXIT_USAGE;
    }
    if (!o.root_image && beside_find_root(root, sizeof root))
        o.root_image = root;
    if (!o.root_image) {
        complain("mcp: no root image; --root IMAGE names one");
        return EXIT_USAGE;
    }
    if (!beside_find_images(NULL, &o.images, &o.n_images))
        return EXIT_USAGE;
    (void)snprintf(create, sizeof create,
                   "{\"network\":\"%s\",\"limits\":{\"rpcBytes\":67108864}}",
                   net);
    return adapter_main(&o, create);
}
