/* A program of 2 MB that does nothing: what is measured is its start. */
#define STEP  x = x * (__COUNTER__ * 2 + 1) ^ x >> 3;
#define STEP4 STEP STEP STEP STEP

#define F(name)                                         \
    __attribute__((noinline)) unsigned name(unsigned x) \
    {                                                   \
        STEP4 STEP4 STEP4 STEP4 return x;               \
    }
#define F10(n) \
    F(n##0)    \
    F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define F100(n)                                                           \
    F10(n##0)                                                             \
    F10(n##1) F10(n##2) F10(n##3) F10(n##4) F10(n##5) F10(n##6) F10(n##7) \
        F10(n##8) F10(n##9)
#define F1000(n)                                                      \
    F100(n##0)                                                        \
    F100(n##1) F100(n##2) F100(n##3) F100(n##4) F100(n##5) F100(n##6) \
        F100(n##7) F100(n##8) F100(n##9)

F1000(a)
F1000(b) F1000(c) F1000(d) F1000(e) F1000(f) F1000(g) F1000(h) F1000(i)

#define P10(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9,
#define P100(n)                                                           \
    P10(n##0)                                                             \
    P10(n##1) P10(n##2) P10(n##3) P10(n##4) P10(n##5) P10(n##6) P10(n##7) \
        P10(n##8) P10(n##9)
#define P1000(n)                                                      \
    P100(n##0)                                                        \
    P100(n##1) P100(n##2) P100(n##3) P100(n##4) P100(n##5) P100(n##6) \
        P100(n##7) P100(n##8) P100(n##9)

    static unsigned (*const all[])(unsigned) = {
        P1000(a) P1000(b) P1000(c) P1000(d) P1000(e) P1000(f) P1000(g) P1000(h)
            P1000(i)};

int
main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? (int)all[argc](1) : 0;
}
