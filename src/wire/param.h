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

/* 0, or -EINVAL and what is wrong with it in the parameters (an object or
 * NULL). `a.b` is a member of the object a, `a[].b` of each object in the array
 * a, whose own rows have been checked before. */
int param_check(const struct param *p, const struct json *params,
                char error[PARAM_ERROR_BYTES]);
/* Permissions as octal text: 0, or -EINVAL. */
int mode_parse(const char *s, uint32_t *ret);

#endif
