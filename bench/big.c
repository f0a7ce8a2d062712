/* A program of 2 MB that does nothing: what is measured is its start. */
/* clang-format off */
#define STEP  x = x * (__COUNTER__ * 2 + 1) ^ x >> 3;
#define STEP4 STEP STEP STEP STEP
#define F(n)                                                        \
    __attribute__((noinline)) static unsigned n(unsigned x)         \
    {                                                               \
        STEP4 STEP4 STEP4 STEP4                                     \
        return x;                                                   \
    }
#define P(n) n,

#define TEN(m, n)                                                   \
    m(n##0) m(n##1) m(n##2) m(n##3) m(n##4)                         \
    m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define F10(n)   TEN(F, n)
#define P10(n)   TEN(P, n)
#define HUNDRED(m, n)                                               \
    m(n##0) m(n##1) m(n##2) m(n##3) m(n##4)                         \
    m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define F100(n)  HUNDRED(F10, n)
#define P100(n)  HUNDRED(P10, n)
#define THOUSAND(m, n)                                              \
    m(n##0) m(n##1) m(n##2) m(n##3) m(n##4)                         \
    m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define F1000(n) THOUSAND(F100, n)
#define P1000(n) THOUSAND(P100, n)
#define ALL(m) m(a) m(b) m(c) m(d) m(e) m(f) m(g) m(h) m(i)

ALL(F1000)
static unsigned (*const all[])(unsigned) = {ALL(P1000)};
/* clang-format on */

int
main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? (int)all[argc](1) : 0;
}
