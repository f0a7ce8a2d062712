/* The methods of this mode: the rows of rpc/methods.def, so that names,
 * parameters and errors are those of the other mode, with handlers of its
 * own. */
#ifndef V86_METHODS_H
#define V86_METHODS_H

#include "wire/method.h"

extern const struct method_table v86_methods;
/* Those of a worker of the supervisor. */
extern const struct method_table v86_worker_methods;

/* Returns the handler, or NULL if this mode does not have the method. */
void (*v86_methods_find(const struct method *m))(struct call *q);

#endif
