/* Machine code, compared with the bytes that binutils makes of it. */
#include "../unit/test.h"
#include "v86/x64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
code_is(struct x64 *x, const char *want, size_t len)
{
    struct x64_bytes *s = &x->sections[x->at];
    bool is_same = s->len == len && !memcmp(s->p, want, len);

    s->len = 0;
    return is_same;
}

#define CHECK_CODE(want) CHECK(code_is(&x, want, sizeof want - 1))

TEST(operands_in_registers_have_prefixes_where_needed)
{
    struct x64 x;

    x64_init(&x);
    x64_op(&x, X64_MOV, 0, X64_RAX, x64_reg(X64_RCX));
    CHECK_CODE("\x8b\xc1"); /* mov eax, ecx */
    x64_op(&x, X64_ADD, X64_WIDE, X64_R8, x64_reg(X64_R15));
    CHECK_CODE("\x4d\x03\xc7"); /* add r8, r15 */
    x64_op(&x, X64_MOVZX8, X64_BYTE, X64_RDI, x64_reg(X64_RSI));
    CHECK_CODE("\x40\x0f\xb6\xfe"); /* movzx edi, sil */
    x64_op(&x, X64_SET + X64_ABOVE, X64_BYTE, 0, x64_reg(X64_R11));
    CHECK_CODE("\x41\x0f\x97\xc3"); /* seta r11b */
    x64_op(&x, X64_MOVD_FROM_GPR, X64_HALF | X64_WIDE, 1, x64_reg(X64_RAX));
    CHECK_CODE("\x66\x48\x0f\x6e\xc8"); /* movq xmm1, rax */
    x64_fini(&x);
}

TEST(operands_in_memory_have_the_shortest_form)
{
    struct x64 x;
    struct x64_rm scaled = {true, X64_RBX, X64_RAX, 2, 0x12345678};
    struct x64_rm high = {true, X64_R13, X64_R12, 0, 0};

    x64_init(&x);
    x64_op(&x, X64_MOV, 0, X64_RDX, x64_at(X64_RBX, 0));
    CHECK_CODE("\x8b\x13"); /* mov edx, [rbx] */
    x64_op(&x, X64_STORE, X64_WIDE, X64_R9, x64_at(X64_RSP, 8));
    CHECK_CODE("\x4c\x89\x4c\x24\x08"); /* mov [rsp+8], r9 */
    x64_op(&x, X64_MOV, 0, X64_RAX, x64_at(X64_RBP, 0));
    CHECK_CODE("\x8b\x45\x00"); /* mov eax, [rbp+0] */
    x64_op(&x, X64_MOV, 0, X64_RSI, x64_at(X64_RSP, 128));
    CHECK_CODE("\x8b\xb4\x24\x80\x00\x00\x00"); /* mov esi, [rsp+128] */
    x64_op(&x, X64_MOVSX16, 0, X64_RAX, scaled);
    CHECK_CODE("\x0f\xbf\x84\x83\x78\x56\x34\x12");
    x64_op(&x, X64_STORE8, X64_BYTE, X64_RSI, high);
    CHECK_CODE("\x43\x88\x74\x25\x00"); /* mov [r13+r12], sil */
    x64_fini(&x);
}

