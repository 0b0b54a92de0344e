import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { driven } from "../../../testing/driven.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { Runtime, SandboxStatus } from "../../contracts/runtime.ts";
import { containerId } from "./identity.ts";
import { recoverPod } from "./recovery.ts";
import { simulatedRuntime } from "./simulated-runtime.ts";
import { Simulation } from "./simulation.ts";
import { reported, run, simulatedPod } from "./testing/pods.ts";

/** Settings as annotations; durations of any millisecond, so that no change falls on a whole second by itself. */
const anySays = fc.record(
  {
    "start-after": anyDuration(5_000),
    "ready-after": anyDuration(20_000),
    unready: fc.constantFrom("1s-2500ms", "3333ms-", "2s-3s,3500ms-9s"),
    "run-for": anyDuration(30_000),
    "exit-code": fc.constantFrom("0", "1"),
    "fail-times": fc.constantFrom("1", "2"),
    "fail-after": anyDuration(3_000),
    "stop-takes": anyDuration(3_000),
  },
  { requiredKeys: [] },
);

function anyDuration(maxMs: number): fc.Arbitrary<string> {
  return fc.nat(maxMs).map((ms) => `${ms}ms`);
}

const anyAction = fc.oneof(
  { weight: 3, arbitrary: fc.nat(12_345).map((ms) => ({ is: "wait", ms }) as const) },
  fc.constant({ is: "restart" } as const),
  fc.nat(4_000).map((graceMs) => ({ is: "stop", graceMs }) as const),
  fc.constant({ is: "stop-sandbox" } as const),
);

/** Without what a status cannot contain: the second in which a sandbox was created, and attempts before the last but one. */
function comparable(sandboxes: readonly SandboxStatus[]): unknown {
  return sandboxes.map(({ createdAtMs, containers, ...sandbox }) => ({
    ...sandbox,
    createdAtMs: Math.floor(createdAtMs / 1_000),
    containers: containers.slice(0, 2).map(({ state, ...container }) => ({ ...container, state: toWholeSecond(state) })),
  }));
}

/** A requested exit is known to the second; every other timestamp to the millisecond. */
function toWholeSecond(state: SandboxStatus["containers"][number]["state"]): unknown {
  return state.is === "exited" ? { ...state, finishedAtMs: Math.floor(state.finishedAtMs / 1_000) } : state;
}

test("a simulated runtime that restarts at any time continues as if it had never stopped", async () => {
  await fc.assert(
    fc.asyncProperty(anySays, fc.nat(999), fc.array(anyAction, { maxLength: 8 }), async (says, startMs, actions) => {
      const clock = virtualClock({ startMs: Date.UTC(2026, 0, 1) + startMs });
      const simulation = new Simulation(clock);
      const runtime = simulatedRuntime({ simulation, node: "n1" });
      const pod = simulatedPod("web", { says });
      const passing = async <T>(promise: Promise<T>): Promise<T> => {
        await clock.advance(10_000);
        return driven(clock, promise);
      };
      await passing(run(runtime, pod));
      for (const action of actions) await act(runtime, pod, action, { advance: (ms) => clock.advance(ms), passing });

      const again = simulatedRuntime({ simulation, node: "n1" });
      again.recover?.([reported(pod, (await runtime.list())[0])]);

      const notified = { runtime: 0, again: 0 };
      runtime.watch(() => notified.runtime++);
      again.watch(() => notified.again++);
      for (const ms of [0, 1, 999, 2_345, 10_000, 60_000]) {
        await clock.advance(ms);
        deepEqual(comparable(await again.list()), comparable(await runtime.list()));
        equal(notified.again, notified.runtime);
      }
    }),
    { numRuns: rounds({ quick: 100, full: 2_000 }), seed: testSeed() },
  );
});

interface Time {
  advance(ms: number): Promise<void>;
  passing<T>(promise: Promise<T>): Promise<T>;
}

type Action = typeof anyAction extends fc.Arbitrary<infer A> ? A : never;

async function act(runtime: Runtime, pod: Pod, action: Action, time: Time): Promise<void> {
  const sandbox = (await runtime.status(pod.metadata.uid!))!;
  const [current] = sandbox.containers;
  if (action.is === "wait") await time.advance(action.ms);
  if (action.is === "restart" && current?.state.is === "exited") await time.passing(run(runtime, pod, { attempt: current.attempt + 1 }));
  if (action.is === "stop" && current !== undefined) await time.passing(runtime.stopContainer(current.id, action.graceMs));
  if (action.is === "stop-sandbox") await time.passing(runtime.stopSandbox(sandbox.id));
}

test("a container that waits for its restart is recovered as exited, with its attempts", () => {
  const startedAtMs = Date.UTC(2026, 0, 1, 0, 0, 1) + 123;
  const id = containerId({ podUid: "a", name: "main", attempt: 4, createdAtMs: startedAtMs });
  const terminated = {
    exitCode: 1,
    reason: "Error",
    startedAt: "2026-01-01T00:00:01Z",
    finishedAt: "2026-01-01T00:00:03Z",
    containerID: `simulated://${id}`,
  };
  const pod = {
    ...simulatedPod("web"),
    status: {
      podIP: "10.128.0.2",
      containerStatuses: [
        {
          name: "main",
          image: "app:1",
          imageID: "i",
          ready: false,
          restartCount: 4,
          state: { waiting: { reason: "CrashLoopBackOff" } },
          lastState: { terminated },
        },
      ],
    },
  };

  const found = recoverPod(pod, []);

  deepEqual(found?.ips, ["10.128.0.2"]);
  deepEqual(
    found?.containers.map(({ facts, life }) => [facts.id, facts.attempt, life]),
    [
      [
        id,
        4,
        { startedAtMs, attempt: 4, ended: { atMs: Date.UTC(2026, 0, 1, 0, 0, 3), exitCode: 1, reason: "Error", message: undefined } },
      ],
    ],
  );
});

test("a Pod that never ran is not recovered, and a terminated one uses no address", () => {
  equal(recoverPod({ ...simulatedPod("web"), status: { phase: "Pending", startTime: "2026-01-01T00:00:01Z" } }, []), undefined);
  const over = recoverPod({ ...simulatedPod("web"), status: { phase: "Succeeded", podIPs: [{ ip: "10.128.0.2" }] } }, []);
  deepEqual([over?.isReady, over?.ips], [false, []]);
});
