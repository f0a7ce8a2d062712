/* The clock always has the host's time, in UTC: a guest that sets it has no
 * effect. Its interrupts do not exist. */
#include "v86/rtc.h"

#include <time.h>

enum {
    RTC_SECOND = 0,
    RTC_MINUTE = 2,
    RTC_HOUR = 4,
    RTC_WEEKDAY = 6,
    RTC_DAY,
    RTC_MONTH,
    RTC_YEAR,
    RTC_STATUS_A,
    RTC_STATUS_B,
    RTC_STATUS_C,
    RTC_STATUS_D,
    RTC_BASE_KIB = 0x15,     /* below 1 MiB */
    RTC_EXTENDED_KIB = 0x17, /* above 1 MiB, at most 65535 */
    RTC_EXTENDED_KIB_2 = 0x30,
    RTC_CENTURY = 0x32,
    RTC_HIGH_64KIB = 0x34, /* above 16 MiB */
    RTC_BOOT_FLOPPY_CHECK = 0x38,
    RTC_BOOT_ORDER = 0x3d,
};

static void
rtc_put16(struct rtc *r, unsigned at, uint32_t value)
{
    if (value > UINT16_MAX)
        value = UINT16_MAX;
    r->bytes[at] = (uint8_t)value;
    r->bytes[at + 1] = (uint8_t)(value >> 8);
}

void
rtc_init(struct rtc *r, uint32_t ram_bytes)
{
    uint32_t high = ram_bytes > 16 << 20 ? ram_bytes - (16 << 20) : 0;

    *r = (struct rtc){0};
    rtc_put16(r, RTC_BASE_KIB, 640);
    rtc_put16(r, RTC_EXTENDED_KIB, (ram_bytes >> 10) - 1024);
    rtc_put16(r, RTC_EXTENDED_KIB_2, (ram_bytes >> 10) - 1024);
    rtc_put16(r, RTC_HIGH_64KIB, high >> 16);
    r->bytes[RTC_BOOT_FLOPPY_CHECK] = 1; /* skip it */
    r->bytes[RTC_BOOT_ORDER] = 2;        /* the disk alone */
}

void
rtc_select(struct rtc *r, uint8_t index)
{
    r->index = index % RTC_BYTES;
}

static uint8_t
rtc_bcd(int value)
{
    return (uint8_t)(value / 10 << 4 | value % 10);
}

static uint8_t
rtc_time(const struct rtc *r, const struct tm *t)
{
    switch (r->index) {
    case RTC_SECOND:
        return rtc_bcd(t->tm_sec);
    case RTC_MINUTE:
        return rtc_bcd(t->tm_min);
    case RTC_HOUR:
        return rtc_bcd(t->tm_hour);
    case RTC_WEEKDAY:
        return (uint8_t)(t->tm_wday + 1);
    case RTC_DAY:
        return rtc_bcd(t->tm_mday);
    case RTC_MONTH:
        return rtc_bcd(t->tm_mon + 1);
    case RTC_YEAR:
        return rtc_bcd(t->tm_year % 100);
    case RTC_CENTURY:
        return rtc_bcd(19 + t->tm_year / 100);
    default:
        return r->bytes[r->index];
    }
}

uint8_t
rtc_read(const struct rtc *r, int64_t unix_s)
{
    time_t now = unix_s;
    struct tm t;

    switch (r->index) {
    case RTC_STATUS_A:
        return 0x26; /* the clock runs, with its usual rate */
    case RTC_STATUS_B:
        return 0x02; /* BCD, 24 hours */
    case RTC_STATUS_C:
        return 0;
    case RTC_STATUS_D:
        return 0x80; /* the battery is full */
    default:
        return gmtime_r(&now, &t) ? rtc_time(r, &t) : 0;
    }
}

void
rtc_write(struct rtc *r, uint8_t value)
{
    r->bytes[r->index] = value;
}