TEST(constants_have_the_shortest_form)
{
    struct x64 x;

    x64_init(&x);
    x64_constant(&x, X64_RAX, 5);
    CHECK_CODE("\xb8\x05\x00\x00\x00"); /* mov eax, 5 */
    x64_constant(&x, X64_R10, UINT32_MAX);
    CHECK_CODE("\x41\xba\xff\xff\xff\xff"); /* mov r10d, -1 */
    x64_constant(&x, X64_RCX, UINT64_MAX);
    CHECK_CODE("\x48\xc7\xc1\xff\xff\xff\xff"); /* mov rcx, -1 */
    x64_constant(&x, X64_R11, 0x1122334455667788);
    CHECK_CODE("\x49\xbb\x88\x77\x66\x55\x44\x33\x22\x11");
    x64_arith(&x, X64_ARITH_SUB, 0, x64_reg(X64_R12), -128);
    CHECK_CODE("\x41\x83\xec\x80"); /* sub r12d, -128 */
    x64_arith(&x, X64_ARITH_CMP, X64_WIDE, x64_at(X64_RSP, 0), 128);
    CHECK_CODE("\x48\x81\x3c\x24\x80\x00\x00\x00"); /* cmp qword [rsp], 128 */
    x64_test(&x, X64_RDI, 1);
    CHECK_CODE("\x40\xf6\xc7\x01"); /* test dil, 1 */
    x64_test(&x, X64_RDI, 128);
    CHECK_CODE("\xf7\xc7\x80\x00\x00\x00"); /* test edi, 128 */
    x64_shift(&x, X64_SAR, X64_WIDE, X64_R14, 63);
    CHECK_CODE("\x49\xc1\xfe\x3f"); /* sar r14, 63 */
    x64_store(&x, 1, x64_at(X64_RBX, 4), 7);
    CHECK_CODE("\xc6\x43\x04\x07"); /* mov byte [rbx+4], 7 */
    x64_store(&x, 2, x64_at(X64_RBX, 4), 0x1234);
    CHECK_CODE("\x66\xc7\x43\x04\x34\x12"); /* mov word [rbx+4], 0x1234 */
    x64_store(&x, 8, x64_at(X64_RBX, 4), -1);
    CHECK_CODE("\x48\xc7\x43\x04\xff\xff\xff\xff"); /* mov qword [rbx+4], -1 */
    x64_fini(&x);
}

TEST(jumps_and_calls_are_linked_over_sections)
{
    static const char want[] =
        "\x0f\x84\x0a\x00\x00\x00" /* je cold */
        "\xff\xe0"                 /* back: jmp rax */
        "\x41\x54\x41\x5c\xc3"     /* push r12; pop r12; ret */
        "\0\0\0"
        "\xff\x15\x0a\x00\x00\x00" /* cold: call [pointer] */
        "\xe9\xeb\xff\xff\xff"     /* jmp back */
        "\0\0\0\0\0"
        "\x88\x77\x66\x55\x44\x33\x22\x11" /* pointer */
        "\xde\xff\xff\xff";                /* back - table */
    struct x64 x;
    uint8_t *code = NULL;
    size_t bytes = 0;

    x64_init(&x);
    unsigned cold = x64_label(&x), back = x64_label(&x);
    unsigned pointer = x64_label(&x), table = x64_label(&x);
    x64_jump_if(&x, X64_EQUAL, cold);
    x64_bind(&x, back);
    x64_jump_to(&x, X64_RAX);
    x64_push(&x, X64_R12);
    x64_pop(&x, X64_R12);
    x64_return(&x);
    x.at = X64_COLD;
    x64_bind(&x, cold);
    x64_call(&x, pointer);
    x64_jump(&x, back);
    x.at = X64_DATA;
    x64_bind(&x, pointer);
    x64_data(&x, 0x1122334455667788);
    x64_bind(&x, table);
    x64_distance(&x, table, back);
    CHECK_EQ(x64_link(&x, &code, &bytes), 0);
    CHECK_EQ(bytes, sizeof want - 1);
    CHECK(code && !memcmp(code, want, sizeof want - 1));
    free(code);
    x64_fini(&x);
}

TEST(a_label_that_is_not_bound_is_an_error)
{
    struct x64 x;
    uint8_t *code;
    size_t bytes;

    x64_init(&x);
    x64_address(&x, X64_R9, x64_label(&x));
    CHECK_EQ(x64_link(&x, &code, &bytes), -EINVAL);
    x64_fini(&x);
}

TEST(code_without_memory_fails_when_it_is_linked)
{
    EACH_OOM(oom) {
        struct x64 x;
        uint8_t *code = NULL;
        size_t bytes;
        x64_init(&x);
        unsigned label = x64_label(&x);
        for (int i = 0; i < 2000; i++)
            x64_jump(&x, label);
        x64_bind(&x, label);
        int r = x64_link(&x, &code, &bytes);
        CHECK_EQ(r, test_alloc_failed() ? -ENOMEM : 0);
        free(code);
        x64_fini(&x);
    }
}
