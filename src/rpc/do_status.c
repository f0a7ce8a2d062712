/* status and limits.get. */
#include "base/os_time.h"
#include "rpc/config.h"
#include "rpc/methods.h"
#include "rpc/slot.h"

/* Before `create` there is no sandbox, and all its figures are 0. */
static struct wsand_status
status_of(const struct call *q)
{
    struct wsand_status st = {.size = sizeof st};

    if (sandbox_of(q))
        (void)wsand_status(sandbox_of(q), &st, NULL);
    return st;
}

static uint64_t
status_uptime_ms(const struct server *srv)
{
    return (uint64_t)(time_mono_ns() / NS_PER_MS - srv->started_ms);
}

/* The figures are those of one moment, read without waiting for a command in
 * progress. */
void
do_status(struct call *q)
{
    struct wsand_status st = status_of(q);
    struct buf *b = answer_begin(q);

    buf_add(b, "{", 1);
    put_bool(b, "ready", sandbox_of(q));
    put_name(b, "version");
    put_text(b, wsand_version());
    if (sandbox_of(q)) {
        put_name(b, "imageName");
        put_text(b, slot_of(q)->image);
    }
    put_number(b, "uptimeMs", status_uptime_ms(server_of(q)));
    put_number(b, "sandboxes",
               server_of(q)->n_slots + (server_of(q)->root ? 1 : 0));
    put_number(b, "memoryUsedBytes", st.memory_bytes);
    put_number(b, "memoryLimitBytes", st.max.memory_bytes);
    put_number(b, "processes", st.processes);
    put_number(b, "files", st.files);
    put_number(b, "fileBytes", st.file_bytes);
    put_number(b, "snapshots", st.snapshots);
    put_number(b, "cpuMs", st.cpu_ms);
    buf_add(b, "}", 1);
    answer_end(q);
}

/* The first four members are fixed by the specification of the line protocol.
 */
void
do_line_status(struct call *q)
{
    struct wsand_status st = status_of(q);
    struct buf *b = answer_begin(q);

    put_number(b, "uptime_ms", status_uptime_ms(server_of(q)));
    put_number(b, "memory_used_bytes", st.memory_bytes);
    put_number(b, "memory_limit_bytes", st.max.memory_bytes);
    put_bool(b, "ready", sandbox_of(q));
    put_number(b, "processes", st.processes);
    put_number(b, "processes_limit", st.max.processes);
    put_number(b, "files", st.files);
    put_number(b, "files_limit", st.max.files);
    put_number(b, "file_bytes", st.file_bytes);
    put_number(b, "file_bytes_limit", st.max.file_bytes);
    put_number(b, "snapshots", st.snapshots);
    answer_end(q);
}

/* Limits that this server has itself are in the configuration, all others in
 * the library. */
void
do_limits_get(struct call *q)
{
    struct wsand_status st = status_of(q);
    const struct sandbox_config *c = slot_of(q)->config;
    struct buf *b = answer_begin(q);

    buf_add(b, "{", 1);
    put_number(b, "timeoutMs", c->timeout_ms);
    put_number(b, "fsLimitBytes", st.max.file_bytes);
    put_number(b, "stdoutBytes", c->stdout_bytes);
    put_number(b, "stderrBytes", c->stderr_bytes);
    put_number(b, "commandBytes", c->command_bytes);
    put_number(b, "rpcBytes", server_of(q)->in.max);
    put_number(b, "fileCount", st.max.files);
    put_number(b, "memoryBytes", st.max.memory_bytes);
    put_number(b, "processes", st.max.processes);
    put_number(b, "cpuMs", st.max.cpu_ms);
    put_number(b, "snapshots", st.max.snapshots);
    buf_add(b, "}", 1);
    answer_end(q);
}
