/* The picture of LOLWUT: a landscape of hills in mist under a moon, another one each time, drawn in characters. */
#include "lib/base/buf.h"
#include "lib/base/random.h"
#include "server/observe/server_commands.h"
#include "server/worker/worker.h"

#include <math.h>

#define WIDTH_MAX 160
#define HEIGHT_MAX 60
#define RIDGES 4

struct ridge {
    double height, slow, quick, phase;
};

/* Height of a ridge over the ground at column x, in rows. */
static double ridge_at(const struct ridge *ridge, double x)
{
    return ridge->height + ridge->slow * sin(x / 19 + ridge->phase) + ridge->quick * sin(x / 5 + 3 * ridge->phase);
}

static char draw_sky(struct random *random, double x, double y, double moon_x, double moon_y)
{
    /* A character is twice as high as wide. */
    double across = (x - moon_x) / 2, down = y - moon_y;
    double distance = across * across + down * down;
    if (distance < 6)
        return distance < 3.2 ? 'O' : 'o';
    return random_below(random, 60) == 0 ? '.' : ' ';
}

static int draw(struct random *random, int64_t width, int64_t height, struct buf *to)
{
    static const char shades[] = "'-=%#"; /* the farther, the paler */
    struct ridge ridges[RIDGES];
    double moon_x = random_unit(random) * (double)width;
    double moon_y = 1 + random_unit(random) * (double)height / 4;
    for (int i = 0; i < RIDGES; i++)
        ridges[i] = (struct ridge){.height = (double)height * (RIDGES - i) / (RIDGES + 1.5),
                                   .slow = 1 + random_unit(random) * (double)height / 8,
                                   .quick = random_unit(random) * 1.2,
                                   .phase = random_unit(random) * 6.28};
    for (int64_t y = 0; y < height; y++) {
        char line[WIDTH_MAX + 1];
        for (int64_t x = 0; x < width; x++) {
            char shade = 0;
            for (int i = 0; i < RIDGES; i++) /* nearer ridges cover farther ones */
                if ((double)(height - y) <= ridge_at(&ridges[i], (double)x))
                    shade = shades[i];
            line[x] = shade ? shade : draw_sky(random, (double)x, (double)y, moon_x, moon_y);
        }
        line[width] = '\n';
        if (buf_append(to, line, (size_t)width + 1) < 0)
            return -1;
    }
    return 0;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Versions 5 and 6 show a picture, with the columns and rows asked for; without VERSION the newest does. Anything else
 * shows the version only, as Redis does. */
enum outcome lolwut(struct call *call)
{
    int64_t version = 6, sizes[2] = {66, 18};
    bool picture = call->argc == 1;
    uint32_t at = 1;
    if (call->argc >= 3 && call_is(call, 1, "VERSION")) {
        if (!call_integer(call, 2, &version))
            return OUTCOME_DONE;
        picture = version == 5 || version == 6;
        at = 3;
    }
    for (size_t i = 0; picture && i < 2 && at + i < call->argc; i++)
        if (!call_integer(call, (uint32_t)(at + i), &sizes[i]))
            return OUTCOME_DONE;
    struct buf text;
    int error = 0;
    buf_init(&text, 64 * 1024);
    if (picture)
        error = draw(call->random, clamp(sizes[0], 8, WIDTH_MAX), clamp(sizes[1], 4, HEIGHT_MAX), &text);
    if (error == 0)
        error = buf_printf(&text, "%sRedis ver. 7.4.0\n", picture ? "\nHills by night, drawn by Ketch. " : "");
    if (error < 0)
        (void)call_out_of_memory(call);
    else
        resp_write_verbatim(call->reply, "txt", buf_bytes(&text));
    buf_deinit(&text);
    return OUTCOME_DONE;
}
