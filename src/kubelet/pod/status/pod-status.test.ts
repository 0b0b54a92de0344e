import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatus, Pod, PodStatus } from "../../../api/generated/core/v1.ts";
import type { Waiting } from "../plan/plan-contract.ts";
import { podStatusOf, type PodStatusView } from "./pod-status.ts";
import { container, CREATED, exited, running, sandbox } from "../../testing/sandboxes.ts";
import { buildPod } from "../../../api/testing/pod.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const NOW = "2026-01-01T00:00:00Z";
const EARLIER = "2025-12-31T00:00:00Z";
const INIT = { name: "init", image: "i:1" };
const SIDECAR = { name: "side", image: "i:1", restartPolicy: "Always" as const };

function pod(
  spec: Partial<NonNullable<Pod["spec"]>> = {},
  status: PodStatus = { phase: "Pending" },
  metadata: Partial<Pod["metadata"]> = {},
): Pod {
  return buildPod({
    metadata: { name: "p", namespace: "default", uid: "u", generation: 3, ...metadata },
    spec: { containers: [{ name: "c", image: "i:1" }], ...spec },
    status,
  });
}

function statusOf(view: Partial<PodStatusView>): PodStatus {
  const rest = {
    waiting: new Map<string, Waiting>(),
    runtimeName: "test",
    hostIps: ["192.0.2.1"],
    isTerminated: false,
    isPastDeadline: false,
    nowMs: NOW_MS,
  };
  return podStatusOf({ pod: pod(), sandbox: undefined, ...rest, ...view });
}

function reported(name: string, more: Partial<ContainerStatus>): ContainerStatus {
  return { name, ready: false, restartCount: 0, image: "i:1", imageID: "", ...more };
}

test("the complete status of a running Pod", () => {
  const status = statusOf({ sandbox: sandbox([container("c", running(NOW_MS))]) });

  const condition = (type: string) => ({ type, observedGeneration: 3, status: "True", lastTransitionTime: NOW });
  assert.deepEqual(status, {
    observedGeneration: 3,
    phase: "Running",
    conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition),
    hostIP: "192.0.2.1",
    hostIPs: [{ ip: "192.0.2.1" }],
    podIP: "10.0.0.2",
    podIPs: [{ ip: "10.0.0.2" }],
    startTime: NOW,
    containerStatuses: [
      {
        name: "c",
        state: { running: { startedAt: NOW } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: "i:1",
        imageID: "sha256:i",
        containerID: "test://c-0",
        started: true,
        resources: {},
      },
    ],
    qosClass: "BestEffort",
    resources: {},
  });
});

test("transition times are kept while a condition does not change, and conditions of other components are kept", () => {
  const conditions = [
    { type: "DisruptionTarget", status: "True", lastTransitionTime: EARLIER },
    { type: "Ready", status: "True", lastTransitionTime: EARLIER },
    { type: "PodScheduled", status: "True", lastTransitionTime: EARLIER },
  ];
  const before: PodStatus = { phase: "Running", startTime: EARLIER, qosClass: "Burstable", nominatedNodeName: "n", conditions };

  const status = statusOf({ pod: pod({}, before), sandbox: sandbox([container("c", running(), { ready: false })]) });

  const [first, ...own] = status.conditions ?? [];
  assert.equal(first, conditions[0]);
  assert.deepEqual(
    own.map(({ type, lastTransitionTime }) => [type, lastTransitionTime === EARLIER]),
    [
      ["PodReadyToStartContainers", false],
      ["Initialized", false],
      ["Ready", false],
      ["ContainersReady", false],
      ["PodScheduled", true],
    ],
  );
  assert.deepEqual([status.startTime, status.qosClass, status.nominatedNodeName], [EARLIER, "Burstable", "n"]);
  assert.equal(own[2]?.message, "containers with unready status: [c]");
});

interface PhaseRow {
  readonly it: string;
  readonly view: Partial<PodStatusView>;
  readonly phase: PodStatus["phase"];
  readonly ready: string;
  readonly initialized: string;
}

