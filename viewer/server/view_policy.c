/* The Content-Security-Policy of the page: see view_policy.h. */
#include "view_policy.h"

#include "view_hash.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_SCRIPTS = 12 };

/* The first place at or after `at` where a tag begins with `word`, whatever the case; null:
 * none. */
static const char *find_tag(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) <= length)
            return NULL;
        if (strncasecmp(at, word, length) == 0 && strchr(" \t\r\n/>", at[length]))
            return at;
        at++;
    }
    return NULL;
}

void view_policy_of_scripts(const char *page, size_t size, char policy[VIEW_POLICY_SIZE]) {
    const char *at = page, *end = page + size;
    size_t used = 0;
    int scripts = 0;
    policy[0] = '\0';
    while ((at = find_tag(at, end, "<script")) != NULL) {
        const char *open = memchr(at, '>', (size_t)(end - at));
        const char *close = open ? find_tag(open + 1, end, "</script") : NULL;
        unsigned char hash[VIEW_SHA256_BYTES];
        char text[VIEW_BASE64_SIZE];
        if (!close || ++scripts > MOST_SCRIPTS) {
            snprintf(policy, VIEW_POLICY_SIZE, "'unsafe-inline'");
            return;
        }
        view_sha256(open + 1, (size_t)(close - open - 1), hash);
        view_base64(hash, sizeof hash, text);
        used += (size_t)snprintf(policy + used, VIEW_POLICY_SIZE - used, "%s'sha256-%s'",
                                 used ? " " : "", text);
        at = close + 1;
    }
    if (scripts == 0)
        snprintf(policy, VIEW_POLICY_SIZE, "'none'");
}
