#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/option/registry.h"
#include "server/observe/info.h"
#include "server/observe/memory_figures.h"
#include "server/observe/observer.h"
#include "server/observe/process_facts.h"
#include "server/worker/worker.h"

#include <sys/resource.h>
#include <unistd.h>

typedef unsigned long long ull;

int info_write_server(struct server *server, struct buf *to)
{
    char system[256];
    int64_t now_us = clock_realtime_us();
    int64_t uptime = (clock_monotonic_ns() - server->started_monotonic_ns) / 1000000000;
    int64_t hz = option_registry_number(server->registry, "hz");
    machine_system_name(system, sizeof(system));
    if (hz == 0)
        hz = 10;
    INFO_LINE(to, "redis_version:7.4.0\r\nredis_git_sha1:00000000\r\nredis_git_dirty:0\r\n");
    INFO_LINE(to, "ketch_version:%s\r\nredis_mode:standalone\r\n", KETCH_VERSION);
    INFO_LINE(to, "os:%s\r\narch_bits:%zu\r\nmonotonic_clock:POSIX clock_gettime\r\n", system, sizeof(void *) * 8);
    INFO_LINE(to, "multiplexing_api:%s\r\ngcc_version:%s\r\n", loop_io_name(server->workers[0]->loop), __VERSION__);
    INFO_LINE(to, "process_id:%ld\r\nrun_id:%s\r\n", (long)getpid(), server->run_id);
    INFO_LINE(to, "tcp_port:%lld\r\nserver_time_usec:%lld\r\n", (long long)option_get(&server->options.port),
              (long long)now_us);
    INFO_LINE(to, "uptime_in_seconds:%lld\r\nuptime_in_days:%lld\r\n", (long long)uptime, (long long)uptime / 86400);
    INFO_LINE(to, "hz:%lld\r\nconfigured_hz:%lld\r\n", (long long)hz, (long long)hz);
    INFO_LINE(to, "lru_clock:%lld\r\n", (long long)(now_us / 1000000) & 0xffffff);
    INFO_LINE(to, "executable:%s\r\nconfig_file:%s\r\n", server->executable ? server->executable : "",
              server->config_file ? server->config_file : "");
    INFO_LINE(to, "io_threads_active:0\r\nworker_threads:%u\r\n", server->worker_count);
    return 0;
}

int info_write_clients(struct server *server, struct buf *to)
{
    struct memory_figures figures;
    memory_figures_read(server, &figures);
    INFO_LINE(to, "connected_clients:%llu\r\ncluster_connections:0\r\n",
              (ull)atomic_load_explicit(&server->session_count, memory_order_relaxed));
    INFO_LINE(to, "maxclients:%lld\r\n", (long long)option_get(&server->options.maxclients));
    INFO_LINE(to, "client_recent_max_input_buffer:%llu\r\n", (ull)figures.input_most);
    INFO_LINE(to, "client_recent_max_output_buffer:%llu\r\n", (ull)figures.output_most);
    /* No command blocks, subscribes, watches or tracks yet. */
    INFO_LINE(to, "blocked_clients:0\r\ntracking_clients:0\r\npubsub_clients:0\r\nwatching_clients:0\r\n");
    INFO_LINE(to, "clients_in_timeout_table:0\r\n");
    for (uint32_t i = 0; i < server->worker_count; i++)
        INFO_LINE(to, "worker_%u_clients:%llu\r\n", i,
                  (ull)atomic_load_explicit(&server->workers[i]->counters.sessions, memory_order_relaxed));
    return 0;
}

/* "name:bytes" and "name_human:1.58M". */
static int write_size(struct buf *to, const char *name, uint64_t bytes)
{
    char human[HUMAN_BYTES_TEXT];
    human_bytes(human, bytes);
    INFO_LINE(to, "%s:%llu\r\n%s_human:%s\r\n", name, (ull)bytes, name, human);
    return 0;
}

static int write_ratios(const struct memory_figures *figures, struct buf *to)
{
    uint64_t allocated = figures->allocator_allocated, active = figures->allocator_active;
    uint64_t resident = figures->allocator_resident;
    INFO_LINE(to, "allocator_allocated:%llu\r\nallocator_active:%llu\r\nallocator_resident:%llu\r\n", (ull)allocated,
              (ull)active, (ull)resident);
    INFO_LINE(to, "allocator_frag_ratio:%.2f\r\nallocator_frag_bytes:%lld\r\n", memory_ratio(active, allocated),
              (long long)(active - allocated));
    INFO_LINE(to, "allocator_rss_ratio:%.2f\r\nallocator_rss_bytes:%lld\r\n", memory_ratio(resident, active),
              (long long)(resident - active));
    INFO_LINE(to, "rss_overhead_ratio:%.2f\r\nrss_overhead_bytes:%lld\r\n", memory_ratio(figures->resident, resident),
              (long long)(figures->resident - resident));
    INFO_LINE(to, "mem_fragmentation_ratio:%.2f\r\nmem_fragmentation_bytes:%lld\r\n",
              memory_ratio(figures->resident, figures->used), (long long)(figures->resident - figures->used));
    return 0;
}

static int write_maximum(struct server *server, struct buf *to)
{
    struct buf policy;
    char text[64] = "noeviction";
    buf_init(&policy, OPTION_VALUE_MAX);
    if (option_registry_show(server->registry, BYTES("maxmemory-policy"), &policy) == 0 && policy.size < sizeof(text)) {
        memcpy(text, policy.data, policy.size);
        text[policy.size] = '\0';
    }
    buf_deinit(&policy);
    if (write_size(to, "maxmemory", (uint64_t)option_registry_number(server->registry, "maxmemory")) < 0)
        return -ENOBUFS;
    INFO_LINE(to, "maxmemory_policy:%s\r\n", text);
    return 0;
}