const rows: readonly PhaseRow[] = [
  { it: "nothing is there yet", view: {}, phase: "Pending", ready: "False ContainersNotReady", initialized: "True" },
  {
    it: "init containers that have not started",
    view: { pod: pod({ initContainers: [INIT, SIDECAR] }) },
    phase: "Pending",
    ready: "False ContainersNotReady",
    initialized: "False ContainersNotInitialized",
  },
  {
    it: "created and not started",
    view: { sandbox: sandbox([container("c", CREATED)]) },
    phase: "Pending",
    ready: "False ContainersNotReady",
    initialized: "True",
  },
  {
    it: "one of two runs, the other is not created yet",
    view: { pod: pod({ containers: [{ name: "a" }, { name: "b" }] }), sandbox: sandbox([container("a", running())]) },
    phase: "Pending",
    ready: "False ContainersNotReady",
    initialized: "True",
  },
  {
    it: "exited and about to be restarted",
    view: { sandbox: sandbox([container("c", exited(1))]) },
    phase: "Running",
    ready: "False ContainersNotReady",
    initialized: "True",
  },
  {
    it: "succeeded for good",
    view: { pod: pod({ restartPolicy: "Never" }), sandbox: sandbox([container("c", exited(0))]), isTerminated: true },
    phase: "Succeeded",
    ready: "False PodCompleted",
    initialized: "True PodCompleted",
  },
  {
    it: "failed for good",
    view: { pod: pod({ restartPolicy: "Never" }), sandbox: sandbox([container("c", exited(1))]), isTerminated: true },
    phase: "Failed",
    ready: "False PodFailed",
    initialized: "True",
  },
  {
    it: "an init container failed for good",
    view: {
      pod: pod({ initContainers: [INIT], restartPolicy: "Never" }),
      sandbox: sandbox([container("init", exited(1))]),
      isTerminated: true,
    },
    phase: "Failed",
    ready: "False PodFailed",
    initialized: "False ContainersNotInitialized",
  },
  {
    it: "a sidecar is restarted beside running containers",
    view: { pod: pod({ initContainers: [SIDECAR] }), sandbox: sandbox([container("side", CREATED), container("c", running())]) },
    phase: "Pending",
    ready: "False ContainersNotReady",
    initialized: "True",
  },
  {
    it: "a sidecar has exited beside running containers",
    view: { pod: pod({ initContainers: [SIDECAR] }), sandbox: sandbox([container("side", exited(1)), container("c", running())]) },
    phase: "Running",
    ready: "False ContainersNotReady",
    initialized: "True",
  },
  {
    it: "past its deadline with a running container",
    view: { pod: pod({}, { phase: "Running" }), sandbox: sandbox([container("c", running())]), isPastDeadline: true },
    phase: "Running",
    ready: "False PodFailed",
    initialized: "True",
  },
  {
    it: "past its deadline without a running container",
    view: { pod: pod({}, { phase: "Running" }), sandbox: sandbox([container("c", exited(143))]), isPastDeadline: true, isTerminated: true },
    phase: "Failed",
    ready: "False PodFailed",
    initialized: "True",
  },
  {
    it: "terminal before, whatever the runtime has now",
    view: { pod: pod({}, { phase: "Succeeded" }), sandbox: sandbox([container("c", exited(1))]) },
    phase: "Succeeded",
    ready: "False PodCompleted",
    initialized: "True PodCompleted",
  },
  {
    it: "deleted and succeeded, though its policy would restart it",
    view: { pod: pod({}, {}, { deletionTimestamp: NOW }), sandbox: sandbox([container("c", exited(0))]), isTerminated: true },
    phase: "Succeeded",
    ready: "False PodCompleted",
    initialized: "True PodCompleted",
  },
  {
    it: "deleted before it started",
    view: { pod: pod({}, {}, { deletionTimestamp: NOW }), isTerminated: true },
    phase: "Failed",
    ready: "False PodFailed",
    initialized: "True",
  },
];

test("phase and conditions follow from the container states", async (t) => {
  for (const { it, view, ...expected } of rows) {
    await t.test(it, () => {
      const { phase, conditions = [] } = statusOf(view);
      const say = (wanted: string) => {
        const { status, reason } = conditions.find(({ type }) => type === wanted) ?? {};
        return reason === undefined ? status : `${status} ${reason}`;
      };

      assert.deepEqual({ phase, ready: say("Ready"), initialized: say("Initialized") }, expected);
    });
  }
});

interface ContainerRow {
  readonly it: string;
  readonly view: Partial<PodStatusView>;
  readonly is: Partial<ContainerStatus>;
}

const LOST = { exitCode: 137, reason: "ContainerStatusUnknown" };

