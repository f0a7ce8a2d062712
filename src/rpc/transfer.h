/* A transfer in parts of persistence.export or persistence.import. */
#ifndef RPC_TRANSFER_H
#define RPC_TRANSFER_H

struct transfer;

void transfer_free(struct transfer *t); /* accepts NULL */

#endif
