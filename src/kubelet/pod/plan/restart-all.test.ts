/** A kubelet that crashes during a restart of all containers continues it, whichever step was the last. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatus, Pod } from "../../../api/generated/core/v1.ts";
import { buildPod } from "../../../api/testing/pod.ts";
import { container, exited, running, sandbox } from "../../testing/sandboxes.ts";
import { PodWorkerMemory } from "../pod-state.ts";
import type { PodPlan, PodView } from "./plan-contract.ts";
import { planPod } from "./pod-plan.ts";

const RULE = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } } as const;
const MARKED = [{ type: "AllContainersRestarting", status: "True" }];

function aPod(status: NonNullable<Pod["status"]>): Pod {
  return buildPod({
    metadata: { name: "p", namespace: "default", uid: "u" },
    spec: {
      restartPolicy: "Never",
      initContainers: [{ name: "init", image: "i:1" }],
      containers: [
        { name: "other", image: "i:1" },
        { name: "worker", image: "i:1", restartPolicy: "Never", restartPolicyRules: [RULE] },
      ],
      ephemeralContainers: [{ name: "debug", image: "i:1" }],
    },
    status: { phase: "Running", ...status },
  });
}

function reported(name: string, state: ContainerStatus["state"] = { running: {} }): ContainerStatus {
  return { name, ready: false, restartCount: 0, image: "i:1", imageID: "", containerID: `test://${name}`, ...(state && { state }) };
}

function planned(view: Pick<PodView, "pod" | "sandbox">): string {
  const plan: PodPlan = planPod({ isOrphaned: false, memory: new PodWorkerMemory(), nowMs: 1_000, ...view });
  const actions = plan.actions.map((action) => {
    if (action.do === "reset-containers") return `reset ${[...action.others, ...action.sources].map(({ id }) => id).join(" ")}`;
    return action.do === "start-container" ? `start ${action.container.name}#${action.attempt}` : action.do;
  });
  return [...(plan.isTerminated ? ["terminated"] : []), ...(plan.mustReport ? ["report"] : []), ...actions].join(", ");
}

const DEBUG = container("debug", running());
const ALL = [container("init", exited(0)), container("other", running()), container("worker", exited(42)), DEBUG];
const RUNNING = { containerStatuses: [reported("other"), reported("worker")] };

for (const { title, status, containers, expected } of [
  { title: "the exit is new", status: RUNNING, containers: ALL, expected: "report" },
  { title: "the condition is written", status: { conditions: MARKED }, containers: ALL, expected: "reset other-0 init-0 worker-0" },
  { title: "some are removed", status: { conditions: MARKED }, containers: [ALL[2], DEBUG], expected: "reset worker-0" },
  {
    title: "all are removed",
    status: { conditions: MARKED, containerStatuses: [reported("other"), reported("worker", { terminated: { exitCode: 42 } })] },
    containers: [DEBUG],
    expected: "report",
  },
  {
    title: "the runtime lost them after the exit was reported",
    status: { containerStatuses: [reported("other"), reported("worker", { terminated: { exitCode: 42 } })] },
    containers: [DEBUG],
    expected: "report",
  },
  {
    title: "the end is reported",
    status: {
      conditions: [{ type: "AllContainersRestarting", status: "False" }],
      initContainerStatuses: [{ name: "init", ready: false, restartCount: 1, image: "i:1", imageID: "", state: { waiting: {} } }],
      containerStatuses: ["other", "worker"].map((name) => {
        return { name, ready: false, restartCount: 1, image: "i:1", imageID: "", state: { waiting: {} } };
      }),
    },
    containers: [DEBUG],
    expected: "start init#1",
  },
]) {
  test(`restart of all containers: when ${title} the next step is: ${expected}`, () => {
    const known = containers.flatMap((one) => (one === undefined ? [] : [one]));
    assert.equal(planned({ pod: aPod(status), sandbox: sandbox(known) }), expected);
  });
}
