/* Compiled code on disk. Entries are native code: only files that nobody else
 * can have written are loaded. */
#ifndef ENGINE_CODE_CACHE_H
#define ENGINE_CODE_CACHE_H

#include "base/own.h"
#include "engine/program.h"

#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

/* Opens the folder of entries, and creates it if it is missing. Returns a
 * descriptor, or -errno: -EPERM if others could write there. */
int code_cache_open(const char *dir);
/* Opens a folder that came with the programs, which may belong to root. */
int code_cache_open_shipped(const char *dir, bool is_checked);
/* Finds an entry by the content of a program, or by the place of a source in a
 * file. Returns a descriptor or -errno. Shipped code is searched by content
 * only. */
int code_cache_find(struct engine *e, const uint8_t *hash,
                    struct program_facts *ret);
int code_cache_find_source(struct engine *e, const struct program_source *src,
                           struct program_facts *ret);
/* Returns NULL if the entry is damaged or belongs to another engine. */
OWN wasmtime_module_t *code_cache_load(struct engine *e, int hfd);
/* Best effort: code that cannot be stored is compiled again. */
void code_cache_add(struct engine *e, const struct program_facts *f,
                    const void *code, size_t len);
/* Gives the stored entry of this content a name for the place of src. */
void code_cache_add_source(struct engine *e, const struct program_source *src,
                           const uint8_t *hash);

#endif
