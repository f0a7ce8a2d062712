/* Bodies that attract each other. */
#include "kernels.h"

#include <math.h>

enum { BODIES = 5, STEPS = 8000 };

struct body {
    double at[3], speed[3], mass;
};

static const struct body start[BODIES] = {
    {{0, 0, 0}, {0, 0, 0}, 39.5},
    {{4.8, -1.2, -0.1}, {0.6, 2.8, -0.02}, 0.038},
    {{8.3, 4.1, -0.4}, {-1.0, 1.8, 0.008}, 0.011},
    {{12.9, -15.1, -0.2}, {1.1, 0.9, -0.01}, 0.0017},
    {{15.4, -25.9, 0.2}, {1.0, 0.6, -0.03}, 0.002},
};

static void
attract(struct body *p, struct body *q, double dt)
{
    double d[3], square = 0;

    for (int k = 0; k < 3; k++) {
        d[k] = p->at[k] - q->at[k];
        square += d[k] * d[k];
    }
    double force = dt / (square * sqrt(square));
    for (int k = 0; k < 3; k++) {
        p->speed[k] -= d[k] * q->mass * force;
        q->speed[k] += d[k] * p->mass * force;
    }
}

uint32_t
kernel_nbody(void)
{
    struct body v[BODIES];
    const double dt = 0.01;

    for (int i = 0; i < BODIES; i++)
        v[i] = start[i];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BODIES; i++)
            for (int j = i + 1; j < BODIES; j++)
                attract(&v[i], &v[j], dt);
        for (int i = 0; i < BODIES; i++)
            for (int k = 0; k < 3; k++)
                v[i].at[k] += dt * v[i].speed[k];
    }
    return (uint32_t)(int64_t)(v[1].at[0] * 1e4 + v[4].at[1] * 1e4);
}
