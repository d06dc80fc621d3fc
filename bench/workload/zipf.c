#include "bench/workload/zipf.h"

#include "lib/base/check.h"

#include <math.h>

/* The hat x^-s. */
static double hat(double x, double exponent)
{
    return exp(-exponent * log(x));
}

/* Its integral from 1: (x^(1-s) - 1) / (1 - s), which is log x at s = 1; expm1 keeps the digits near there. */
static double area(double x, double exponent)
{
    double log_x = log(x), t = (1 - exponent) * log_x;
    return fabs(t) > 1e-8 ? expm1(t) / t * log_x : (1 + t / 2) * log_x;
}

static double area_inverse(double value, double exponent)
{
    double t = value * (1 - exponent);
    if (t < -1) /* only by rounding, at the far end */
        t = -1;
    return exp(fabs(t) > 1e-8 ? log1p(t) / t * value : (1 - t / 2) * value);
}

void zipf_init(struct zipf *zipf, uint64_t low, uint64_t high, double exponent)
{
    CHECK(low >= 1 && low <= high && exponent > 0);
    double first = (double)low, second = first + 1;
    zipf->low = low;
    zipf->high = high;
    zipf->exponent = exponent;
    zipf->area_low = area(first + 0.5, exponent) - hat(first, exponent);
    zipf->area_high = area((double)high + 0.5, exponent);
    zipf->squeeze = second - area_inverse(area(second + 0.5, exponent) - hat(second, exponent), exponent);
}

uint64_t zipf_draw(const struct zipf *zipf, struct random *random)
{
    for (;;) {
        double u = zipf->area_high + random_unit(random) * (zipf->area_low - zipf->area_high);
        double x = area_inverse(u, zipf->exponent);
        double k = floor(x + 0.5);
        if (k < (double)zipf->low)
            k = (double)zipf->low;
        else if (k > (double)zipf->high)
            k = (double)zipf->high;
        if (k - x <= zipf->squeeze || u >= area(k + 0.5, zipf->exponent) - hat(k, zipf->exponent)) {
            uint64_t number = (uint64_t)k;
            return number > zipf->high ? zipf->high : number;
        }
    }
}
