/* The verbs under `tandem models`, one file each. argv[0] is the verb's own name. */
#ifndef APP_CMD_MODELS_H
#define APP_CMD_MODELS_H

#include "app/cli/command.h"

command_fn cmd_models_pull, cmd_models_list, cmd_models_info, cmd_models_rm;

#endif
