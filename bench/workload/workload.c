#include "bench/workload/workload.h"

#include <stdio.h>

static struct bytes constant_value(const struct workload *workload)
{
    return workload->options.random_data ? (struct bytes){0} : payload_value(&workload->payload, 0);
}

static void set_compile(struct workload *workload, struct workload_command *command)
{
    struct bytes prefix = bytes_of(workload->options.key_prefix);
    size_t size = workload->options.data_size;
    template_init(&command->request, 3);
    template_add_literal(&command->request, BYTES("SET"));
    template_add_key(&command->request, prefix);
    template_add_value(&command->request, size, constant_value(workload));
    command->expires = workload->options.expiry_max > 0;
    if (!command->expires)
        return;
    template_init(&command->expiring, 4);
    template_add_literal(&command->expiring, BYTES("SETEX"));
    template_add_key(&command->expiring, prefix);
    template_add_expiry(&command->expiring);
    template_add_value(&command->expiring, size, constant_value(workload));
}

static void get_compile(struct workload *workload, struct workload_command *command)
{
    template_init(&command->request, 2);
    template_add_literal(&command->request, BYTES("GET"));
    template_add_key(&command->request, bytes_of(workload->options.key_prefix));
}

int workload_init(struct workload *workload, const struct workload_options *options)
{
    *workload = (struct workload){.options = *options, .command_count = 2};
    key_space_init(&workload->space, options->key_min, options->key_max, options->key_median, options->key_stddev,
                   options->key_zipf_exponent);
    int status = payload_init(&workload->payload, options->data_size, options->random_data, options->seed);
    if (status < 0)
        return status;
    struct workload_command *set = &workload->commands[0], *get = &workload->commands[1];
    *set = (struct workload_command){
        .name = "SET", .row = "Sets", .letter = options->set_letter, .ratio = options->set_ratio};
    *get = (struct workload_command){
        .name = "GET", .row = "Gets", .letter = options->get_letter, .ratio = options->get_ratio, .reads_key = true};
    set_compile(workload, set);
    get_compile(workload, get);
    for (unsigned i = 0; i < workload->command_count; i++) {
        const struct workload_command *command = &workload->commands[i];
        size_t size = command->request.copied_max;
        if (command->expires && command->expiring.copied_max > size)
            size = command->expiring.copied_max;
        if (command->ratio > 0 && size > workload->request_copied_max)
            workload->request_copied_max = size;
    }
    return 0;
}

void workload_deinit(struct workload *workload)
{
    for (unsigned i = 0; i < workload->command_count; i++) {
        template_deinit(&workload->commands[i].request);
        template_deinit(&workload->commands[i].expiring);
    }
    payload_deinit(&workload->payload);
}

void workload_stream_init(struct workload_stream *stream, const struct workload *workload, uint64_t client,
                          uint64_t clients)
{
    *stream = (struct workload_stream){.row_left = workload->commands[0].ratio};
    /* By default all clients walk the same random sequence, as users of memtier's results expect. */
    random_seed(&stream->random,
                workload->options.distinct_seeds ? workload->options.seed + client + 1 : workload->options.seed);
    for (unsigned i = 0; i < workload->command_count; i++)
        key_cursor_init(&stream->cursors[i], &workload->space, workload->commands[i].letter, client, clients);
}

static void turn_take(const struct workload *workload, struct workload_stream *stream)
{
    while (stream->row_left == 0) {
        stream->command = stream->command + 1 == workload->command_count ? 0 : stream->command + 1;
        stream->row_left = workload->commands[stream->command].ratio;
    }
}

int workload_next(const struct workload *workload, struct workload_stream *stream, struct request_batch *batch,
                  size_t *size)
{
    turn_take(workload, stream);
    unsigned index = stream->command;
    const struct workload_command *command = &workload->commands[index];
    const struct request_template *template = &command->request;
    if (!template_fits(command->expires ? &command->expiring : template, batch))
        return -1;
    struct request_values values = {0};
    values.key = key_draw(&workload->space, command->letter, &stream->cursors[index], &stream->random);
    if (!command->reads_key)
        values.value = payload_value(&workload->payload, stream->values++);
    if (command->expires) {
        const struct workload_options *options = &workload->options;
        values.expiry = options->expiry_min + (uint32_t)random_below(&stream->random, (uint64_t)options->expiry_max -
                                                                                          options->expiry_min + 1);
        if (values.expiry > 0)
            template = &command->expiring;
    }
    stream->row_left--;
    *size = template_write(template, &values, batch);
    return (int)index;
}
