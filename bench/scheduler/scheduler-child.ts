/** Runs one workload of workloads.ts or volume-workloads.ts in its own process, with the cluster, the client that creates the Pods, and the watch. */
import { serve } from "../serve.ts";
import { deviceWorkloads } from "./device-workloads.ts";
import { Scene, type Measured } from "./scene.ts";
import { volumeWorkloads } from "./volume-workloads.ts";
import { workloads, type Size } from "./workloads.ts";

const tasks = {
  /** Resolves with the cost of scheduling the measured Pods. */
  async run({ workload: name, size }: { readonly workload: string; readonly size: Size }): Promise<Measured> {
    const workload = [...workloads, ...volumeWorkloads, ...deviceWorkloads].find((each) => each.name === name);
    if (workload === undefined) throw new Error(`Unknown workload ${JSON.stringify(name)}`);
    await using scene = await Scene.start();
    return await workload.run(scene, size);
  },
};
export type SchedulerTasks = typeof tasks;
serve(tasks);
