#include "server/observe/process_facts.h"

#include "lib/base/bytes.h"
#include "lib/base/number.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

uint64_t process_resident_bytes(void)
{
    char text[128];
    uint64_t pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    /* total resident shared ... */
    const char *resident = strchr(text, ' ');
    if (!resident)
        return 0;
    resident++;
    if (!number_parse_u64(bytes_make(resident, strcspn(resident, " ")), &pages))
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t machine_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void machine_system_name(char *to, size_t size)
{
    struct utsname name;
    if (uname(&name) < 0)
        (void)snprintf(to, size, "unknown");
    else
        (void)snprintf(to, size, "%s %s %s", name.sysname, name.release, name.machine);
}

void human_bytes(char *to, uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    size_t unit = 0;
    double scaled = (double)bytes / 1024;
    if (bytes < 1024) {
        (void)snprintf(to, HUMAN_BYTES_TEXT, "%lluB", (unsigned long long)bytes);
        return;
    }
    for (; scaled >= 1024 && units[unit + 1]; unit++)
        scaled /= 1024;
    (void)snprintf(to, HUMAN_BYTES_TEXT, "%.2f%c", scaled, units[unit]);
}
