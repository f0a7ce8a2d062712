/* SPDX-License-Identifier: MIT */
/* CPython calls these macros on a system whose signal handlers run only when
 * the program asks for them. Here they test a word of libc. */
#ifndef Py_EMSCRIPTEN_SIGNAL_H
#define Py_EMSCRIPTEN_SIGNAL_H

#include <wasmsand.h>

#define _Py_CHECK_EMSCRIPTEN_SIGNALS()              wasmsand_poll()
#define _Py_CHECK_EMSCRIPTEN_SIGNALS_PERIODICALLY() wasmsand_poll()

#endif
