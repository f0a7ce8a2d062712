/* Functions that exports and saved snapshots share. */
#ifndef LIB_EXPORT_H
#define LIB_EXPORT_H

#include "base/buf.h"
#include "tree/image.h"
#include "tree/layer.h"

struct kernel;
struct shell_script;
struct wsand_error;
struct wsand_runtime;

/* Write the manifest of an export as text, and parse it. -EINVAL: not a
 * manifest, or one of another version. */
void export_put_manifest(struct buf *b, const struct shell_script *s);
int export_get_manifest(const char *text, size_t len, struct shell_script *s,
                        struct wsand_error *err);
/* Sets the message for an error that tar_write or tar_apply returned for t. */
int export_layer_error(const struct kernel *k, const struct tree *t, int r,
                       const struct image_error *why, struct wsand_error *err);

#endif
