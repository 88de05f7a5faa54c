/* No page of the web can have one of these origins: a browser writes the header, localhost is this
 * machine for it whatever a name server says, and the other schemes belong to programs. But they
 * are many: each page that something serves on this machine, and each extension. So they are let in
 * only where the operator says so. */
#include "api/http/origin.h"

#include "base/core/str.h"
#include "net/client/loopback.h"

/* Of editors' views (VS Code), Electron's own files, Tauri, Capacitor, and extensions. */
static const char *const schemes[] = {"vscode-webview",   "app",          "tauri", "capacitor",
                                      "chrome-extension", "moz-extension"};

/* The digits of a port after its colon, or nothing. */
static bool is_port(struct td_str text)
{
    uint64_t port;
    return text.len == 0 || (text.len > 1 && text.data[0] == ':' &&
                             str_to_u64(str_slice(text, 1, text.len), &port) && port <= 65535);
}

/* Of http and https: a name or an address of this machine, which may have a port. */
static bool is_loopback(struct td_str host)
{
    size_t end = host.len > 0 && host.data[0] == '[' ? str_find(host, STR("]"), 0)
                                                     : str_find(host, STR(":"), 0);
    if (end != SIZE_MAX && host.data[0] == '[')
        end++;
    if (end == SIZE_MAX)
        end = host.len;
    return loopback_is_host(str_slice(host, 0, end)) && is_port(str_slice(host, end, host.len));
}

bool origin_is_local(const char *origin)
{
    struct td_str text = str_from(origin);
    size_t at = str_find(text, STR("://"), 0);
    if (at == SIZE_MAX)
        return false;
    struct td_str scheme = str_slice(text, 0, at), host = str_slice(text, at + 3, text.len);
    if (str_equal(scheme, STR("http")) || str_equal(scheme, STR("https")))
        return is_loopback(host);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (str_equal(scheme, str_from(schemes[i])))
            return host.len > 0;
    return false;
}
