/** `k8ts down`: stops a cluster and cleans up its processes, mounts and network; keeps its data. */
import { defineCommand } from "../framework/command.ts";
import { findHome } from "../../cluster/home/cluster-home.ts";
import { chooseHome, homeFlags } from "../../cluster/home/home-flags.ts";
import { stopCluster } from "../../cluster/stop-cluster.ts";
import { stopTimeoutFlag, stopTimeoutMs } from "../../cluster/stop-flags.ts";

export const down = defineCommand({
  description:
    "Stop a local cluster and clean up its processes, mounts and network interfaces, even if its process was killed. If the cluster is already stopping, wait for it. Data and kubectl context are kept, so k8ts up resumes it.",
  flags: { ...homeFlags, ...stopTimeoutFlag },
  arguments: {},
  examples: ["k8ts down", "k8ts down --name second", "k8ts down --timeout 10s"],

  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: { home: home.options, timeoutMs: stopTimeoutMs(values) } } : home;
  },

  async run({ home: choice, timeoutMs }, io) {
    const home = await findHome(choice, io.environment);
    if (home === undefined)
      return io.out(
        `Nothing is running: there is no cluster in ${choice.directory}; "k8ts status --all" lists the clusters of this machine`,
      );
    await stopCluster(home, { timeoutMs }, io);
  },
});
