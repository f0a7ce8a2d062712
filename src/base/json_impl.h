/* The tokenizer that json.c and json_scan.c share. */
#ifndef BASE_JSON_IMPL_H
#define BASE_JSON_IMPL_H

#include "base/json.h"

struct json_reader {
    const char *begin, *at, *end;
    size_t level, level_max;
    uint64_t objects[JSON_LEVELS_MAX / 64]; /* bit per open container */
    const char *error;
    bool is_out_of_memory;
    /* Of a tree; NULL and unused if the text is only checked. */
    struct json_doc *doc;
    size_t cap;
    size_t open; /* the innermost open container */
};

/* Passes one value. False: r->error says why, or there is no memory. */
bool json_take_value(struct json_reader *r);
/* Passes a string behind its opening quote; in a tree, decodes it. */
bool json_take_string(struct json_reader *r, struct text *ret);
bool json_take_char(struct json_reader *r, char c);
void json_skip_space(struct json_reader *r);

/* --- json_tree.c: what the tokenizer reports, of a tree */

bool json_tree_add(struct json_reader *r, enum json_type type,
                   struct text text);
bool json_tree_add_number(struct json_reader *r, struct text text,
                          bool is_integer);
void json_tree_open(struct json_reader *r);
bool json_tree_close(struct json_reader *r);

#endif
