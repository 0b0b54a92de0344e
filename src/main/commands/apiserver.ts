/** `k8ts apiserver`: an API server alone, from start to signal. */
import { startApiServerPart, type StartCore } from "../api-server-part.ts";
import { apiServerFlags, apiServerOptions, type ApiServerOptions } from "../apiserver-config.ts";
import { defineCommand, type Command, type Environment, type Io } from "../command.ts";
import type { FlagValues, Parsed } from "../flags.ts";
import { shellWord } from "../shell-word.ts";
import { storeConfig, storeFlags, type StoreConfig } from "../store-config.ts";
import { untilStopped } from "../until-stopped.ts";

export interface ApiServerCommandOptions extends ApiServerOptions {
  readonly store: StoreConfig;
}

/** Opens the store and starts what answers requests from it. */
export type StartCoreOnStore = (store: StoreConfig, io: Io) => StartCore;

const flags = { ...apiServerFlags, ...storeFlags };

export function apiServerCommand(startCore: StartCoreOnStore): Command<ApiServerCommandOptions> {
  return defineCommand({
    description:
      "Starts an API server and keeps it running until Ctrl-C (SIGINT) or SIGTERM. It answers on a loopback address only, to whoever has the token in the kubeconfig that it writes.",
    flags,
    arguments: {},
    examples: ["k8ts apiserver", "k8ts apiserver --store memory --secure-port 0", "k8ts apiserver --etcd-servers http://127.0.0.1:2379"],
    options: allOptions,

    async run({ store, ...options }, io) {
      const context = { startCore: startCore(store, io), clock: io.clock, log: io.log.with({ part: "apiserver" }) };
      await using server = await startApiServerPart(options, context);
      io.out(`export KUBECONFIG=${shellWord(server.kubeconfig)}`);
      io.out(`listening on ${server.url}`);
      await untilStopped(io);
      io.out("Stopping");
    },
  });
}

/** All problems of both halves at once. */
function allOptions(values: FlagValues<typeof flags>, environment: Environment): Parsed<ApiServerCommandOptions> {
  const store = storeConfig(values, environment);
  const server = apiServerOptions(values, store.ok ? store.options : undefined);
  if (store.ok && server.ok) return { ok: true, options: { ...server.options, store: store.options } };
  return { ok: false, problems: [...(store.ok ? [] : store.problems), ...(server.ok ? [] : server.problems)] };
}
