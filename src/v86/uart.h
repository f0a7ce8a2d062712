/* A 16550 serial port: eight registers, one byte each. */
#ifndef V86_UART_H
#define V86_UART_H

#include "v86/bus.h"

#include <stddef.h>

enum { UART_RX_BYTES = 4096 };

struct uart {
    struct irq irq;
    /* Gets each byte that the guest sends. */
    void (*send)(void *self, uint8_t byte);
    void *self;
    uint8_t enable, control, modem, scratch, fifo, divisor[2];
    bool is_sent; /* "transmitter is empty" was not reported yet */
    uint8_t rx[UART_RX_BYTES];
    unsigned rx_first, rx_len;
};

void uart_init(struct uart *u, const struct bus *bus, unsigned line,
               void (*send)(void *self, uint8_t byte), void *self);
uint8_t uart_read(struct uart *u, unsigned reg);
void uart_write(struct uart *u, unsigned reg, uint8_t value);
/* Passes bytes to the guest. Returns the number that fits into the buffer. */
size_t uart_receive(struct uart *u, const uint8_t *p, size_t len);

#endif
