/* Parameters of methods, as rows that are checked. */
#ifndef WIRE_PARAM_H
#define WIRE_PARAM_H

#include "wire/message.h"

enum param_type {
    ANY,
    STRING, /* any text */
    TEXT,   /* without NUL */
    TEXTS,  /* an array of them */
    ENV,    /* an object: names of variables, texts */
    FILES,  /* an object: relative paths, strings */
    OBJECT,
    OBJECTS, /* an array of them */
    BOOL,
    INT,
    ID,       /* a string or an integer */
    OCTAL,    /* permissions as octal text */
    MODE,     /* the same, or an integer */
    ENCODING, /* "text" or "base64" */
    KEEP,     /* "head" or "ends" */
};

struct param {
    const char *name;
    enum param_type type;
    bool is_required;
    int64_t least, most;
};

/* The words of the tables for is_required. */
enum { REQUIRED = 1, OPTIONAL = 0 };
enum { PARAM_ERROR_BYTES = 256 };

/* The check of one row. */
struct param_check {
    const struct param *param;
    char *error; /* PARAM_ERROR_BYTES for the reason of a failure */
};

/* Checks a value that is there, of the type of the row or of one of its
 * members. -EINVAL: the value is wrong. */
int param_check(const struct param_check *c, enum param_type type,
                const struct json *v);
/* Checks the value at `path` in an object or NULL. The path of a row is its
 * name: `a.b` is a member of the object a, `a[].b` of each object in the array
 * a. The rows of the object or array itself have been checked before. -EINVAL:
 * the value is wrong, or missing. */
int param_check_path(const struct param_check *c, const struct json *in,
                     const char *path);
/* Permissions as octal text: 0, or -EINVAL. */
int mode_parse(const char *s, uint32_t *ret);

#endif
