/* Paths as the table of endpoints writes them. A "*" matches one part of a path, and the last one
 * all that is left. Google's paths name what is asked behind a colon, and models' names may have
 * slashes and colons: there a "*" matches all before the pattern's end. */
#include "api/http/endpoint.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

/* What the "*" at the pattern's head matches of the path; 0 = nothing. */
static size_t star_length(const char *pattern, const char *path)
{
    struct td_str all = str_from(path), end = str_from(pattern + 1);
    if (end.len == 0)
        return all.len;
    if (*end.data == '/')
        return strcspn(path, "/");
    return str_ends_with(all, end) ? all.len - end.len : 0;
}

bool endpoint_matches(const char *pattern, const char *path, const char **rest)
{
    ASSERT(pattern && path && rest);
    bool found = false;
    *rest = "";
    while (true) {
        for (; *pattern && *pattern != '*' && *pattern == *path; pattern++, path++)
            ;
        if (*pattern != '*')
            return *pattern == *path;
        size_t len = star_length(pattern, path);
        if (len == 0)
            return false;
        *rest = found ? *rest : path;
        found = true;
        path += len;
        pattern++;
    }
}

bool endpoint_is_below(const char *pattern, const char *path)
{
    const char *rest;
    if (!strchr(pattern, '*'))
        return str_starts_with(str_from(path), str_from(pattern));
    return endpoint_matches(pattern, path, &rest);
}

struct td_str endpoint_part(const char *rest)
{
    return (struct td_str){rest, strcspn(rest, "/")};
}

struct td_str endpoint_subject(const char *rest)
{
    const char *end = strrchr(rest, ':');
    return end ? (struct td_str){rest, (size_t)(end - rest)} : str_from(rest);
}
