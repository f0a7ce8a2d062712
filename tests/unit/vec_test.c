#include "base/vec.h"

#include "test.h"

TEST(a_vector_keeps_its_elements_while_it_grows_and_after_it_shrank)
{
    size_t *v = NULL, n = 0;

    for (size_t i = 0; i < 100; i++) {
        CHECK(VEC_ROOM(v, n));
        v[n++] = i;
    }
    n = 4;
    while (n < 40) {
        CHECK(VEC_ROOM(v, n));
        v[n] = n;
        n++;
    }
    for (size_t i = 0; i < n; i++)
        CHECK(v[i] == i);
    free(v);
}
