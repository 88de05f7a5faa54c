/* Phones that are a folder: small files as the kernel would show them, driven by a model of heat
 * with the constants of two published ones. Their user asks for one answer after another; the
 * engine's speed makes the heat, and at the trip point the "kernel" slows it. Time is simulated. */
#ifndef TESTS_FAKE_PHONE_H
#define TESTS_FAKE_PHONE_H

#include "device/device.h"

/* dT/dt = ((ambient + resistance watts) - T) / tau; watts are in proportion to the speed. */
struct fake_phone_kind {
    const char *name;
    double ambient_c, resistance_c_w, tau_s, peak_w;
    double trip_c, clear_c;
    double peak_tokens_s, slowed_tokens_s; /* in proportion to the threads */
    unsigned threads;
    bool tells_power; /* it runs on a battery that tells what is drawn */
};
extern const struct fake_phone_kind fake_phone_a, fake_phone_b;

struct fake_phone_use {
    bool eases; /* the device acts on its heat */
    double minutes;
    double answer_tokens, pause_s;
    double cloud_tokens_s; /* 0 = nothing may leave */
};

#define FAKE_PHONE_ANSWERS_MAX 4000

/* One answer on the device. */
struct fake_phone_answer {
    double begin_s, took_s;
    double forecast_s; /* by the device, when it began */
    double peak_s;     /* by the speed of a cool device */
};

struct fake_phone_result {
    double below_share;  /* of the time, below the trip point */
    double p95_token_ms; /* that the user saw, of all tokens */
    double p50_token_ms;
    double shortest_level_s; /* between two changes of the level; INFINITY = there were not two */
    uint64_t switches;
    double tokens, cloud_tokens, joules;
    double hottest_c, tau_s, sustained;
    size_t answer_count; /* on the device */
    struct fake_phone_answer answers[FAKE_PHONE_ANSWERS_MAX];
};

/* False when its folder cannot be made. */
bool fake_phone_run(const struct fake_phone_kind *kind, const struct fake_phone_use *use,
                    struct fake_phone_result *out);

#endif
