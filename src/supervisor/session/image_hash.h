/* The hashes of root images. */
#ifndef SUPERVISOR_IMAGE_HASH_H
#define SUPERVISOR_IMAGE_HASH_H

/* Hexadecimal text. */
enum { IMAGE_HASH_BYTES = 65 };

/* Reads the image at `path` and hashes it. 0 or -errno. */
int image_hash(const char *path, char ret[IMAGE_HASH_BYTES]);
/* As image_hash, for a file that nobody damages: reads the file only if it has
 * changed since the user's cache got a note on its hash. 0 or -errno. */
int image_hash_noted(const char *path, char ret[IMAGE_HASH_BYTES]);

#endif
