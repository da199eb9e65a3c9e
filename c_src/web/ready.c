/* ready.c - see ready.h. */
#include "web/ready.h"

#include <string.h>

#include "util/buftext.h"
#include "web/asset.h"
#include "util/json.h"

enum { LINE = 512, ARGUMENTS = 8 };

/* The contents of a script's comment. */
struct header {
    struct buf title, text;
    char arg[ARGUMENTS][64];
    size_t nargs;
    char page[LINE]; /* after "page:" */
};

/* Reads the next line without the comment's leading marks; returns false at the comment's end. */
static bool next_line(const char **p, const char *end, char line[LINE])
{
    const char *from = *p;
    if (from >= end)
        return false;
    const char *stop = memchr(from, '\n', (size_t)(end - from));
    stop = stop != NULL ? stop : end;
    *p = stop + 1;
    while (from < stop && (*from == ' ' || *from == '\t'))
        from++;
    if (stop - from >= 2 && memcmp(from, "*/", 2) == 0)
        return false;
    if (from < stop && *from == '*')
        from++;
    while (from < stop && *from == ' ')
        from++;
    size_t n = (size_t)(stop - from) < LINE - 1 ? (size_t)(stop - from) : LINE - 1;
    memcpy(line, from, n);
    line[n] = '\0';
    return true;
}

/* Reads the arguments of "calls.d MODULE - calls of"; the rest begins the title. */
static const char *first_line(struct header *h, char *line)
{
    char *dash = strstr(line, " - "), *save = NULL;
    if (dash == NULL)
        return line;
    *dash = '\0';
    char *word = strtok_r(line, " ", &save);
    while (word != NULL && (word = strtok_r(NULL, " ", &save)) != NULL && h->nargs < ARGUMENTS) {
        size_t n = strcspn(word, "]");
        word += *word == '[';
        n -= n > 0 && word[-1] == '[' ? 1 : 0;
        memcpy(h->arg[h->nargs], word, n < 63 ? n : 63);
        h->nargs++;
    }
    return dash + 3;
}

static void read_header(const char *text, const char *end, struct header *h)
{
    char line[LINE];
    enum { TITLE, BETWEEN, TEXT } at = TITLE;
    const char *p = strstr(text, "/*");
    if (p == NULL)
        return;
    p += 2;
    while (next_line(&p, end, line)) {
        const char *words = line;
        if (strncmp(line, "page:", 5) == 0) {
            strcpy(h->page, line + 5);
            continue;
        }
        if (at == TITLE && h->title.len == 0 && line[0] != '\0')
            words = first_line(h, line);
        if (line[0] == '\0' || strncmp(line, "erltrace ", 9) == 0) {
            at = h->title.len > 0 && at == TITLE ? BETWEEN : at;
            if (at == TEXT && line[0] == '\0')
                buf_addc(&h->text, '\n');
            continue;
        }
        at = at == BETWEEN ? TEXT : at;
        struct buf *b = at == TITLE ? &h->title : &h->text;
        if (b->len > 0 && b->data[b->len - 1] != '\n')
            buf_addc(b, ' ');
        buf_adds(b, words);
    }
}

/* Finds the value of KEY=VALUE in the "page:" line; returns false if it is missing. */
static bool page_value(const struct header *h, const char *key, char *out, size_t size)
{
    size_t n = strlen(key);
    for (const char *p = h->page; *p != '\0'; p += strcspn(p, " ")) {
        p += strspn(p, " ");
        if (strncmp(p, key, n) == 0 && p[n] == '=') {
            size_t len = strcspn(p + n + 1, " ");
            len = len < size - 1 ? len : size - 1;
            memcpy(out, p + n + 1, len);
            out[len] = '\0';
            return true;
        }
    }
    return false;
}

static const char *guess_view(const char *script)
{
    return strstr(script, "quantize(") != NULL                                     ? "heatmap"
           : strstr(script, "printf(") == NULL && strstr(script, "trace(") == NULL ? "list"
                                                                                   : "console";
}

static const char folder[] = "scripts/", kernel_folder[] = "scripts/kernel/";

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

static void add_script(struct buf *out, const struct asset *a, bool kernel, const char *text)
{
    struct header h = {0};
    char value[64];
    read_header(text, text + strlen(text), &h);
    buf_adds(out, "{\"name\":");
    json_text(out, a->path + strlen(kernel ? kernel_folder : folder));
    while (h.title.len > 0 && h.title.data[h.title.len - 1] == '.')
        h.title.data[--h.title.len] = '\0';
    while (h.text.len > 0 && h.text.data[h.text.len - 1] == '\n')
        h.text.data[--h.text.len] = '\0';
    json_text_field(out, "title", buf_str(&h.title));
    json_text_field(out, "text", buf_str(&h.text));
    json_key(out, "args");
    buf_addc(out, '[');
    for (size_t i = 0; i < h.nargs; i++) {
        buf_adds(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        json_text(out, h.arg[i]);
        json_text_field(out, "default",
                        page_value(&h, h.arg[i], value, sizeof value) ? value : NULL);
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
    json_text_field(out, "view",
                    page_value(&h, "view", value, sizeof value) ? value : guess_view(text));
    json_text_field(out, "place", page_value(&h, "place", value, sizeof value) ? value : NULL);
    json_bool_field(out, "kernel", kernel);
    json_text_field(out, "script", text);
    buf_addc(out, '}');
    buf_free(&h.title);
    buf_free(&h.text);
}

void scripts_list(bool kernel, struct buf *out)
{
    bool first = true;
    buf_adds(out, "{\"scripts\":[");
    for (size_t i = 0; i < nassets; i++) {
        struct buf text = BUF_INIT;
        const bool of_kernel = begins(assets[i].path, kernel_folder);
        if (!begins(assets[i].path, folder) || (of_kernel && !kernel))
            continue;
        buf_add(&text, assets[i].data, (size_t)(assets[i].end - assets[i].data));
        buf_adds(out, first ? "" : ",");
        add_script(out, &assets[i], of_kernel, buf_str(&text));
        out->oom |= text.oom;
        buf_free(&text);
        first = false;
    }
    buf_adds(out, "]}");
}
