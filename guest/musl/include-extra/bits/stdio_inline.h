/* SPDX-License-Identifier: MIT */
/* getc and putc without a call. There is one thread, so no lock is taken; the
 * layout is that of the first members of musl's FILE, checked when libc is
 * built. Inline functions rather than macros: a program may have members or
 * variables of these names. */
struct __stdio_head {
    unsigned __flags;
    unsigned char *__rpos, *__rend;
    void *__close;
    unsigned char *__wend, *__wpos;
    unsigned __between[14];
    int __lbf;
};

#ifndef __WASMSAND_LIBC
int __uflow(FILE *);
int __overflow(FILE *, int);

static __inline int
__stdio_getc(FILE *__f)
{
    struct __stdio_head *__h = (struct __stdio_head *)__f;

    return __h->__rpos != __h->__rend ? *__h->__rpos++ : __uflow(__f);
}

static __inline int
__stdio_putc(int __c, FILE *__f)
{
    struct __stdio_head *__h = (struct __stdio_head *)__f;

    if ((unsigned char)__c != __h->__lbf && __h->__wpos != __h->__wend)
        return *__h->__wpos++ = (unsigned char)__c;
    return __overflow(__f, (unsigned char)__c);
}

#define __STDIO_INLINE \
    extern __inline __attribute__((__gnu_inline__, __always_inline__))

__STDIO_INLINE int
getc(FILE *__f)
{
    return __stdio_getc(__f);
}

__STDIO_INLINE int
putc(int __c, FILE *__f)
{
    return __stdio_putc(__c, __f);
}

__STDIO_INLINE int
getchar(void)
{
    return __stdio_getc(stdin);
}

__STDIO_INLINE int
putchar(int __c)
{
    return __stdio_putc(__c, stdout);
}

#if defined(_POSIX_SOURCE) || defined(_POSIX_C_SOURCE) || \
    defined(_XOPEN_SOURCE) || defined(_GNU_SOURCE) || defined(_BSD_SOURCE)
__STDIO_INLINE int
getc_unlocked(FILE *__f)
{
    return __stdio_getc(__f);
}

__STDIO_INLINE int
putc_unlocked(int __c, FILE *__f)
{
    return __stdio_putc(__c, __f);
}
#endif
#undef __STDIO_INLINE
#endif
