/** One workload of workloads.ts in a process of its own: the cluster, who creates the Pods, and who watches them. */
import { serve } from "../serve.ts";
import { Scene } from "./scene.ts";
import { workloads, type Size } from "./workloads.ts";

const tasks = {
  /** Resolves with how long the measured Pods took, in milliseconds. */
  async run({ workload: name, size }: { readonly workload: string; readonly size: Size }): Promise<number> {
    const workload = workloads.find((each) => each.name === name);
    if (workload === undefined) throw new Error(`There is no workload ${JSON.stringify(name)}`);
    await using scene = await Scene.start();
    return await workload.run(scene, size);
  },
};
export type SchedulerTasks = typeof tasks;
serve(tasks);
