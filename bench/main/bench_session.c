#include "bench/main/bench_session.h"

#include "bench/report/hdr_file.h"
#include "bench/report/progress.h"
#include "bench/report/result_json.h"
#include "bench/report/result_table.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define BETWEEN_RUNS_MS 1000

struct session {
    const struct bench_config *config;
    const struct bench_options *options;
    struct workload workload;
    struct target target;
    FILE *out, *json;
    int signal_fd;
    struct run_result **results; /* one per finished run */
    unsigned finished;
    unsigned run; /* the current, from 1 */
    bool interrupted;
};

/* ---- while a run lasts ------------------------------------------------------------------------------------------- */

static void on_progress(void *owner, const struct load_progress *progress)
{
    const struct session *session = owner;
    char line[512];
    progress_format(progress, session->run, session->options->load.clients, line, sizeof(line));
    fprintf(stderr, "%s\r", line);
}

static void on_note(void *owner, const char *text)
{
    (void)owner;
    fprintf(stderr, "%s\n", text);
}

static void on_interrupted(void *owner, double elapsed_s)
{
    struct session *session = owner;
    session->interrupted = true;
    fprintf(stderr, "\n[RUN #%u] Interrupted by user (Ctrl+C) after %.1f secs, stopping threads...\n", session->run,
            elapsed_s);
}

/* A pause between runs, which a signal ends. */
static void pause_between(struct session *session)
{
    struct pollfd fd = {.fd = session->signal_fd, .events = POLLIN};
    session->interrupted |= poll(&fd, 1, BETWEEN_RUNS_MS) > 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static FILE *file_open(const char *path)
{
    FILE *file = fopen(path, "we");
    if (!file)
        fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
    return file;
}

static int files_open(struct session *session)
{
    const struct bench_options *options = session->options;
    session->out = stdout;
    if (options->json_file) {
        session->json = file_open(options->json_file);
        if (!session->json)
            return -1;
        fprintf(stderr, "Json file %s created...\n", options->json_file);
    }
    if (options->out_file) {
        session->out = file_open(options->out_file);
        if (!session->out)
            return -1;
    }
    fprintf(stderr, "Writing results to %s\n", options->out_file ? options->out_file : "stdout");
    return 0;
}

static int signals_open(struct session *session)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    session->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return session->signal_fd < 0 ? -1 : 0;
}

/* Says what surprises people who do not know it. */
static void seed_note(const struct bench_options *options)
{
    const struct workload_options *workload = &options->workload;
    bool draws = (workload->set_ratio > 0 && strchr("RGZ", workload->set_letter)) ||
                 (workload->get_ratio > 0 && strchr("RGZ", workload->get_letter));
    if (draws && !workload->distinct_seeds && options->load.threads * options->load.clients > 1)
        fprintf(stderr,
                "note: all clients draw the same sequence of keys; --distinct-client-seed gives each its own\n");
}