const containerRows: readonly ContainerRow[] = [
  { it: "not there yet", view: {}, is: { state: { waiting: { reason: "ContainerCreating" } }, started: false } },
  {
    it: "waiting for init containers",
    view: { pod: pod({ initContainers: [INIT] }) },
    is: { state: { waiting: { reason: "PodInitializing" } } },
  },
  {
    it: "created and not started yet",
    view: { sandbox: sandbox([container("c", CREATED)]) },
    is: { state: { waiting: { reason: "ContainerCreating" } }, containerID: "test://c-0", started: false },
  },
  {
    it: "created and not started yet in a Pod with init containers",
    view: { pod: pod({ initContainers: [INIT] }), sandbox: sandbox([container("init", exited(0, NOW_MS)), container("c", CREATED)]) },
    is: { state: { waiting: { reason: "PodInitializing" } } },
  },
  {
    it: "in a crash loop",
    view: {
      sandbox: sandbox([container("c", exited(1, NOW_MS), { attempt: 2 })]),
      waiting: new Map([["c", { reason: "CrashLoopBackOff", message: "m" }]]),
    },
    is: { state: { waiting: { reason: "CrashLoopBackOff", message: "m" } }, restartCount: 2 },
  },
  {
    it: "no container of a deleted Pod waits",
    view: {
      pod: pod({}, {}, { deletionTimestamp: NOW }),
      sandbox: sandbox([container("c", running(NOW_MS))]),
      waiting: new Map([["c", { reason: "CrashLoopBackOff", message: "m" }]]),
    },
    is: { state: { running: { startedAt: NOW } } },
  },
  {
    it: "the previous attempt is reported",
    view: { sandbox: sandbox([container("c", running(NOW_MS), { attempt: 1 }), container("c", exited(3, NOW_MS))]) },
    is: { restartCount: 1, state: { running: { startedAt: NOW } } },
  },
  {
    it: "a running container that the runtime lost counts as killed and is restarted",
    view: { pod: pod({}, { phase: "Running", containerStatuses: [reported("c", { state: { running: {} }, restartCount: 1 })] }) },
    is: { restartCount: 2, state: { waiting: { reason: "ContainerCreating" } } },
  },
  {
    it: "a container reported as terminated stays so after the runtime lost it",
    view: { pod: pod({}, { containerStatuses: [reported("c", { state: { terminated: { exitCode: 5 } } })] }) },
    is: { state: { terminated: { exitCode: 5 } } },
  },
  {
    it: "a container without a known exit in a deleted, terminated Pod has failed",
    view: { pod: pod({}, {}, { deletionTimestamp: NOW }), isTerminated: true },
    is: { state: { terminated: { ...LOST, message: "The container could not be located when the pod was terminated" } } },
  },
  {
    it: "its startup probe has not succeeded",
    view: { sandbox: sandbox([container("c", running(NOW_MS), { started: false, ready: true })]) },
    is: { started: false, ready: false },
  },
];

test("the status of a container follows from the runtime's state", async (t) => {
  for (const { it, view, is } of containerRows) {
    await t.test(it, () => {
      const [status] = statusOf(view).containerStatuses ?? [];
      const shown = Object.fromEntries(Object.keys(is).map((member) => [member, status?.[member as keyof ContainerStatus]]));

      assert.deepEqual(shown, is);
    });
  }
});

test("the last termination state is reported", () => {
  const box = sandbox([container("c", running(NOW_MS), { attempt: 1 }), container("c", exited(3, NOW_MS))]);
  const terminated = { exitCode: 3, reason: "Error", startedAt: "1970-01-01T00:00:00Z", finishedAt: NOW, containerID: "test://c-0" };
  assert.deepEqual(statusOf({ sandbox: box }).containerStatuses?.[0]?.lastState, { terminated });
});

test("a Pod with hostNetwork has the node's IPs, and reported Pod IPs are kept", () => {
  const host = statusOf({ pod: pod({ hostNetwork: true }), sandbox: sandbox([], { ips: [] }) });
  const ended = statusOf({
    pod: pod({}, { phase: "Running", podIP: "10.0.0.9", podIPs: [{ ip: "10.0.0.9" }] }),
    sandbox: sandbox([], { ips: [] }),
  });

  assert.deepEqual([host.podIP, ended.podIP, ended.podIPs], ["192.0.2.1", "10.0.0.9", [{ ip: "10.0.0.9" }]]);
});

test("a Pod-level resize that is not in effect yet is allocated, and the resources are those before it", () => {
  const of = (memory: string) => ({ requests: { memory }, limits: { memory } });

  const status = statusOf({ pod: pod({ resources: of("10Ki") }), grantedPod: of("20Mi") });

  assert.deepEqual([status.allocatedResources, status.resources], [{ memory: "10Ki" }, of("20Mi")]);
});

test("container statuses are ordered by name, init container statuses by the spec", () => {
  const named = (...names: readonly string[]) => names.map((name) => ({ name, image: "i:1" }));
  const status = statusOf({ pod: pod({ containers: named("b", "a"), initContainers: named("z", "y") }) });

  const names = (statuses: readonly ContainerStatus[] = []) => statuses.map(({ name }) => name);
  assert.deepEqual(
    [names(status.containerStatuses), names(status.initContainerStatuses)],
    [
      ["a", "b"],
      ["z", "y"],
    ],
  );
});

