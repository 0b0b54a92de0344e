/** `k8ts up`: a cluster in this process, from start to signal. */
import { realRandom } from "../../host/real-random.ts";
import { startClusterParts } from "../cluster-parts.ts";
import { clusterFlagOptions, clusterFlags } from "../cluster-flags.ts";
import { chosenControllers, CLUSTER_CONTROLLERS, chosenControllersProblems, chosenFlag } from "../controller-flags.ts";
import { defineCommand } from "../command.ts";
import { version } from "../generated/version.ts";
import { nodesConfig } from "../nodes-part.ts";
import { readSchedulerConfig, schedulerConfigFlag } from "../scheduler-config.ts";
import { shellWord } from "../shell-word.ts";
import { untilStopped } from "../until-stopped.ts";

/** What a cluster has and this version does not start yet. */
const NOT_YET = ["containers", "service proxy", "DNS", "ingress", "dashboard"];

/** More would take longer to start than anybody waits for. */
const SIMULATED_NODES_MAX = 20_000;

export const up = defineCommand({
  description: "Starts a cluster in this process and keeps it running until Ctrl-C (SIGINT) or SIGTERM; a second signal ends it at once.",
  flags: {
    ...clusterFlags,
    ...chosenFlag,
    "scheduler-config": schedulerConfigFlag,
    "simulated-nodes": {
      type: "number",
      min: 0,
      max: SIMULATED_NODES_MAX,
      default: 0,
      doc: "Nodes whose Pods are played and not run: they start, become ready and end as annotations say.",
    },
  },
  arguments: {},
  examples: [
    "k8ts up",
    "k8ts up --simulated-nodes 3",
    "k8ts up --store memory --secure-port 0",
    "k8ts up --etcd-servers https://10.0.0.1:2379,https://10.0.0.2:2379 --etcd-cafile ca.pem",
  ],

  options(values, environment) {
    const parsed = clusterFlagOptions(values, environment);
    const problems = chosenControllersProblems(values);
    if (problems.length > 0) return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), ...problems] };
    if (!parsed.ok) return parsed;
    const controllers = chosenControllers(values, CLUSTER_CONTROLLERS);
    const scheduler = values["scheduler-config"];
    return {
      ok: true,
      options: { ...parsed.options, controllers, nodes: values["simulated-nodes"], ...(scheduler === undefined ? {} : { scheduler }) },
    };
  },

  async run({ store, apiServer, controllers, nodes, scheduler }, io) {
    const { clock, log } = io;
    const config = await clock.external(readSchedulerConfig(scheduler));
    await using cluster = await startClusterParts({
      ...{ store, apiServer, controllers, clock, log },
      listens: true,
      scheduler: config,
      nodes: nodesConfig(nodes),
      random: realRandom(),
    });
    io.out(`k8ts ${version} is up:`);
    for (const { name, description } of cluster.list) io.out(`  ${name}: ${description}`);
    io.out(`Not there yet: ${NOT_YET.join(", ")}`);
    io.out(`export KUBECONFIG=${shellWord(cluster.door?.kubeconfig ?? "")}`);
    io.out("Ctrl-C stops it");
    await untilStopped(io);
    io.out("Stopping");
  },
});
