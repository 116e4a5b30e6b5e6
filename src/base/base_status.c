#include "rigor/status.h"
#include "rigor/version.h"

#define STATUS_NAME(identifier, code, name, text)                                                  \
    case identifier:                                                                               \
        return name;
#define STATUS_TEXT(identifier, code, name, text)                                                  \
    case identifier:                                                                               \
        return text;

const char *rg_status_name(rg_status status) {
    switch (status) { RG_STATUS_LIST(STATUS_NAME) }
    return "unknown";
}

const char *rg_status_text(rg_status status) {
    switch (status) { RG_STATUS_LIST(STATUS_TEXT) }
    return "unknown";
}

const char *rg_version_text(void) {
    return RG_VERSION_TEXT;
}

int rg_version_api(void) {
    return RG_API_VERSION;
}
