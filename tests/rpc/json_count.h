/* Counts how often the code under test goes through a JSON text. The linker
 * wraps the counter around the readers of base/json.h. */
#ifndef JSON_COUNT_H
#define JSON_COUNT_H

/* Returns the number of times since the last call. */
unsigned json_count_passes(void);

#endif
