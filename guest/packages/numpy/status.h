/* The machine has no flags for floating-point exceptions. These are the ones that
 * numpy raises itself, for a singular matrix or an integer division by zero. */
static int raised;
#define FE_DIVBYZERO 1
#define FE_OVERFLOW 2
#define FE_UNDERFLOW 4
#define FE_INVALID 8
#define fetestexcept(flags) (raised & (flags))
#define feclearexcept(flags) (raised &= ~(flags))
#define feraiseexcept(flags) (raised |= (flags))
