/** `k8ts token generate`: prints a random bootstrap token, for `k8ts token create TOKEN`. */
import { randomToken } from "../../../cluster/tokens/bootstrap-tokens.ts";
import { defineCommand } from "../../framework/command.ts";

export const tokenGenerate = defineCommand({
  description: "Print a random bootstrap token. It is not created: pass it to k8ts token create.",
  flags: {},
  arguments: {},
  examples: ["k8ts token generate"],
  options: () => ({ ok: true, options: {} }),

  run(_options, io) {
    const { id, secret } = randomToken();
    io.out(`${id}.${secret}`);
    return Promise.resolve();
  },
});
