/** `k8ts up`: a cluster in this process, from start to signal. */
import { startCluster } from "../cluster.ts";
import { clusterFlagOptions, clusterFlags } from "../cluster-flags.ts";
import { chosenControllers, CLUSTER_CONTROLLERS, chosenControllersProblems, chosenFlag } from "../controller-flags.ts";
import { defineCommand } from "../command.ts";
import { version } from "../generated/version.ts";
import { shellWord } from "../shell-word.ts";
import { untilStopped } from "../until-stopped.ts";

/** What a cluster has and this version does not start yet. */
const NOT_YET = ["scheduler", "kubelet", "service proxy", "DNS", "ingress", "dashboard"];

export const up = defineCommand({
  description: "Starts a cluster in this process and keeps it running until Ctrl-C (SIGINT) or SIGTERM; a second signal ends it at once.",
  flags: { ...clusterFlags, ...chosenFlag },
  arguments: {},
  examples: [
    "k8ts up",
    "k8ts up --store memory --secure-port 0",
    "k8ts up --etcd-servers https://10.0.0.1:2379,https://10.0.0.2:2379 --etcd-cafile ca.pem",
  ],

  options(values, environment) {
    const parsed = clusterFlagOptions(values, environment);
    const problems = chosenControllersProblems(values);
    if (problems.length > 0) return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), ...problems] };
    return parsed.ok ? { ok: true, options: { ...parsed.options, controllers: chosenControllers(values, CLUSTER_CONTROLLERS) } } : parsed;
  },

  async run({ store, apiServer, controllers }, io) {
    await using cluster = await startCluster({ store, apiServer, controllers, clock: io.clock, log: io.log });
    io.out(`k8ts ${version} is up:`);
    for (const { name, description } of cluster.parts) io.out(`  ${name}: ${description}`);
    io.out(`Not there yet: ${NOT_YET.join(", ")}`);
    io.out(`export KUBECONFIG=${shellWord(cluster.kubeconfig)}`);
    io.out("Ctrl-C stops it");
    await untilStopped(io);
    io.out("Stopping");
  },
});
