/* check.h - assertions that stay in release builds, and the attributes the code uses.
 *
 * CHECK is for what must stop the program even in production (our own broken invariants). Neither CHECK nor assert may
 * depend on what a client, a peer or a disk can send. */
#ifndef KETCH_LIB_BASE_CHECK_H
#define KETCH_LIB_BASE_CHECK_H

#include <assert.h>

/* Prints where and what to stderr and the log, then aborts (the crash handler adds the stack). */
_Noreturn void check_failed(const char *file, int line, const char *what);

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (__builtin_expect(!(condition), 0))                                                                         \
            check_failed(__FILE__, __LINE__, #condition);                                                              \
    } while (0)

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(at, first) __attribute__((format(printf, at, first)))

/* The structure that contains a member, from a pointer to the member. */
#define CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* clang's thread-safety analysis; gcc sees nothing. A capability is a class of lock, not an instance (style.md). */
#if defined(__clang__)
#define CAPABILITY(name) __attribute__((capability(name)))
#define GUARDED_BY(x) __attribute__((guarded_by(x)))
#define REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define ACQUIRES(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define RELEASES(...) __attribute__((release_capability(__VA_ARGS__)))
#define TRY_ACQUIRES(...) __attribute__((try_acquire_capability(__VA_ARGS__)))
#define NO_THREAD_SAFETY __attribute__((no_thread_safety_analysis))
#else
#define CAPABILITY(name)
#define GUARDED_BY(x)
#define REQUIRES(...)
#define ACQUIRES(...)
#define RELEASES(...)
#define TRY_ACQUIRES(...)
#define NO_THREAD_SAFETY
#endif

#endif
