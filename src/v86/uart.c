/* Sending takes no time, so the transmitter is always empty. The buffer for
 * received bytes is larger than that of the hardware: whole lines arrive at
 * once. */
#include "v86/uart.h"

enum { UART_DATA, UART_ENABLE, UART_IDENT, UART_CONTROL, UART_MODEM };
enum { UART_LINE = 5, UART_MODEM_STATUS, UART_SCRATCH };

enum {
    ENABLE_RX = 1,
    ENABLE_TX = 2,
    IDENT_NONE = 1,
    IDENT_TX = 2,
    IDENT_RX = 4,
    IDENT_FIFO = 0xc0,
    FIFO_ON = 1,
    FIFO_CLEAR_RX = 2,
    CONTROL_DIVISOR = 0x80,
    MODEM_LOOP = 0x10,
    LINE_RX = 1,
    LINE_TX_EMPTY = 0x60,
    MODEM_CONNECTED = 0xb0, /* carrier, data set ready, clear to send */
};

void
uart_init(struct uart *u, const struct bus *bus, unsigned line,
          void (*send)(void *self, uint8_t byte), void *self)
{
    *u = (struct uart){
        .irq = {.bus = bus, .line = line}, .send = send, .self = self};
}

static uint8_t
uart_ident(const struct uart *u)
{
    if ((u->enable & ENABLE_RX) && u->rx_len)
        return IDENT_RX;
    return (u->enable & ENABLE_TX) && u->is_sent ? IDENT_TX : IDENT_NONE;
}

static void
uart_update(struct uart *u)
{
    irq_set(&u->irq, uart_ident(u) != IDENT_NONE);
}

size_t
uart_receive(struct uart *u, const uint8_t *p, size_t len)
{
    size_t n = 0;

    for (; n < len && u->rx_len < UART_RX_BYTES; n++, u->rx_len++)
        u->rx[(u->rx_first + u->rx_len) % UART_RX_BYTES] = p[n];
    uart_update(u);
    return n;
}

static uint8_t
uart_take(struct uart *u)
{
    uint8_t byte = 0;

    if (u->rx_len) {
        byte = u->rx[u->rx_first];
        u->rx_first = (u->rx_first + 1) % UART_RX_BYTES;
        u->rx_len--;
    }
    uart_update(u);
    return byte;
}

/* Reading the cause acknowledges "transmitter is empty", and nothing else. */
static uint8_t
uart_take_ident(struct uart *u)
{
    uint8_t ident = uart_ident(u);

    if (ident == IDENT_TX) {
        u->is_sent = false;
        uart_update(u);
    }
    return (uint8_t)(ident | (u->fifo & FIFO_ON ? IDENT_FIFO : 0));
}

/* In a loop, the four outputs of the port are its four inputs. */
static uint8_t
uart_modem_status(const struct uart *u)
{
    uint8_t m = u->modem;

    if (!(m & MODEM_LOOP))
        return MODEM_CONNECTED;
    return (uint8_t)((m & 1) << 5 | (m & 2) << 3 | (m & 12) << 4);
}

uint8_t
uart_read(struct uart *u, unsigned reg)
{
    bool is_divisor = u->control & CONTROL_DIVISOR;

    switch (reg) {
    case UART_DATA:
        return is_divisor ? u->divisor[0] : uart_take(u);
    case UART_ENABLE:
        return is_divisor ? u->divisor[1] : u->enable;
    case UART_IDENT:
        return uart_take_ident(u);
    case UART_CONTROL:
        return u->control;
    case UART_MODEM:
        return u->modem;
    case UART_LINE:
        return (uint8_t)(LINE_TX_EMPTY | (u->rx_len ? LINE_RX : 0));
    case UART_MODEM_STATUS:
        return uart_modem_status(u);
    default:
        return u->scratch;
    }
}

static void
uart_put(struct uart *u, uint8_t byte)
{
    if (u->modem & MODEM_LOOP)
        (void)uart_receive(u, &byte, 1);
    else
        u->send(u->self, byte);
    u->is_sent = true;
    uart_update(u);
}

/* Enabling the interrupt reports an empty transmitter at once. */
static void
uart_enable(struct uart *u, uint8_t value)
{
    if ((value & ENABLE_TX) && !(u->enable & ENABLE_TX))
        u->is_sent = true;
    u->enable = value & 0x0f;
    uart_update(u);
}

static void
uart_set_fifo(struct uart *u, uint8_t value)
{
    u->fifo = value;
    if (value & FIFO_CLEAR_RX)
        u->rx_len = 0;
    uart_update(u);
}

void
uart_write(struct uart *u, unsigned reg, uint8_t value)
{
    bool is_divisor = u->control & CONTROL_DIVISOR;

    if (is_divisor && reg <= UART_ENABLE)
        u->divisor[reg] = value;
    else if (reg == UART_DATA)
        uart_put(u, value);
    else if (reg == UART_ENABLE)
        uart_enable(u, value);
    else if (reg == UART_IDENT)
        uart_set_fifo(u, value);
    else if (reg == UART_CONTROL)
        u->control = value;
    else if (reg == UART_MODEM)
        u->modem = value & 0x1f;
    else if (reg == UART_SCRATCH)
        u->scratch = value;
}
