import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { simulatedRuntime } from "./simulated-runtime.ts";
import { Simulation } from "./simulation.ts";
import { run, simulatedPod } from "./testing/pods.ts";

test("a simulated Pod uses what its annotations say, from a change on, and no container uses less than before", async () => {
  const clock = virtualClock();
  await using runtime = simulatedRuntime({ simulation: new Simulation(clock), node: "node-0" });
  const before = simulatedPod("web", { says: { cpu: "100m,10s:1", memory: "1Mi" } });
  const after = simulatedPod("web", { says: { cpu: "500m", memory: "2Mi" } });
  const seconds = async () => {
    const [pod] = (await runtime.stats?.()) ?? [];
    return pod?.containers.map(({ cpuNanoseconds = 0, memoryWorkingSetBytes = 0 }) => [cpuNanoseconds / 1e9, memoryWorkingSetBytes >> 20]);
  };
  await run(runtime, before);

  const used = [await seconds()];
  await clock.advance(20_000);
  used.push(await seconds());
  runtime.update?.(after);
  await clock.advance(10_000);
  used.push(await seconds());

  deepEqual(used, [[[0, 1]], [[11, 1]], [[16, 2]]]);
});
