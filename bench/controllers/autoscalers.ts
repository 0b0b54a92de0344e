/** Time and CPU that 500 HorizontalPodAutoscalers take: until each has decided once, and while nothing changes. */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { AutoscalerTasks } from "./autoscalers-child.ts";

const TARGETS = 500;
/** Each as long as one interval of the autoscaler. */
const STRETCHES = { stretches: 2, seconds: 15 };

export const controllerAutoscalers: Benchmark = {
  name: "controllers/autoscalers",
  measures: "500 HorizontalPodAutoscalers: time until each has decided by the CPU usage of its Pods; their cost when nothing changes",
  async *run({ signal }) {
    await using children = new Disposables();
    const child = children.use(startChild<AutoscalerTasks>(import.meta.url, "autoscalers-child", signal));
    await child.call("start", { targets: TARGETS });
    const without = await child.call("idle", STRETCHES);
    yield figureOf({ name: "controllers-500-deployments-idle-cpu", unit: "ms/s", values: without.cpuMs });
    const decided = await child.call("autoscale", { targets: TARGETS });
    yield figureOf({ name: "controllers-500-autoscalers-decide", unit: "ms", values: [decided] });
    const { cpuMs, writes } = await child.call("idle", STRETCHES);
    yield figureOf({ name: "controllers-500-autoscalers-idle-cpu", unit: "ms/s", values: cpuMs });
    yield figureOf({ name: "controllers-500-autoscalers-idle-writes", unit: "writes", values: [writes], budget: { atMost: 0 } });
  },
};
