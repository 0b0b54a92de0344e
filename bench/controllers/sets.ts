/**
 * Time that StatefulSets and DaemonSets take: a StatefulSet of 100 on simulated nodes, in order and in parallel, and a DaemonSet on 5,000
 * nodes; then the cost of the latter when nothing changes.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { SetsTasks } from "./sets-child.ts";

const REPLICAS = 100;
const NODES = 5_000;
const IDLE = { stretches: 5, seconds: 2 };
/** Workloads that take seconds are repeated less often. */
const FEW = 3;

export const controllerSets: Benchmark = {
  name: "controllers/sets",
  measures: "time to complete a StatefulSet of 100, in order and in parallel, and a DaemonSet on 5,000 nodes; its cost when idle",
  async *run({ rounds, signal }) {
    await using children = new Disposables();
    const child = children.use(startChild<SetsTasks>(import.meta.url, "sets-child", signal));
    await child.call("start", {});
    const { ordered, parallel } = await rounds.measure(
      {
        ordered: () => child.call("statefulSet", { replicas: REPLICAS, policy: "OrderedReady" }),
        parallel: () => child.call("statefulSet", { replicas: REPLICAS, policy: "Parallel" }),
      },
      FEW,
    );
    yield figureOf({ name: "controllers-stateful-set-of-100-ordered", unit: "ms", values: ordered });
    yield figureOf({ name: "controllers-stateful-set-of-100-parallel", unit: "ms", values: parallel });

    // Nodes without kubelets send no heartbeats and have no resources: they would be marked as lost, and their Pods as unschedulable.
    await child.call("start", { controllers: ["*", "-node-lifecycle-controller"], scheduler: false });
    await child.call("addNodes", { count: NODES });
    const created = await child.call("daemonSet", { count: NODES });
    yield figureOf({ name: "controllers-daemon-set-on-5000-nodes", unit: "ms", values: [created] });
    const { relabel } = await rounds.measure({ relabel: () => child.call("relabel", null) }, FEW);
    yield figureOf({ name: "controllers-daemon-set-follows-one-of-5000-nodes", unit: "ms", values: relabel });
    const { cpuMs, writes } = await child.call("idle", IDLE);
    yield figureOf({ name: "controllers-daemon-set-on-5000-nodes-idle-cpu", unit: "ms/s", values: cpuMs, budget: { atMost: 10 } });
    yield figureOf({ name: "controllers-daemon-set-on-5000-nodes-idle-writes", unit: "writes", values: [writes], budget: { atMost: 0 } });
  },
};
