/* SPDX-License-Identifier: MIT */
/* getent DATABASE [KEY...]: entries of passwd, group, hosts, services,
 * protocols; status 1 for an unknown database, 2 for a missing key */
#include <arpa/inet.h>
#include <ctype.h>
#include <err.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
is_number(const char *s)
{
    return isdigit((unsigned char)*s);
}

static int
print_user(const char *key)
{
    struct passwd *p;

    if (!key) {
        while ((p = getpwent()))
            putpwent(p, stdout);
        return 1;
    }
    p = is_number(key) ? getpwuid((uid_t)atol(key)) : getpwnam(key);
    return p && !putpwent(p, stdout);
}

static int
print_group(const char *key)
{
    struct group *g;

    if (!key) {
        while ((g = getgrent()))
            putgrent(g, stdout);
        return 1;
    }
    g = is_number(key) ? getgrgid((gid_t)atol(key)) : getgrnam(key);
    return g && !putgrent(g, stdout);
}

/* Prints the lines of a file, all or those that have the key as first word or,
 * from the given word on, as another. */
static int
print_lines(const char *path, const char *key, int from)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    int found = !key;

    while (file && getline(&line, &size, file) > 0) {
        char *copy, *word, *rest = NULL;
        int hit = !key, n = 0;

        line[strcspn(line, "#\n")] = '\0';
        copy = strdup(line);
        for (word = strtok_r(copy, " \t", &rest); word && !hit;
             word = strtok_r(NULL, " \t", &rest), n++)
            hit = (n == 0 || n >= from) && !strcmp(word, key);
        if (hit && line[strspn(line, " \t")]) {
            puts(line);
            found = 1;
        }
        free(copy);
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

static int
print_host(const char *key)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    char text[INET6_ADDRSTRLEN];

    if (!key || is_number(key))
        return print_lines("/etc/hosts", key, 1);
    if (getaddrinfo(key, NULL, &hints, &list))
        return 0;
    if (getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0,
                    NI_NUMERICHOST))
        return 0;
    printf("%-15s %s\n", text, key);
    freeaddrinfo(list);
    return 1;
}

/* All addresses of a name, in the order in which programs try them. */
static int
print_addresses(const char *key)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    char text[INET6_ADDRSTRLEN];

    if (!key)
        return print_lines("/etc/hosts", key, 1);
    if (getaddrinfo(key, NULL, &hints, &list))
        return 0;
    for (const struct addrinfo *i = list; i; i = i->ai_next)
        if (!getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof text, NULL, 0,
                         NI_NUMERICHOST))
            printf("%-15s STREAM %s\n", text, i == list ? key : "");
    freeaddrinfo(list);
    return 1;
}

static int
print_service(const char *key)
{
    return print_lines("/etc/services", key, 2);
}

static int
print_protocol(const char *key)
{
    return print_lines("/etc/protocols", key, 1);
}

static const struct {
    const char *name;
    int (*print)(const char *key);
} databases[] = {
    {"passwd", print_user},      {"group", print_group},
    {"hosts", print_host},       {"ahosts", print_addresses},
    {"services", print_service}, {"protocols", print_protocol},
};

int
main(int argc, char **argv)
{
    int status = 0;

    if (argc < 2)
        errx(1, "usage: getent DATABASE [KEY...]");
    for (size_t i = 0; i < sizeof databases / sizeof *databases; i++) {
        if (strcmp(databases[i].name, argv[1]))
            continue;
        if (argc == 2)
            databases[i].print(NULL);
        for (int k = 2; k < argc; k++) {
            if (!databases[i].print(argv[k]))
                status = 2;
        }
        return status;
    }
    errx(1, "Unknown database: %s", argv[1]);
}
