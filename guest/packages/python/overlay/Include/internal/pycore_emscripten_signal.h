/* SPDX-License-Identifier: MIT */
/* Where the interpreter looks for signals on a system whose handlers only run
 * when asked to: here, a look at libc's word. */
#ifndef Py_EMSCRIPTEN_SIGNAL_H
#define Py_EMSCRIPTEN_SIGNAL_H

#include <wasmsand.h>

#define _Py_CHECK_EMSCRIPTEN_SIGNALS()              wasmsand_poll()
#define _Py_CHECK_EMSCRIPTEN_SIGNALS_PERIODICALLY() wasmsand_poll()

#endif
