/* The rows of the configuration, and the setting of values.
 *
 * Errors are collected as lines, so that a user sees all mistakes of a file at
 * once. A function that has reported one returns -EINVAL. */
#ifndef SUPERVISOR_CONFIG_IMPL_H
#define SUPERVISOR_CONFIG_IMPL_H

#include "supervisor/config/config.h"

#include "base/buf.h"

/* The kinds of values. Each is a row of the table in config_value.c. */
enum config_kind {
    CONFIG_path,
    CONFIG_address,
    CONFIG_images,
    CONFIG_domain,
    CONFIG_flag,
    CONFIG_number,
    CONFIG_choice,
    CONFIG_limits,
    CONFIG_rules,
    CONFIG_servers,
};

/* One row of config.def, with the place of its value in struct config. */
struct config_row {
    enum config_kind kind;
    const char *id, *key, *standard, *text;
    const char *choices;        /* words separated by spaces */
    struct limit_row range;     /* of numbers */
    const struct limit_row *of; /* otherwise that of this limit */
    size_t offset;              /* in struct config */
};

enum {
    CONFIG_PATH_BYTES = 4096,
    CONFIG_NAME_BYTES = 80,
    CONFIG_DOMAIN_BYTES = 180
};

extern const struct config_row config_rows[];
extern const size_t n_config_rows;

/* Writes a line "where: key: ..." into `errors`. Returns -EINVAL. */
int config_refuse(struct buf *errors, const char *where, const char *key,
                  const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* --- config_value.c, for config_list.c */

/* A value that is being set, from a text or from JSON. */
struct config_setting {
    struct config *c;
    const struct config_row *row;
    const char *where;       /* file, variable or option, for errors */
    const char *text;        /* of a variable or an option */
    const struct json *json; /* of a file; NULL: `text` is set */
    struct buf *errors;
};

/* Returns the address of the value; its type depends on the kind. */
void *config_value_member(const struct config *c, const struct config_row *row);
/* Writes the error: the allowed values, and the given one. Returns -EINVAL. */
int config_value_refuse(const struct config_setting *v);

/* --- config_list.c: lists of texts, which are kept with commas between them.
 * The functions are those of struct kind. */

int config_list_take_rules(const struct config_setting *v);
int config_list_take_servers(const struct config_setting *v);
void config_list_put(struct buf *b, const struct config *c,
                     const struct config_row *row);
void config_list_allow_rules(const struct config_row *row, char *ret,
                             size_t size);
void config_list_allow_servers(const struct config_row *row, char *ret,
                               size_t size);

/* Set one value. -EINVAL: reported in `errors`. -ENOMEM. */
int config_set_text(struct config *c, const struct config_row *row,
                    const char *where, const char *text, struct buf *errors);
int config_set_json(struct config *c, const struct config_row *row,
                    const char *where, const struct json *json,
                    struct buf *errors);
/* Appends the value as JSON. */
void config_put_value(struct buf *b, const struct config *c,
                      const struct config_row *row);

/* Parses the object in a file; `name` begins each error. -EINVAL: reported in
 * `errors`. -ENOMEM. */
int config_parse(int hfd, const char *name, struct buf *errors,
                 struct json_doc *ret);
/* Overrides `c` by a file. A missing file is an error if it `must` exist. */
int config_lay_file(struct config *c, const char *path, bool must,
                    struct buf *errors);
/* Returns the worse of two results. */
int config_worse(int a, int b);

#endif
