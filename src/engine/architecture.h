/* What differs between model architectures, as data: the next one is a row in architecture.c, not a
 * branch in the forward pass. Constant tables; any thread. */
#ifndef ENGINE_ARCHITECTURE_H
#define ENGINE_ARCHITECTURE_H

#include "tandem/types.h"

/* Whether a tensor of a layer exists. */
enum presence { PRESENCE_NEVER, PRESENCE_OPTIONAL, PRESENCE_REQUIRED };

struct architecture {
    const char *name;       /* general.architecture, and the prefix of its keys */
    bool rope_interleaved;  /* rotates (2i, 2i+1); else (i, i + n_rot/2) */
    enum presence qkv_bias; /* attn_{q,k,v}.bias */
    enum presence qk_norm;  /* attn_{q,k}_norm.weight: RMSNorm of each head before rope */
};

/* NULL when the name is not in the table. */
const struct architecture *architecture_find(struct td_str name);
/* The table's names, separated by ", ". */
const char *architecture_list(void);

#endif
