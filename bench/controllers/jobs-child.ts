/** The cluster of jobs.ts in one process: simulated nodes whose Pods end at once. */
import { cronJobs } from "../../src/api/batch/v1/cron-job.ts";
import { isTrue } from "../../src/api/batch/v1/job/conditions.ts";
import { jobs } from "../../src/api/batch/v1/job.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { Job } from "../../src/api/generated/batch/v1.ts";
import type { Pod, PodSpec } from "../../src/api/generated/core/v1.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/rest-client.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { createMany, idleCost, timed, type IdleCost, type IdleOptions } from "../measures.ts";
import { serve } from "../serve.ts";

/** Simulated nodes, with 110 Pods each. */
const NODES = 10;
const POD: PodSpec = { restartPolicy: "Never", containers: [{ name: "work", image: "work:1" }] };
const NEW_YEAR = "0 0 1 1 *";

let cluster: Cluster;
let client: Client;
let made = 0;

const tasks = {
  async start(_input: null): Promise<void> {
    const simulation = { rules: [{ settings: { exitCode: 0 } }] };
    cluster = await startCluster({ nodes: { count: NODES, simulation } });
    client = createClient(cluster.transport({ userAgent: "bench" }));
  },

  /** Milliseconds until as many Pods, created directly, have succeeded. */
  async bare({ count }: { readonly count: number }): Promise<number> {
    const namespace = await newNamespace();
    const takenMs = await timed(async () => {
      await createMany(count, (index) =>
        client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: { namespace, name: `p${index}` }, spec: POD }),
      );
      const haveEnded = (all: readonly Pod[]): boolean => all.filter(({ status }) => status?.phase === "Succeeded").length === count;
      await cluster.until<Pod>("pods", haveEnded, { namespace, within: "5m" });
    });
    await client.deleteCollection(pods, { namespace, gracePeriodSeconds: 0 });
    return takenMs;
  },

  /** Milliseconds until a new Job, all of whose Pods may run at once, is complete; it is deleted again. */
  async job({ completions, mode }: { readonly completions: number; readonly mode: "Indexed" | "NonIndexed" }): Promise<number> {
    const namespace = await newNamespace();
    const metadata = { namespace, name: "work" };
    const spec = { completions, parallelism: completions, completionMode: mode, template: { spec: POD } };
    const takenMs = await timed(async () => {
      await client.create(jobs, { apiVersion: "batch/v1", kind: "Job", metadata, spec });
      await cluster.until<Job>("job/work", (job) => isTrue(job?.status ?? {}, "Complete"), { namespace, within: "5m" });
    });
    await client.delete(jobs, metadata, { propagationPolicy: "Foreground" });
    await cluster.until<Job>("job/work", (job) => job === undefined, { namespace, within: "5m" });
    return takenMs;
  },

  /** Their next run is at New Year. */
  async cronJobs({ count }: { readonly count: number }): Promise<void> {
    const namespace = await newNamespace();
    const spec = { schedule: NEW_YEAR, jobTemplate: { spec: { template: { spec: POD } } } };
    await createMany(count, (index) =>
      client.create(cronJobs, { apiVersion: "batch/v1", kind: "CronJob", metadata: { namespace, name: `c${index}` }, spec }),
    );
  },

  /** Milliseconds of CPU time per second, and number of writes to the store, without changes. */
  async idle(options: IdleOptions): Promise<IdleCost> {
    await realClock.sleep(5_000); // Time for the effects of the last change to settle.
    return idleCost(client, options);
  },
};
export type JobsTasks = typeof tasks;
serve(tasks);

async function newNamespace(): Promise<string> {
  const name = `bench-${made++}`;
  await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await cluster.until("serviceaccount/default", (account) => account !== undefined, { namespace: name });
  return name;
}
