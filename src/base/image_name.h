/* The name of the root image that sandboxes have unless they name another. */
#ifndef BASE_IMAGE_NAME_H
#define BASE_IMAGE_NAME_H

#define IMAGE_DEFAULT "default"

#endif
