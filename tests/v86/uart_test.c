#include "v86/uart.h"

#include "../unit/test.h"
#include "fake_bus.h"

static struct fake_bus f;
static uint8_t sent[16];
static unsigned n_sent;

static void
on_send(void *self, uint8_t byte)
{
    (void)self;
    sent[n_sent++ % sizeof sent] = byte;
}

static struct uart *
plugged(void)
{
    static struct uart u;

    n_sent = 0;
    uart_init(&u, fake_bus_init(&f), 4, on_send, NULL);
    return &u;
}

TEST(uart_sends_bytes_and_reports_an_empty_transmitter_once)
{
    struct uart *u = plugged();

    uart_write(u, 1, 2); /* enable */
    CHECK(f.is_high[4]);
    CHECK_EQ(uart_read(u, 2) & 0x0f, 2);
    CHECK(!f.is_high[4]);
    uart_write(u, 0, 'x');
    CHECK_EQ(n_sent, 1);
    CHECK_EQ(sent[0], 'x');
    CHECK(f.is_high[4]);
    CHECK_EQ(uart_read(u, 2) & 0x0f, 2);
    CHECK_EQ(uart_read(u, 2) & 0x0f, 1);
    CHECK_EQ(uart_read(u, 5), 0x60);
}

TEST(uart_raises_its_line_while_bytes_wait)
{
    struct uart *u = plugged();

    CHECK_EQ(uart_receive(u, (const uint8_t *)"ab", 2), 2);
    CHECK(!f.is_high[4]);
    uart_write(u, 1, 1);
    CHECK(f.is_high[4]);
    CHECK_EQ(uart_read(u, 2) & 0x0f, 4);
    CHECK_EQ(uart_read(u, 5) & 1, 1);
    CHECK_EQ(uart_read(u, 0), 'a');
    CHECK(f.is_high[4]);
    CHECK_EQ(uart_read(u, 0), 'b');
    CHECK(!f.is_high[4]);
    CHECK_EQ(uart_read(u, 0), 0);
}

TEST(uart_takes_no_more_than_its_buffer_has_space_for)
{
    static const uint8_t bytes[UART_RX_BYTES + 9];
    struct uart *u = plugged();

    CHECK_EQ(uart_receive(u, bytes, sizeof bytes), UART_RX_BYTES);
    CHECK_EQ(uart_receive(u, bytes, 1), 0);
    (void)uart_read(u, 0);
    CHECK_EQ(uart_receive(u, bytes, 2), 1);
    uart_write(u, 2, 2); /* clear the buffer */
    CHECK_EQ(uart_read(u, 5) & 1, 0);
}

TEST(uart_has_a_divisor_a_scratch_register_and_a_loop)
{
    struct uart *u = plugged();

    uart_write(u, 3, 0x83);
    uart_write(u, 0, 12);
    uart_write(u, 1, 34);
    CHECK_EQ(uart_read(u, 0), 12);
    CHECK_EQ(uart_read(u, 1), 34);
    uart_write(u, 3, 3);
    CHECK_EQ(uart_read(u, 1), 0);
    uart_write(u, 7, 0x5a);
    CHECK_EQ(uart_read(u, 7), 0x5a);
    CHECK_EQ(uart_read(u, 6), 0xb0);
    uart_write(u, 4, 0x1f);
    CHECK_EQ(uart_read(u, 6), 0xf0);
    uart_write(u, 0, 'l');
    CHECK_EQ(n_sent, 0);
    CHECK_EQ(uart_read(u, 0), 'l');
}
