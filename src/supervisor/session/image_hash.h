/* The hashes of root images. */
#ifndef SUPERVISOR_IMAGE_HASH_H
#define SUPERVISOR_IMAGE_HASH_H

/* Hexadecimal text. */
enum { IMAGE_HASH_BYTES = 65 };

/* Reads the image at `path` and hashes it. 0 or -errno. */
int image_hash(const char *path, char ret[IMAGE_HASH_BYTES]);
/* Like image_hash, for a trusted file: reads it only if it has changed since
 * its hash was stored in the user's cache. Returns 0 or -errno. */
int image_hash_cached(const char *path, char ret[IMAGE_HASH_BYTES]);

#endif
