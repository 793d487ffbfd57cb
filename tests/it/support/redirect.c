/* Sends a program's connections to named hosts to this machine. Tests preload this library into the unchanged program; `redirect.rs` sets
 * the variables.
 *
 * REDIRECT_HOSTS: host names, separated by commas. They resolve to 127.0.0.1.
 * REDIRECT_HTTPS: the port on this machine that takes the connections to port 443 of 127.0.0.1.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int is_redirected(const char *host) {
    const char *hosts = getenv("REDIRECT_HOSTS");
    size_t length = strlen(host);
    while (hosts && *hosts) {
        size_t part = strcspn(hosts, ",");
        if (part == length && strncasecmp(hosts, host, part) == 0) return 1;
        hosts += part + (hosts[part] == ',');
    }
    return 0;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(host && is_redirected(host) ? "127.0.0.1" : host, service, hints, found);
}

int connect(int socket, const struct sockaddr *address, socklen_t length) {
    int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    const char *port = getenv("REDIRECT_HTTPS");
    if (port && address && address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in own;
        memcpy(&own, address, sizeof own);
        if (ntohs(own.sin_port) == 443 && ntohl(own.sin_addr.s_addr) == INADDR_LOOPBACK) {
            own.sin_port = htons((unsigned short)atoi(port));
            return next(socket, (const struct sockaddr *)&own, sizeof own);
        }
    }
    return next(socket, address, length);
}
