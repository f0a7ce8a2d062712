/* The version of everything that is built here. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define WSAND_VERSION "0.1.0"

#endif
