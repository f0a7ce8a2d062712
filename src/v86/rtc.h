/* The clock and the 128 bytes of CMOS memory, behind ports 0x70 and 0x71. */
#ifndef V86_RTC_H
#define V86_RTC_H

#include <stdint.h>

enum { RTC_BYTES = 128 };

struct rtc {
    uint8_t index, bytes[RTC_BYTES];
};

/* Describes the RAM as firmware expects it. */
void rtc_init(struct rtc *r, uint32_t ram_bytes);
void rtc_select(struct rtc *r, uint8_t index);
/* unix_s: the time of day, in seconds since 1970. */
uint8_t rtc_read(const struct rtc *r, int64_t unix_s);
void rtc_write(struct rtc *r, uint8_t value);

#endif
