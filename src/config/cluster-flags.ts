/** Flags of every command that starts a store and an API server; problems of both are reported at once. */
import { apiServerFlags, apiServerOptions, type ApiServerOptions } from "./api-server-config.ts";
import type { Environment } from "../cli/framework/command.ts";
import type { FlagValues, Parsed } from "../cli/framework/flags.ts";
import { storeConfig, storeFlags, type StoreConfig } from "./store-config.ts";

export const clusterFlags = { ...storeFlags, ...apiServerFlags };

export interface ClusterFlagOptions {
  readonly store: StoreConfig;
  readonly apiServer: ApiServerOptions;
}

export function clusterFlagOptions(values: FlagValues<typeof clusterFlags>, environment: Environment): Parsed<ClusterFlagOptions> {
  const store = storeConfig(values, environment);
  const server = apiServerOptions(values, store.ok ? store.options : undefined);
  if (store.ok && server.ok) return { ok: true, options: { store: store.options, apiServer: server.options } };
  return { ok: false, problems: [...(store.ok ? [] : store.problems), ...(server.ok ? [] : server.problems)] };
}
