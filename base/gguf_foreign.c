/* What a file is when it is not a GGUF file we can read. People give us what a download
 * left behind, so the sentence names the thing and the remedy. Looks only at the first
 * bytes. */
#include "config.h"

#include "base/gguf.h"

#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/gguf_int.h"

enum { GGUF_HEADER = 4 + 4 + 8 + 8 };

struct gguf_foreign {
    const char *magic;
    size_t n;
    const char *is; /* "FILE is ..." */
};

static const struct gguf_foreign gguf_foreign[] = {
    { "version https://git-lfs", 23,
      "is a Git LFS pointer, not the model itself: run \"git lfs pull\" where it lies, "
      "or download the model again" },
    { "oid sha256:", 11,
      "is a Git LFS pointer, not the model itself: run \"git lfs pull\" where it lies, "
      "or download the model again" },
    { "\x1f\x8b", 2, "is compressed with gzip: unpack it first (gunzip)" },
    { "\xfd\x37zXZ", 5, "is compressed with xz: unpack it first (unxz)" },
    { "\x28\xb5\x2f\xfd", 4, "is compressed with zstd: unpack it first (unzstd)" },
    { "BZh", 3, "is compressed with bzip2: unpack it first (bunzip2)" },
    { "7z\xbc\xaf\x27\x1c", 6, "is a 7-Zip archive: unpack it first" },
    { "PK\x03\x04", 4,
      "is a zip archive (PyTorch checkpoints are such, too): unpack it, or convert the "
      "checkpoint to GGUF" },
    { "lmgg", 4,
      "is an old ggml file: that format has no version; get the model as GGUF" },
    { "fmgg", 4, "is an old ggmf file: get the model as GGUF" },
    { "tjgg", 4, "is an old ggjt file: get the model as GGUF" },
    { "algg", 4, "is an old ggla adapter file: it is no model" },
    { "\x89HDF", 4, "is an HDF5 file: convert the model to GGUF" },
    { "%PDF", 4, "is a PDF document, not a model" },
};

/* Does the text at p begin with s, case aside? */
static bool gguf_begins(const uint8_t *p, size_t n, const char *s)
{
    size_t len = strlen(s);
    return n >= len && !strncasecmp((const char *)p, s, len);
}

static bool gguf_is_html(const uint8_t *p, size_t n)
{
    size_t i = n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < n && i < 1024 && strchr(" \t\r\n", p[i]) && p[i])
        i++;
    p += i;
    n -= i;
    return gguf_begins(p, n, "<!doctype") || gguf_begins(p, n, "<html") ||
           gguf_begins(p, n, "<head") || gguf_begins(p, n, "<?xml") ||
           gguf_begins(p, n, "<!--");
}

/* A safetensors file is a length and that many bytes of JSON. The length of a damaged one
 * may be anything, so an object after eight bytes with an empty high half is enough. */
static bool gguf_is_safetensors(const uint8_t *p, size_t n)
{
    return n > 8 && p[8] == '{' && !p[5] && !p[6] && !p[7];
}

static bool gguf_is_zeros(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n && i < GGUF_HEADER; i++)
        if (p[i])
            return false;
    return true;
}

/* The sentence for a file without the GGUF magic, or NULL when nothing fits. */
static const char *gguf_foreign_name(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < sizeof gguf_foreign / sizeof gguf_foreign[0]; i++)
        if (n >= gguf_foreign[i].n &&
            !memcmp(p, gguf_foreign[i].magic, gguf_foreign[i].n))
            return gguf_foreign[i].is;
    if (n >= 8 && !memcmp(p, "FUGG", 4) && !p[4] && !p[5])
        return "is a big-endian GGUF file: get the little-endian one";
    if (gguf_is_html(p, n))
        return "is an HTML page: the download got a web page (a login or an error, "
               "perhaps) instead of the model; fetch it again";
    if (gguf_is_safetensors(p, n))
        return "is a safetensors file, not GGUF: give the directory that holds it and "
               "its config.json";
    if (n > 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5)
        return "is a Python pickle (a PyTorch checkpoint): convert it to GGUF";
    if (n > 262 && !memcmp(p + 257, "ustar", 5))
        return "is a tar archive: unpack it first";
    if (p[0] == '{' || p[0] == '[')
        return "is JSON text (a manifest or an error message), not a model";
    if (gguf_is_zeros(p, n))
        return "begins with zeros: the download is incomplete; fetch it again";
    return NULL;
}

static bool gguf_check_version(const uint8_t *p, const char *path, struct err *e)
{
    uint32_t version;

    memcpy(&version, p + 4, sizeof version);
    if (version == 2 || version == 3)
        return true;
    if (version && !(version & 0xffff))
        return GGUF_REFUSE(e, "%s is a big-endian GGUF file: get the little-endian one",
                           path);
    if (version == 1)
        return GGUF_REFUSE(
            e,
            "%s is GGUF version 1, which is too old (2 and 3 are read): get a newer file",
            path);
    return GGUF_REFUSE(e,
                       "%s is GGUF version %u, which is unknown (2 and 3 are read): the "
                       "file is damaged or needs a newer vitrine",
                       path, version);
}

bool gguf_recognise(const uint8_t *p, size_t n, const char *path, struct err *e)
{
    if (!n)
        return GGUF_REFUSE(e, "%s is empty (0 bytes): fetch it again", path);
    if (memcmp(p, "GGUF", n < 4 ? n : 4)) {
        const char *is = gguf_foreign_name(p, n);
        if (is)
            return GGUF_REFUSE(e, "%s %s", path, is);
        return GGUF_REFUSE(e,
                           "%s is not a GGUF file: its first bytes are %02x %02x %02x "
                           "%02x instead of \"GGUF\"",
                           path, p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0,
                           n > 3 ? p[3] : 0);
    }
    if (n < GGUF_HEADER)
        return GGUF_REFUSE(e,
                           "%s has %zu bytes, less than a GGUF header (%d): the download "
                           "is incomplete; fetch it again",
                           path, n, GGUF_HEADER);
    return gguf_check_version(p, path, e);
}
