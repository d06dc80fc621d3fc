#include "server/main/supervision.h"

#include "lib/base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void supervision_init(struct supervision *supervision, enum main_supervised wanted)
{
    bool systemd = getenv("NOTIFY_SOCKET") != NULL, upstart = getenv("UPSTART_JOB") != NULL;
    supervision->by = MAIN_SUPERVISED_NO;
    if (wanted == MAIN_SUPERVISED_UPSTART && !upstart)
        log_write(LOG_WARNING, "upstart supervision requested, but UPSTART_JOB not found!");
    else if (wanted == MAIN_SUPERVISED_SYSTEMD && !systemd)
        log_write(LOG_WARNING, "systemd supervision requested, but NOTIFY_SOCKET not found!");
    else if ((wanted == MAIN_SUPERVISED_UPSTART || wanted == MAIN_SUPERVISED_AUTO) && upstart)
        supervision->by = MAIN_SUPERVISED_UPSTART;
    else if ((wanted == MAIN_SUPERVISED_SYSTEMD || wanted == MAIN_SUPERVISED_AUTO) && systemd)
        supervision->by = MAIN_SUPERVISED_SYSTEMD;
    if (supervision->by == MAIN_SUPERVISED_SYSTEMD)
        log_write(LOG_NOTICE, "Supervised by systemd");
    if (supervision->by == MAIN_SUPERVISED_UPSTART)
        log_write(LOG_NOTICE, "Supervised by upstart");
}

int supervision_send(const char *path, const char *text)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = strlen(path);
    if (size == 0 || size >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
        return -EINVAL;
    memcpy(address.sun_path, path, size);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    ssize_t sent = sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&address, length);
    int failed = sent < 0 ? -errno : 0;
    close(fd);
    return failed;
}

static void tell(const struct supervision *supervision, const char *text)
{
    const char *path = supervision->by == MAIN_SUPERVISED_SYSTEMD ? getenv("NOTIFY_SOCKET") : NULL;
    int failed = path ? supervision_send(path, text) : 0;
    if (failed)
        log_write(LOG_WARNING, "systemd could not be told: %s", strerror(-failed));
}

void supervision_ready(const struct supervision *supervision)
{
    tell(supervision, "STATUS=Ready to accept connections\nREADY=1\n");
    if (supervision->by == MAIN_SUPERVISED_UPSTART)
        raise(SIGSTOP);
}

void supervision_stopping(const struct supervision *supervision)
{
    tell(supervision, "STOPPING=1\nSTATUS=Stopping\n");
}
