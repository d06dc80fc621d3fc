#include "bench/client/target.h"

#include <netdb.h>
#include <stdio.h>
#include <sys/un.h>

#define SETUP_BYTES_MAX (1 << 20)

static int command_add(struct target *target, const char *const *arguments, unsigned count)
{
    int status = buf_printf(&target->setup, "*%u\r\n", count);
    for (unsigned i = 0; status == 0 && i < count; i++) {
        status = buf_printf(&target->setup, "$%zu\r\n", strlen(arguments[i]));
        if (status == 0)
            status = buf_append_text(&target->setup, arguments[i]);
        if (status == 0)
            status = buf_append_text(&target->setup, "\r\n");
    }
    target->setup_replies++;
    return status;
}

static int setup_encode(struct target *target, const struct target_options *options)
{
    char database[32];
    int status = 0;
    if (options->password) {
        const char *const with_user[] = {"AUTH", options->user, options->password};
        const char *const without[] = {"AUTH", options->password};
        status = options->user ? command_add(target, with_user, 3) : command_add(target, without, 2);
    }
    if (status == 0 && options->database > 0) {
        snprintf(database, sizeof(database), "%llu", (unsigned long long)options->database);
        const char *const select[] = {"SELECT", database};
        status = command_add(target, select, 2);
    }
    if (status == 0 && options->protocol != TARGET_REDIS) {
        const char *const hello[] = {"HELLO", options->protocol == TARGET_RESP3 ? "3" : "2"};
        status = command_add(target, hello, 2);
    }
    return status;
}

static int unix_address(struct target *target, const char *path, char *error, size_t error_size)
{
    struct target_address *entry = &target->addresses[0];
    struct sockaddr_un *address = (struct sockaddr_un *)&entry->address;
    if (strlen(path) >= sizeof(address->sun_path)) {
        snprintf(error, error_size, "socket path is longer than %zu bytes: %s", sizeof(address->sun_path) - 1, path);
        return -1;
    }
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path) + 1);
    entry->size = sizeof(*address);
    snprintf(entry->text, sizeof(entry->text), "%s", path);
    target->address_count = 1;
    return 0;
}

static void address_text(struct target_address *entry, uint16_t port)
{
    char host[INET6_ADDRSTRLEN + 16] = "?";
    (void)getnameinfo((struct sockaddr *)&entry->address, entry->size, host, sizeof(host), NULL, 0, NI_NUMERICHOST);
    snprintf(entry->text, sizeof(entry->text), entry->address.ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, port);
}

static int host_addresses(struct target *target, const struct target_options *options, char *error, size_t error_size)
{
    char port[8];
    snprintf(port, sizeof(port), "%u", options->port);
    struct addrinfo hints = {.ai_family = options->family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list;
    int status = getaddrinfo(options->host, port, &hints, &list);
    if (status != 0) {
        snprintf(error, error_size, "cannot resolve %s: %s", options->host, gai_strerror(status));
        return -1;
    }
    for (struct addrinfo *at = list; at && target->address_count < TARGET_ADDRESSES_MAX; at = at->ai_next) {
        struct target_address *entry = &target->addresses[target->address_count++];
        memcpy(&entry->address, at->ai_addr, at->ai_addrlen);
        entry->size = at->ai_addrlen;
        address_text(entry, options->port);
    }
    freeaddrinfo(list);
    return 0;
}

int target_init(struct target *target, const struct target_options *options, char *error, size_t error_size)
{
    *target = (struct target){0};
    buf_init(&target->setup, SETUP_BYTES_MAX);
    if (setup_encode(target, options) < 0) {
        snprintf(error, error_size, "user name or password too long");
        return -1;
    }
    if (options->unix_socket)
        return unix_address(target, options->unix_socket, error, error_size);
    return host_addresses(target, options, error, error_size);
}

void target_deinit(struct target *target)
{
    buf_deinit(&target->setup);
}
