/* wasm-sandbox precompile: writes the compiled code that is shipped with root
 * images. Without it, the first start of each program takes seconds, because
 * the program is compiled. */
#include "cli/cli.h"

#include "wasmsand.h"

#include <stdio.h>
#include <string.h>

/* Each program is compiled in a process of its own, as at run time. */
int
cmd_precompile(int argc, char **argv)
{
    struct wsand_runtime_options ro = {.size = sizeof ro,
                                       .compiler = "/proc/self/exe"};
    struct wsand_runtime *rt = NULL;
    struct wsand_error err = {0};

    if (argc == 2 && !strcmp(argv[1], "--help")) {
        printf("usage: wasm-sandbox precompile IMAGE DIR\n"
               "Writes the compiled code of all programs of a root image to a "
               "folder.\nInstalled as share/wasmsand/code together with the "
               "image, the code makes the\nfirst start of each program fast: "
               "nothing has to be compiled.\n");
        return 0;
    }
    if (argc != 3) {
        complain("precompile: needs a root image and an output folder; see "
                 "wasm-sandbox precompile --help");
        return EXIT_USAGE;
    }
    ro.root_image = argv[1];
    int r = wsand_runtime_new(&ro, &rt, &err);
    if (r == 0)
        r = wsand_precompile(rt, argv[2], &err);
    if (r < 0)
        complain("%s", wsand_error_text(&err));
    wsand_runtime_free(rt);
    return r < 0 ? EXIT_USAGE : 0;
}
