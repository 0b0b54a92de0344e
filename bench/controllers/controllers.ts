/**
 * Time that the controllers of a whole cluster in one process take: Pods of a Deployment, of many Deployments, dependents of a deleted
 * owner, a namespace; and their CPU time when idle. Baseline: a client that creates the same Pods one by one, with the controller's
 * concurrency.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { ControllersTasks } from "./controllers-child.ts";

const PODS = 500;
const DEPLOYMENT_BUDGET_MS = 200;
const DEPLOYMENTS = { count: 1_000, replicas: 3 };
const DEPENDENTS = 10_000;
const NAMESPACE_OBJECTS = 5_000;
const IDLE = { podCount: 10_000, stretches: 5, seconds: 5 };
/** Workloads that take seconds are repeated less often. */
const FEW = 3;

export const controllers: Benchmark = {
  name: "controllers",
  measures:
    "time to complete a Deployment of 500, 1,000 Deployments, deletion of 10,000 dependents, a namespace of 5,000 objects; CPU time idle with 10,000 Pods",
  async *run({ rounds, signal }) {
    await using children = new Disposables();
    const child = children.use(startChild<ControllersTasks>(import.meta.url, "controllers-child", signal));
    await child.call("start", null);
    const one = await rounds.measure({
      bare: () => child.call("bare", { count: PODS }),
      deployment: () => child.call("deployments", { count: 1, replicas: PODS }),
    });
    const name = "controllers-deployment-of-500";
    yield figureOf({ name, unit: "ms", values: one.deployment, budget: { atMost: DEPLOYMENT_BUDGET_MS } });
    yield figureOf({ name: `${name}-beside-bare-creates`, unit: "ms", values: one.deployment, baselines: one.bare });

    const many = await rounds.measure({ deployments: () => child.call("deployments", DEPLOYMENTS) }, FEW);
    yield figureOf({ name: "controllers-1000-deployments-of-3", unit: "ms", values: many.deployments });
    const garbage = await rounds.measure({ garbage: () => child.call("garbage", { dependents: DEPENDENTS }) }, FEW);
    yield figureOf({ name: "controllers-garbage-of-10000", unit: "ms", values: garbage.garbage });
    const namespace = await rounds.measure({ namespace: () => child.call("namespace", { objects: NAMESPACE_OBJECTS }) }, FEW);
    yield figureOf({ name: "controllers-namespace-of-5000", unit: "ms", values: namespace.namespace });

    const { cpuMs, writes } = await child.call("idle", IDLE);
    yield figureOf({ name: "controllers-idle-with-10000-pods-cpu", unit: "ms/s", values: cpuMs, budget: { atMost: 10 } });
    yield figureOf({ name: "controllers-idle-with-10000-pods-writes", unit: "writes", values: [writes], budget: { atMost: 0 } });
  },
};
