# wasmsand: `make help` lists the targets.
B := build
CC := gcc
WARN := -Wall -Wextra -Wshadow -Wvla -Wundef -Wstrict-prototypes \
  -Wmissing-prototypes -Wformat=2 -Wconversion -Wno-sign-conversion -Werror
CFLAGS := -std=gnu11 -O2 -g -fvisibility=hidden -fno-omit-frame-pointer
CPPFLAGS := -D_GNU_SOURCE -Iinclude -Isrc
SAN_FLAGS := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=strdup,--wrap=strndup

KERNEL := $(wildcard src/base/*.c src/kernel/*.c src/kernel/vfs/*.c src/kernel/wasi/*.c)
UNIT := $(wildcard tests/unit/*.c)

unit_objs := $(patsubst %.c,$(B)/san/%.o,$(KERNEL) $(UNIT))
$(B)/san/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit $(CFLAGS) $(WARN) $(SAN_FLAGS) -MMD -c $< -o $@
$(B)/unit: $(unit_objs)
	$(CC) $(SAN_FLAGS) $(WRAP) $^ -o $@ -larchive
unit: $(B)/unit
	$(B)/unit
.PHONY: unit
-include $(unit_objs:.o=.d)
