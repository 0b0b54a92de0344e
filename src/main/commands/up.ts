/** `k8ts up`: a cluster in this process, from start to signal. */
import { startCluster } from "../cluster.ts";
import { defineCommand, type Io } from "../command.ts";
import { version } from "../generated/version.ts";
import { storeConfig, storeFlags, type StoreConfig } from "../store-config.ts";

/** What a cluster has and this version does not start yet. */
const NOT_YET = ["API server", "controllers", "scheduler", "kubelet", "service proxy", "DNS", "ingress", "dashboard"];

export interface UpOptions {
  readonly store: StoreConfig;
}

export const up = defineCommand({
  description: "Starts a cluster in this process and keeps it running until Ctrl-C (SIGINT) or SIGTERM; a second signal ends it at once.",
  flags: storeFlags,
  arguments: {},
  examples: [
    "k8ts up",
    "k8ts up --store memory",
    "k8ts up --etcd-servers https://10.0.0.1:2379,https://10.0.0.2:2379 --etcd-cafile ca.pem",
  ],

  options(values, environment) {
    const store = storeConfig(values, environment);
    return store.ok ? { ok: true, options: { store: store.options } } : store;
  },

  async run({ store }: UpOptions, io) {
    await using cluster = await startCluster({ store, clock: io.clock, log: io.log });
    io.out(`k8ts ${version} is up:`);
    for (const { name, description } of cluster.parts) io.out(`  ${name}: ${description}`);
    io.out(`Not there yet: ${NOT_YET.join(", ")}`);
    io.out("Ctrl-C stops it");
    await untilStopped(io);
    io.out("Stopping");
  },
});

/** A sleep without end keeps the process alive, which a bare promise would not. */
async function untilStopped({ clock, signal }: Io): Promise<void> {
  try {
    await clock.sleep(Infinity, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
