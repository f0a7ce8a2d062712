/* SPDX-License-Identifier: MIT */
/* crt/wasm32/crt1.c needs no assembly. */