int info_write_memory(struct server *server, struct buf *to)
{
    struct memory_figures figures;
    memory_figures_read(server, &figures);
    if (write_size(to, "used_memory", figures.used) < 0 || write_size(to, "used_memory_rss", figures.resident) < 0 ||
        write_size(to, "used_memory_peak", figures.peak) < 0)
        return -ENOBUFS;
    INFO_LINE(to, "used_memory_peak_perc:%.2f%%\r\n", 100 * memory_ratio(figures.used, figures.peak));
    INFO_LINE(to, "used_memory_overhead:%llu\r\nused_memory_startup:%llu\r\n", (ull)figures.overhead,
              (ull)figures.start);
    INFO_LINE(to, "used_memory_dataset:%llu\r\n", (ull)figures.dataset);
    uint64_t net = figures.used > figures.start ? figures.used - figures.start : 0;
    INFO_LINE(to, "used_memory_dataset_perc:%.2f%%\r\n", 100 * memory_ratio(figures.dataset, net));
    if (write_size(to, "total_system_memory", machine_memory_bytes()) < 0 || write_size(to, "used_memory_lua", 0) < 0 ||
        write_size(to, "used_memory_scripts", 0) < 0 || write_maximum(server, to) < 0 || write_ratios(&figures, to) < 0)
        return -ENOBUFS;
    INFO_LINE(to, "mem_not_counted_for_evict:0\r\nmem_replication_backlog:0\r\nmem_total_replication_buffers:0\r\n");
    INFO_LINE(to, "mem_clients_slaves:0\r\nmem_clients_normal:%llu\r\n", (ull)figures.clients);
    INFO_LINE(to, "mem_cluster_links:0\r\nmem_aof_buffer:0\r\nmem_hashtables:%llu\r\n", (ull)figures.tables);
    INFO_LINE(to, "mem_allocator:%s\r\nactive_defrag_running:0\r\n", mem_allocator_name());
    INFO_LINE(to, "lazyfree_pending_objects:%llu\r\nlazyfreed_objects:%llu\r\n", (ull)figures.free_pending,
              (ull)figures.freed_in_background);
    return 0;
}

/* There are no snapshots and no append-only file yet. */
int info_write_persistence(struct server *server, struct buf *to)
{
    uint64_t changes = 0;
    for (uint32_t i = 0; i < server->worker_count; i++)
        changes += atomic_load_explicit(&store_user_counters(server->workers[i]->store)->changes, memory_order_relaxed);
    INFO_LINE(to, "loading:0\r\nasync_loading:0\r\nrdb_changes_since_last_save:%llu\r\n", (ull)changes);
    INFO_LINE(to, "rdb_bgsave_in_progress:0\r\nrdb_last_save_time:%lld\r\n", (long long)server->started_ms / 1000);
    INFO_LINE(to, "rdb_last_bgsave_status:ok\r\nrdb_last_bgsave_time_sec:-1\r\nrdb_current_bgsave_time_sec:-1\r\n");
    INFO_LINE(to, "rdb_saves:0\r\nrdb_last_cow_size:0\r\naof_enabled:0\r\naof_rewrite_in_progress:0\r\n");
    INFO_LINE(to, "aof_rewrite_scheduled:0\r\naof_last_rewrite_time_sec:-1\r\naof_current_rewrite_time_sec:-1\r\n");
    INFO_LINE(to, "aof_last_bgrewrite_status:ok\r\naof_last_write_status:ok\r\naof_last_cow_size:0\r\n");
    return 0;
}

int info_write_replication(struct server *server, struct buf *to)
{
    char id[OBSERVER_REPLICATION_ID + 1];
    observer_replication_id(server, id);
    INFO_LINE(to, "role:master\r\nconnected_slaves:0\r\nmaster_failover_state:no-failover\r\nmaster_replid:%s\r\n", id);
    INFO_LINE(to, "master_replid2:%040d\r\nmaster_repl_offset:0\r\nsecond_repl_offset:-1\r\n", 0);
    INFO_LINE(to, "repl_backlog_active:0\r\nrepl_backlog_size:%lld\r\n",
              (long long)option_registry_number(server->registry, "repl-backlog-size"));
    INFO_LINE(to, "repl_backlog_first_byte_offset:0\r\nrepl_backlog_histlen:0\r\n");
    return 0;
}

static int write_cpu(struct buf *to, const char *who, const struct rusage *usage)
{
    INFO_LINE(to, "used_cpu_sys%s:%ld.%06ld\r\nused_cpu_user%s:%ld.%06ld\r\n", who, (long)usage->ru_stime.tv_sec,
              (long)usage->ru_stime.tv_usec, who, (long)usage->ru_utime.tv_sec, (long)usage->ru_utime.tv_usec);
    return 0;
}

int info_write_cpu(struct server *server, struct buf *to)
{
    struct rusage own, children;
    (void)server;
    if (getrusage(RUSAGE_SELF, &own) < 0 || getrusage(RUSAGE_CHILDREN, &children) < 0)
        return 0;
    if (write_cpu(to, "", &own) < 0 || write_cpu(to, "_children", &children) < 0)
        return -ENOBUFS;
    return 0;
}

int info_write_modules(struct server *server, struct buf *to)
{
    (void)server;
    (void)to;
    return 0;
}

int info_write_cluster(struct server *server, struct buf *to)
{
    (void)server;
    INFO_LINE(to, "cluster_enabled:0\r\n");
    return 0;
}
