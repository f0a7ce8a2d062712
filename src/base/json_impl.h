/* The tokenizer, which json_tree.c and json_scan.c share.
 *
 * The tokenizer has two users: with `doc` it reports each value to json_tree.c
 * and decodes strings in place; without, it only checks, and the text stays
 * unchanged. */
#ifndef BASE_JSON_IMPL_H
#define BASE_JSON_IMPL_H

#include "base/json.h"

struct json_reader {
    /* The text, and the next character to read. */
    const char *begin, *at, *end;
    size_t level, level_max;
    /* One bit for each open container: set for an object, clear for an array.
     * With `level`, this is all the state that a recursive reader would keep on
     * its stack. */
    uint64_t objects[JSON_LEVELS_MAX / 64];
    const char *error;
    bool is_out_of_memory;
    /* Of a tree; NULL and unused if the text is only checked. */
    struct json_doc *doc;
    size_t cap;
    /* The index of the innermost open container. */
    size_t open;
};

/* Passes one value. False: r->error says why, or there is no memory. */
bool json_take_value(struct json_reader *r);
/* Passes a string behind its opening quote; in a tree, decodes it. */
bool json_take_string(struct json_reader *r, struct text *ret);
/* Passes one character if it is `c`; otherwise returns false and passes
 * nothing. */
bool json_take_char(struct json_reader *r, char c);
void json_skip_space(struct json_reader *r);

/* --- json_tree.c: receives the values of a tree from the tokenizer. A function
 * that returns false has set r->error or r->is_out_of_memory. */

/* Appends a value without parts, or a container that is opened next. */
bool json_tree_add(struct json_reader *r, enum json_type type,
                   struct text text);
/* `text` is a number in the grammar of JSON; `is_integer`: it has no fraction
 * and no exponent. */
bool json_tree_add_number(struct json_reader *r, struct text text,
                          bool is_integer);
/* Opens the container that was added last. */
void json_tree_open(struct json_reader *r);
/* Closes the innermost container: sets its size and count, and checks its
 * keys. */
bool json_tree_close(struct json_reader *r);

#endif
