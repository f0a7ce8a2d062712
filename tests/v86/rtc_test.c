#include "v86/rtc.h"

#include "../unit/test.h"

static unsigned
at(struct rtc *r, uint8_t index)
{
    rtc_select(r, index);
    return rtc_read(r, 951782399); /* 2000-02-28 23:59:59, a Monday */
}

TEST(rtc_has_the_time_in_bcd)
{
    struct rtc r;

    rtc_init(&r, 64 << 20);
    CHECK_EQ(at(&r, 0), 0x59);
    CHECK_EQ(at(&r, 2), 0x59);
    CHECK_EQ(at(&r, 4), 0x23);
    CHECK_EQ(at(&r, 6), 2);
    CHECK_EQ(at(&r, 7), 0x28);
    CHECK_EQ(at(&r, 8), 0x02);
    CHECK_EQ(at(&r, 9), 0x00);
    CHECK_EQ(at(&r, 0x32), 0x20);
    CHECK_EQ(at(&r, 0x0d), 0x80);
}

TEST(rtc_describes_the_memory)
{
    struct rtc r;

    rtc_init(&r, 64 << 20);
    CHECK_EQ(at(&r, 0x34) | at(&r, 0x35) << 8, (48 << 20) >> 16);
    CHECK_EQ(at(&r, 0x17) | at(&r, 0x18) << 8, 63 << 10);
    rtc_init(&r, 8 << 20);
    CHECK_EQ(at(&r, 0x34) | at(&r, 0x35) << 8, 0);
    CHECK_EQ(at(&r, 0x17) | at(&r, 0x18) << 8, 7 << 10);
}

TEST(rtc_keeps_bytes_and_ignores_a_new_time)
{
    struct rtc r;

    rtc_init(&r, 64 << 20);
    rtc_select(&r, 0x40 | 0x80); /* bit 7 disables interrupts */
    rtc_write(&r, 0x77);
    CHECK_EQ(at(&r, 0x40), 0x77);
    rtc_select(&r, 0);
    rtc_write(&r, 0x11);
    CHECK_EQ(at(&r, 0), 0x59);
}
