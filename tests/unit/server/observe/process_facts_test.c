#include "server/observe/process_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void assert_human(uint64_t bytes, const char *expected)
{
    char text[HUMAN_BYTES_TEXT];
    human_bytes(text, bytes);
    assert_string_equal(text, expected);
}

static void bytes_are_shown_in_the_largest_unit_that_fits(void **state)
{
    (void)state;
    assert_human(0, "0B");
    assert_human(1023, "1023B");
    assert_human(1024, "1.00K");
    assert_human(1657032, "1.58M");
    assert_human(25276059648u, "23.54G");
    assert_human(UINT64_MAX, "16.00E");
}

static void the_kernel_tells_about_memory_and_system(void **state)
{
    char name[64];
    (void)state;
    assert_true(process_resident_bytes() > 100000);
    assert_true(machine_memory_bytes() > process_resident_bytes());
    machine_system_name(name, sizeof(name));
    assert_memory_equal(name, "Linux ", 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_shown_in_the_largest_unit_that_fits),
        cmocka_unit_test(the_kernel_tells_about_memory_and_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
