#include "json_count.h"

#include "base/json.h"

static unsigned n_passes;

int __real_json_read_copy(struct json_doc *d, const char *text, size_t len,
                          struct json_fault *ret_fault);
bool __real_json_scan_begin(struct text t, struct json_scan *s);
bool __real_json_is_valid(struct text t);
int __wrap_json_read_copy(struct json_doc *d, const char *text, size_t len,
                          struct json_fault *ret_fault);
bool __wrap_json_scan_begin(struct text t, struct json_scan *s);
bool __wrap_json_is_valid(struct text t);

int
__wrap_json_read_copy(struct json_doc *d, const char *text, size_t len,
                      struct json_fault *ret_fault)
{
    n_passes++;
    return __real_json_read_copy(d, text, len, ret_fault);
}

bool
__wrap_json_scan_begin(struct text t, struct json_scan *s)
{
    n_passes++;
    return __real_json_scan_begin(t, s);
}

bool
__wrap_json_is_valid(struct text t)
{
    n_passes++;
    return __real_json_is_valid(t);
}

unsigned
json_count_passes(void)
{
    unsigned n = n_passes;

    n_passes = 0;
    return n;
}
