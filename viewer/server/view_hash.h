/* Sums that browsers ask for: SHA-256 of scripts, SHA-1 in the greeting of a WebSocket (RFC 6455,
 * where it guards nothing). Both as in FIPS 180-4; base64 as in RFC 4648. */
#ifndef RIGOR_VIEWER_HASH_H
#define RIGOR_VIEWER_HASH_H

#include <stddef.h>

enum { VIEW_SHA1_BYTES = 20, VIEW_SHA256_BYTES = 32, VIEW_BASE64_SIZE = 48 };

void view_sha1(const void *bytes, size_t size, unsigned char hash[VIEW_SHA1_BYTES]);
void view_sha256(const void *bytes, size_t size, unsigned char hash[VIEW_SHA256_BYTES]);
/* Of at most VIEW_SHA256_BYTES bytes. */
void view_base64(const unsigned char *bytes, size_t size, char text[VIEW_BASE64_SIZE]);

#endif
