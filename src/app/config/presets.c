/* Published decision frameworks as rules. The frameworks decide by what an application is; these
 * rules decide by what a request is. A framework's wish for quality is an expected gain, and its
 * wish for the latest model is a question about recent facts. The tokens of the last day stand for
 * volume and utilisation. Each preset has its truth table in examples/policies/NAME.test.yaml. */
#include "app/config/presets.h"

#include <string.h>

/* "Hybrid Cloud-Edge LLM Inference: When On-Device Models Beat the Cloud": its lists "Route to
 * edge when" and "Route to cloud when", one rule for each entry. What nothing else may override
 * comes first: data that cannot leave, no connection, a first text within 100 ms. */
static const char s0_lists[] =
    "rules:\n"
    "- {name: s0-edge-data, when: {class: restricted}, then: {only: local}}\n"
    "- {name: s0-edge-offline, when: {device: {network: offline}}, then: {only: local}}\n"
    "- {name: s0-edge-latency, when: {slo_ttft_ms_under: 100}, then: {only: local}}\n"
    "- {name: s0-cloud-multimodal, when: {media: true}, then: {start: cloud}}\n"
    "- {name: s0-cloud-fresh, when: {fresh: true}, then: {start: cloud}}\n"
    "- {name: s0-cloud-long-context, when: {tokens_over: 32000}, then: {start: cloud}}\n"
    "- {name: s0-cloud-synthesis, when: {task: [synthesis, creative]}, then: {start: cloud}}\n"
    "- {name: s0-cloud-reasoning, when: {task: [reasoning, maths, code, planning]},"
    " then: {start: cloud}}\n"
    "- {name: s0-cloud-quality, when: {gain_over: 0.5}, then: {start: cloud}}\n"
    "- {name: s0-edge-task, when: {task: [classification, extraction, formatting, qa]},"
    " then: {start: local}}\n"
    "- {name: s0-edge-volume, when: {day_tokens_over: 10000000}, then: {start: local}}\n";

/* "The Edge Inference Decision Framework": its practical decision matrix of latency, data,
 * volume and capability. Data and latency bind. Capability decides between 150 and 500 ms, and
 * volume only where the other three leave both open. "In between: run the actual math" is the
 * score by cost. */
static const char s2_matrix[] =
    "rules:\n"
    "- {name: s2-regulated, when: {class: [contractual, sensitive, restricted]},"
    " then: {places: [device, premises]}}\n"
    "- {name: s2-slo-edge, when: {slo_ms_under: 150}, then: {only: local}}\n"
    "- {name: s2-capability, when: {task: [synthesis, reasoning, maths, code, creative, planning]},"
    " then: {start: cloud}}\n"
    "- {name: s2-slo-hybrid, when: {slo_ms_under: 501}, then: {start: local}}\n"
    "- {name: s2-volume-cloud, when: {day_tokens_under: 200000}, then: {start: cloud}}\n"
    "- {name: s2-volume-edge, when: {day_tokens_over: 10000000}, then: {start: local}}\n"
    "- {name: s2-volume-math, then: {weights: {cost: 1}}}\n";

/* The bands of the latency objective in the same text. Below 100 ms only the device is possible;
 * below 150 ms it is "almost certainly required"; below 300 ms the cloud is "marginal"; from 2 s
 * on a second attempt elsewhere is viable. */
static const char s2_slo[] =
    "rules:\n"
    "- {name: s2-slo-100, when: {slo_ms_under: 100}, then: {only: local}}\n"
    "- {name: s2-slo-150, when: {slo_ms_under: 150}, then: {only: local}}\n"
    "- {name: s2-slo-300, when: {slo_ms_under: 300}, then: {start: local, escalate: false}}\n"
    "- {name: s2-slo-2000, when: {slo_ms_under: 2000}, then: {escalate: false}}\n"
    "- {name: s2-slo-viable, when: {slo_ms_over: 1999}, then: {start: local}}\n";

/* "Serving AI at the Edge": its three unconditional cases, then its rough decision rule. A low
 * volume of the day stands for low utilisation. */
static const char s3_rule[] =
    "rules:\n"
    "- {name: s3-no-exit, when: {class: restricted}, then: {only: local}}\n"
    "- {name: s3-offline, when: {device: {network: offline}}, then: {only: local}}\n"
    "- {name: s3-instant, when: {slo_ttft_ms_under: 50}, then: {only: local}}\n"
    "- {name: s3-latency, when: {slo_ms_under: 150}, then: {start: local}}\n"
    "- {name: s3-first-text, when: {slo_ttft_ms_under: 150}, then: {start: local}}\n"
    "- {name: s3-sensitive, when: {class: sensitive}, then: {start: local}}\n"
    "- {name: s3-reasoning, when: {task: [reasoning, maths, code, planning, creative, synthesis]},"
    " then: {start: cloud}}\n"
    "- {name: s3-utilisation, when: {day_tokens_under: 200000}, then: {start: local}}\n";

const struct preset presets[] = {
    {"s0-lists", s0_lists}, {"s2-matrix", s2_matrix}, {"s2-slo", s2_slo}, {"s3-rule", s3_rule},
    {NULL, NULL},
};

const struct preset *preset_find(const char *name)
{
    for (const struct preset *preset = presets; preset->name; preset++)
        if (strcmp(preset->name, name) == 0)
            return preset;
    return NULL;
}