static int session_open(struct session *session)
{
    const struct bench_options *options = session->options;
    char error[OPTION_ERROR_SIZE];
    uint64_t needed;
    int status = load_descriptors_raise(&options->load, &needed);
    if (status < 0) {
        fprintf(stderr, "error: %llu descriptors are needed for so many clients: %s (see ulimit -n)\n",
                (unsigned long long)needed, strerror(-status));
        return -1;
    }
    if (signals_open(session) < 0 || files_open(session) < 0)
        return -1;
    if (target_init(&session->target, &options->target, error, sizeof(error)) < 0) {
        fprintf(stderr, "error: %s\n", error);
        return -1;
    }
    if (workload_init(&session->workload, &options->workload) < 0) {
        fprintf(stderr, "error: no memory for values of %zu bytes\n", options->workload.data_size);
        return -1;
    }
    if (options->load.all_keys)
        printf("setting requests to %llu\n", (unsigned long long)options->load.requests);
    seed_note(options);
    for (unsigned i = 0; options->debug > 0 && i < session->target.address_count; i++)
        fprintf(stderr, "address %s\n", session->target.addresses[i].text);
    return 0;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static int run_once(struct session *session)
{
    const struct bench_options *options = session->options;
    struct load_hooks hooks = {.owner = session,
                               .progress = on_progress,
                               .note = on_note,
                               .interrupted = on_interrupted,
                               .interrupt_fd = session->signal_fd};
    struct load_run run = {.options = &options->load,
                           .workload = &session->workload,
                           .target = &session->target,
                           .hooks = &hooks,
                           .percentiles = options->report.percentiles,
                           .percentile_count = options->report.percentile_count,
                           .keeps_buckets = options->run_count > 1,
                           .verbose = options->debug > 0};
    struct run_result *result = mem_alloc(sizeof(*result));
    run_result_init(result);
    fprintf(stderr, "[RUN #%u] Preparing benchmark client...\n", session->run);
    fprintf(stderr, "[RUN #%u] Launching threads now...\n", session->run);
    int status = load_run(&run, result);
    if (status < 0) {
        fprintf(stderr, "error: cannot run: %s\n", strerror(-status));
        timeline_deinit(&result->timeline);
        run_result_deinit(result);
        mem_free(result);
        return -1;
    }
    fprintf(stderr, "\n\n");
    session->results[session->finished++] = result;
    if (!options->hdr_prefix)
        return 0;
    status = hdr_file_write_all(result, options->hdr_prefix, session->run, stderr);
    if (status < 0)
        fprintf(stderr, "error: HDR files %s: %s\n", options->hdr_prefix, strerror(-status));
    return status;
}

static int runs_do(struct session *session)
{
    int status = 0;
    session->results = mem_alloc(session->options->run_count * sizeof(struct run_result *));
    for (session->run = 1; status == 0 && session->run <= session->options->run_count; session->run++) {
        if (session->run > 1)
            pause_between(session);
        if (session->interrupted)
            break;
        status = run_once(session);
    }
    return status;
}

/* ---- reporting --------------------------------------------------------------------------------------------------- */

static void section_set(struct report_section *section, const struct run_result *result, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void section_set(struct report_section *section, const struct run_result *result, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(section->title, sizeof(section->title), format, values);
    va_end(values);
    section->result = result;
}

/* All sections; `mean` is filled when there are several runs. */
static unsigned sections_make(const struct session *session, struct report_section *sections, struct run_result *mean)
{
    const struct run_result *const *results = (const struct run_result *const *)session->results;
    unsigned count = 0, best, worst;
    if (session->options->run_count == 1) {
        section_set(&sections[count++], results[0], "ALL STATS");
        return count;
    }
    for (unsigned i = 0; session->options->print_all_runs && i < session->finished; i++)
        section_set(&sections[count++], results[i], "RUN #%u RESULTS", i + 1);
    run_result_rank(results, session->finished, &best, &worst);
    run_result_average(mean, results, session->finished);
    section_set(&sections[count++], results[best], "BEST RUN RESULTS");
    section_set(&sections[count++], results[worst], "WORST RUN RESULTS");
    section_set(&sections[count++], mean, "AGGREGATED AVERAGE RESULTS (%u runs)", session->finished);
    return count;
}

static int json_write(const struct session *session, const struct report_section *sections, unsigned count)
{
    struct report_setting settings[SETTINGS_MAX];
    struct result_json document = {.options = &session->options->report,
                                   .settings = settings,
                                   .setting_count = bench_settings_list(session->config, settings),
                                   .sections = sections,
                                   .section_count = count};
    fprintf(stderr, "Saving JSON output file: %s\n", session->options->json_file);
    result_json_write(&document, session->json);
    bench_settings_free(settings, document.setting_count);
    if (fflush(session->json) != 0 || ferror(session->json)) {
        fprintf(stderr, "error: %s: %s\n", session->options->json_file, strerror(errno));
        return -1;
    }
    fprintf(stderr, "Json file closed.\n");
    return 0;
}

static int report(const struct session *session)
{
    const struct bench_options *options = session->options;
    struct report_section *sections = mem_alloc((session->finished + 3) * sizeof(*sections));
    struct run_result *mean = mem_alloc(sizeof(*mean));
    run_result_init(mean);
    timeline_init(&mean->timeline, session->workload.command_count, 1, options->report.percentiles,
                  options->report.percentile_count, false);
    unsigned count = sections_make(session, sections, mean);
    result_table_head(&options->report, session->out);
    for (unsigned i = 0; i < count; i++)
        result_table_section(&options->report, &sections[i], session->out);
    int status = fflush(session->out) != 0 || ferror(session->out) ? -1 : 0;
    if (status < 0)
        fprintf(stderr, "error: cannot write the results: %s\n", strerror(errno));
    if (session->json && json_write(session, sections, count) < 0)
        status = -1;
    timeline_deinit(&mean->timeline);
    run_result_deinit(mean);
    mem_free(mean);
    mem_free(sections);
    return status;
}

static bool all_clean(const struct session *session)
{
    for (unsigned i = 0; i < session->finished; i++)
        if (!error_tally_clean(&session->results[i]->errors))
            return false;
    return true;
}

static void session_close(struct session *session)
{
    for (unsigned i = 0; i < session->finished; i++) {
        timeline_deinit(&session->results[i]->timeline);
        run_result_deinit(session->results[i]);
        mem_free(session->results[i]);
    }
    mem_free(session->results);
    workload_deinit(&session->workload);
    target_deinit(&session->target);
    if (session->json)
        fclose(session->json);
    if (session->out && session->out != stdout)
        fclose(session->out);
    if (session->signal_fd >= 0)
        close(session->signal_fd);
}

static void config_show(const struct bench_config *config)
{
    struct report_setting settings[SETTINGS_MAX];
    unsigned count = bench_settings_list(config, settings);
    fprintf(stderr, "============== Configuration values: ==============\n");
    for (unsigned i = 0; i < count; i++)
        printf("%s = %s\n", settings[i].name, settings[i].text ? settings[i].text : "(null)");
    fflush(stdout);
    fprintf(stderr, "===================================================\n");
    bench_settings_free(settings, count);
}

int bench_session(const struct bench_config *config)
{
    struct session *session = mem_alloc_zeroed(sizeof(*session));
    session->config = config;
    session->options = config->options;
    session->signal_fd = -1;
    if (session->options->show_config)
        config_show(config);
    int status = session_open(session);
    if (status == 0)
        status = runs_do(session);
    if (session->finished > 0 && report(session) < 0)
        status = -1;
    bool good = status == 0 && all_clean(session);
    session_close(session);
    mem_free(session);
    return good ? 0 : 1;
}
