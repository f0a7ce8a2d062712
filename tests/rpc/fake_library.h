/* The server over a library without sandboxes. */
#ifndef FAKE_LIBRARY_H
#define FAKE_LIBRARY_H

/* Makes every nth call of the library from now fail; 0: none. */
void fake_library_reset(unsigned every);

#endif
