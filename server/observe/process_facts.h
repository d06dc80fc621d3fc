/* process_facts.h - what the kernel knows about this process and machine.
 *
 * Threads:    any.
 * Fails by:   0 for what the kernel does not tell. */
#ifndef KETCH_SERVER_OBSERVE_PROCESS_FACTS_H
#define KETCH_SERVER_OBSERVE_PROCESS_FACTS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of memory of the process that are resident, and of the machine as a whole. */
uint64_t process_resident_bytes(void);
uint64_t machine_memory_bytes(void);

/* "Linux 6.1.0 x86_64". */
void machine_system_name(char *to, size_t size);

/* "823B", "1.58M", "12.00G". */
#define HUMAN_BYTES_TEXT 32
void human_bytes(char *to, uint64_t bytes);

#endif
