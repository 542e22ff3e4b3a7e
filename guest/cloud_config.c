// See cloud_config.h.
#include "cloud_config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base.h"

// A scalar of one line: '...' with '' inside, "..." with \ escapes, or plain up to " #". Unquoted in place.
static void unquote(char* text) {
    const char quote = *text == '\'' || *text == '"' ? *text : 0;
    char* out = text;
    if (!quote) {
        char* comment = strstr(text, " #");
        if (comment) *comment = 0;
        return;
    }
    for (const char* in = text + 1; *in; in++) {
        if (quote == '"' && *in == '\\' && in[1]) {
            in++;
            *out++ = (char)(*in == 'n' ? '\n' : *in == 't' ? '\t' : *in);
        } else if (quote == '\'' && *in == '\'' && in[1] == '\'') {
            *out++ = *in++;
        } else if (*in == quote) {
            break;
        } else {
            *out++ = *in;
        }
    }
    *out = 0;
}

static char* trim(char* text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) text[--length] = 0;
    return text;
}

static void add_command(struct cloud_config* config, char* item, int line) {
    const size_t used = strlen(config->script);
    if (strchr("[{|>&*!", *item)) {
        say("CLOUD-INIT-UNSUPPORTED line %d: runcmd takes plain strings only", line);
        return;
    }
    unquote(item);
    snprintf(config->script + used, sizeof config->script - used, "%s\n", item);
}

void read_cloud_config(const char* text, struct cloud_config* config) {
    enum { in_other, in_runcmd } section = in_other;
    config->hostname[0] = 0;
    snprintf(config->script, sizeof config->script, "#!/bin/sh\n");
    for (int number = 1; *text; number++) {
        char line[4096];
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        text += length + (text[length] == '\n');
        if (length >= sizeof line) {
            say("CLOUD-INIT-UNSUPPORTED line %d is too long", number);
            continue;
        }

        char* content = trim(line);
        if (!*content || *content == '#' || strcmp(content, "---") == 0) continue;
        if (content[0] == '-' && content[1] == ' ') {
            if (section == in_runcmd) add_command(config, trim(content + 2), number);
            continue;
        }
        if (content != line) {
            if (section == in_runcmd) say("CLOUD-INIT-UNSUPPORTED line %d: runcmd takes one line a command", number);
            continue;
        }
        char* value = content;
        const char* key = strsep(&value, ":");
        section = strcmp(key, "runcmd") == 0 ? in_runcmd : in_other;
        if (strcmp(key, "hostname") == 0 && value) {
            value = trim(value);
            unquote(value);
            snprintf(config->hostname, sizeof config->hostname, "%s", value);
        } else if (section == in_other) {
            say("CLOUD-INIT-IGNORED %s", key);
        }
    }
}
