/* /proc/self/cgroup has lines "number:controllers:path"; in version 2 the controllers are empty. A
 * limit of a group holds for all groups inside it, so that each on the way up counts. In a
 * container the path may be one of the host's, which does not exist here. The container's own group
 * then stands at the top. */
#include "base/machine/cgroup.h"

#include "base/bytes/path.h"
#include "base/core/assertion.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 4096

bool cgroup_read(const char *folder, const char *name, char *out, size_t capacity)
{
    char path[PATH_BYTES];
    if (path_join(path, sizeof path, folder, name, NULL) != TD_OK)
        return false;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t len = fread(out, 1, capacity - 1, file);
    fclose(file);
    out[len] = '\0';
    return len > 0;
}

/* Whether `controller` is in a comma-separated list. */
static bool is_listed(const char *list, const char *controller)
{
    size_t wanted = strlen(controller);
    for (size_t len; *list != '\0'; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        if (len == wanted && memcmp(list, controller, len) == 0)
            return true;
    }
    return false;
}

/* Cuts `group` on its way up. */
static void climb(const char *root, const char *controller, char *group, cgroup_fn *visit,
                  void *ctx)
{
    char folder[PATH_BYTES];
    for (;;) {
        const char *at = strcmp(group, "/") == 0 ? "" : group;
        if (path_format(folder, sizeof folder, NULL, "%s/sys/fs/cgroup%s%s%s", root,
                        *controller ? "/" : "", controller, at) == TD_OK)
            visit(ctx, folder, *controller == '\0');
        char *slash = strrchr(group, '/');
        if (slash == NULL || *group == '\0')
            return;
        *slash = '\0';
    }
}

void cgroup_walk(const char *root, const char *controller, cgroup_fn *visit, void *ctx)
{
    ASSERT(root != NULL && controller != NULL && visit != NULL);
    char folder[PATH_BYTES], text[16384], *lines = text;
    if (path_format(folder, sizeof folder, NULL, "%s/proc/self", root) != TD_OK ||
        !cgroup_read(folder, "cgroup", text, sizeof text))
        return;
    for (char *line; (line = strsep(&lines, "\n")) != NULL;) {
        char *controllers = strchr(line, ':'), *group;
        if (controllers == NULL || (group = strchr(controllers + 1, ':')) == NULL)
            continue;
        controllers++;
        *group++ = '\0';
        if (*controllers == '\0')
            climb(root, "", group, visit, ctx);
        else if (is_listed(controllers, controller))
            climb(root, controller, group, visit, ctx);
    }
}
