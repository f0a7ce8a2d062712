/* Includes config.def with the macros that are defined, and undefines them. */
#include "supervisor/config/config.def"
#undef CONFIG_PATH
#undef CONFIG_ADDRESS
#undef CONFIG_IMAGES
#undef CONFIG_RULES
#undef CONFIG_SERVERS
#undef CONFIG_DOMAIN
#undef CONFIG_FLAG
#undef CONFIG_NUMBER
#undef CONFIG_CHOICE
#undef CONFIG_LIMITS
#undef CONFIG_LIMIT
