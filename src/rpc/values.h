/* Parameters as values of the library, and values as JSON. */
#ifndef RPC_VALUES_H
#define RPC_VALUES_H

#include "wasmsand.h"
#include "wire/call.h"

static inline bool
param_is(const struct call *q, const char *name, const char *value)
{
    return text_is(param_string(q, name), value);
}

static inline bool
param_is_base64(const struct call *q)
{
    return param_is(q, "encoding", "base64");
}

/* The parameter `mode`; 0: absent. */
uint32_t param_mode(const struct call *q);
/* The parameter `sandboxId` as a number; 0: no sandbox has that name. */
uint64_t param_sandbox_id(const struct call *q);
/* NAME=VALUE, NULL-terminated; one free() frees it. NULL: absent, or no memory
 * (-ENOMEM). */
int param_env(const struct call *q, const char *name, char ***ret);
int env_from_json(const struct json *object, char ***ret);
/* Writes {"NAME":"VALUE",...} from NAME=VALUE, NULL-terminated. */
void put_env(struct buf *b, const char *const *env);
/* As many files as the object has, with decoded contents; one free() frees
 * them. */
int files_from_json(const struct json *object, struct wsand_file **ret,
                    struct wsand_error *err);
/* The decoded bytes, freed with free(). -EINVAL: not base64. */
int decode_base64(struct text t, char **ret, size_t *ret_len);
/* Writes the member notCopied of a result, if it would not be empty
 * (do_state.c). */
void put_not_copied(struct buf *b, struct wsand_sandbox *sb);

#endif