const NEVER_STARTED = { waiting: { reason: "PodInitializing" } };
const LOST_AT_END = { terminated: { ...LOST, message: "The container could not be located when the pod was terminated" } };

for (const { it, init, before, regular, initState } of [
  { it: "failed", init: exited(1), regular: NEVER_STARTED },
  { it: "was killed while it ran", init: exited(137), regular: NEVER_STARTED },
  { it: "succeeded", init: exited(0), regular: LOST_AT_END },
  { it: "was never seen", init: undefined, regular: NEVER_STARTED, initState: LOST_AT_END },
  {
    it: "failed in a Pod whose container was reported as running",
    init: exited(1),
    before: [reported("c", { state: { running: { startedAt: NOW } } })],
    regular: LOST_AT_END,
  },
]) {
  test(`the app container of a deleted Pod whose init container ${it} is reported as upstream reports it`, () => {
    const status = statusOf({
      pod: pod(
        { initContainers: [INIT], restartPolicy: "Never" },
        { phase: "Pending", ...(before === undefined ? {} : { containerStatuses: before }) },
        { deletionTimestamp: NOW },
      ),
      sandbox: sandbox(init === undefined ? [] : [container("init", init)]),
      isTerminated: true,
    });

    assert.deepEqual(status.containerStatuses?.[0]?.state, regular);
    if (initState !== undefined) assert.deepEqual(status.initContainerStatuses?.[0]?.state, initState);
    assert.equal(status.phase, "Failed");
  });
}

for (const { mode, isSupported, reportedMode, expected } of [
  { mode: undefined, isSupported: true, expected: "Disabled" },
  { mode: "Disabled", isSupported: true, expected: "Disabled" },
  { mode: "IfPossible", isSupported: true, expected: "Enabled" },
  { mode: "IfPossible", isSupported: false, expected: "Disabled" },
  { mode: "Enabled", isSupported: true, expected: "Enabled" },
  { mode: "Enabled", isSupported: false, expected: "Disabled" },
  { mode: "IfPossible", isSupported: undefined, expected: "Disabled" },
  { mode: "IfPossible", isSupported: undefined, reportedMode: "Enabled", expected: "Enabled" },
] as const) {
  const support = isSupported === undefined ? `unknown support after ${reportedMode ?? "nothing"}` : `support ${isSupported}`;
  test(`a read-only mount with recursiveReadOnly ${mode} and ${support} is reported as ${expected}`, () => {
    const mount = { name: "v", mountPath: "/v", readOnly: true, ...(mode === undefined ? {} : { recursiveReadOnly: mode }) };
    const before = reportedMode === undefined ? [] : [{ name: "v", mountPath: "/v", readOnly: true, recursiveReadOnly: reportedMode }];
    const wanted = pod(
      { containers: [{ name: "c", image: "i:1", volumeMounts: [mount, { name: "v", mountPath: "/w" }] }] },
      { phase: "Running", containerStatuses: [reported("c", { volumeMounts: before })] },
    );
    const box = sandbox([container("c", running(NOW_MS))]);
    const { containerStatuses } = statusOf({ pod: wanted, sandbox: box, supportsRecursiveReadOnly: isSupported });
    assert.deepEqual(containerStatuses?.[0]?.volumeMounts, [
      { name: "v", mountPath: "/v", readOnly: true, recursiveReadOnly: expected },
      { name: "v", mountPath: "/w" },
    ]);
  });
}

test("the status of regular containers with claims shows the current health of their devices", () => {
  const claims = [{ name: "gpu" }];
  const health = [{ name: "claim:gpu", resources: [{ resourceID: "gpu.example.com/gpu=a", health: "Unhealthy" }] }];
  const wanted = pod(
    {
      initContainers: [{ name: "init", image: "i:1", resources: { claims } }],
      containers: [
        { name: "a", image: "i:1", resources: { claims } },
        { name: "b", image: "i:1" },
        { name: "c", image: "i:1", resources: { claims } },
      ],
    },
    { phase: "Running", containerStatuses: [reported("c", { allocatedResourcesStatus: health })] },
  );
  const box = sandbox(["a", "b", "c"].map((name) => container(name, running(NOW_MS))));

  const deviceHealth = ({ name }: { readonly name: string }) => (name === "c" ? [] : health);
  const { containerStatuses = [], initContainerStatuses = [] } = statusOf({ pod: wanted, sandbox: box, deviceHealth });

  const shown = [...initContainerStatuses, ...containerStatuses].map(({ allocatedResourcesStatus }) => allocatedResourcesStatus);
  assert.deepEqual(shown, [undefined, health, undefined, undefined]);
});
