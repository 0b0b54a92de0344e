/**
 * What is to be done for a Pod now, from what is wanted and what there is. A pure function: whoever does what it says and asks again comes
 * to the end of it, from wherever the last one stopped. What waits for a while says until when.
 *
 * Not here: what the API is told (pod-status.ts), doing it (pod-actions.ts), init containers (plan-init.ts), when it ends (plan-termination.ts).
 */
import type { Container, EphemeralContainer, Pod } from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { isExpiredAt, planEnd, stopGraceMs, stopGroups } from "./plan-termination.ts";
import { planInit } from "./plan-init.ts";
import { planResize, planWholeResize } from "./plan-resize.ts";
import type { Unhealthy } from "../../probes/pod-prober.ts";
import { Planning } from "./planning.ts";
import type { PodMemory } from "../pod-state.ts";
import { shouldRestart } from "./restart-policy.ts";
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";
import { isOfImage, newestContainer } from "../containers/runtime-containers.ts";

export type ContainerRole = "init" | "regular" | "ephemeral";

export type PodAction =
  /** Has what the Pod needs of the machine: volumes, directories. */
  | { readonly do: "prepare" }
  /** The place that the Pod had is lost: it gets another. */
  | { readonly do: "tell-sandbox-changed"; readonly id: string }
  | { readonly do: "run-sandbox" }
  | StartAction
  /** Groups one after the other; those of one group together. */
  | {
      readonly do: "stop-containers";
      readonly groups: readonly (readonly RuntimeContainer[])[];
      readonly graceMs: number;
      /** Of the time that hooks have, so much has passed before. */
      readonly passedMs?: number;
      readonly message?: string;
    }
  /** Has it use more or less than it was given, while it runs. */
  | { readonly do: "resize-container"; readonly id: string; readonly container: Container }
  /** The same of all of them together. */
  | { readonly do: "resize-pod" }
  | { readonly do: "remove-container"; readonly id: string }
  | { readonly do: "stop-sandbox"; readonly id: string }
  | { readonly do: "remove-sandbox"; readonly id: string };

export interface StartAction {
  readonly do: "start-container";
  readonly container: Container | EphemeralContainer;
  readonly role: ContainerRole;
  readonly attempt: number;
  /** Of one that was made before and never ran. */
  readonly madeId?: string;
  /** When the attempt before ended, if there was one: the next has to wait longer. */
  readonly endedAtMs?: number;
}

export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

export interface PodView {
  /** With what it was allocated, which is not always what it asks for. */
  readonly pod: Pod;
  /** It is no more in the API: all of it has to go. */
  readonly isGone: boolean;
  readonly sandbox: SandboxStatus | undefined;
  readonly memory: PodMemory;
  /** Containers that failed a probe and must not go on, by id. */
  readonly unhealthy?: Unhealthy | undefined;
  /** It was being deleted before this kubelet came. */
  readonly isResumed?: boolean;
  /** Containers of which a start was under way when the runtime was asked: it may be over since, and what was answered be too old for it. */
  readonly wasStarting?: ReadonlySet<string>;
  readonly nowMs: number;
}

export interface PodPlan {
  readonly actions: readonly PodAction[];
  /** Why containers are not started yet, by name. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Milliseconds since the epoch; undefined: not before something happens. */
  readonly lookAgainAtMs?: number;
  /** It is to end: nothing is to be started any more. */
  readonly isEnding: boolean;
  /** Nothing of it runs any more, or will. */
  readonly isOver: boolean;
  /** It ran for longer than it may. */
  readonly isPastDeadline: boolean;
}

export function planPod(view: PodView): PodPlan {
  const planning = new Planning(view);
  const isPastDeadline = isExpiredAt(view.pod, view.nowMs, planning);
  const isEnding = planEnd(view, planning, { isPastDeadline });
  if (!isEnding) planRun(view, planning);
  return planning.plan({ isPastDeadline, isEnding });
}

function planRun(view: PodView, planning: Planning): void {
  const { pod, sandbox, memory } = view;
  if (!memory.isPreparedFor(pod)) return planPreparation(view, planning);
  if (sandbox?.state !== "ready" && !planPlace(view, planning)) return;
  planEphemeral(view, planning);
  if (planInit(view, planning)) planRegular(view, planning);
  planWholeResize(view, planning);
}

/** Nothing is begun before everything is there. What runs goes on meanwhile. */
function planPreparation({ memory, nowMs }: PodView, planning: Planning): void {
  if (memory.isPreparing) return;
  if (memory.prepareRetryAtMs !== undefined && memory.prepareRetryAtMs > nowMs) return planning.lookAgain(memory.prepareRetryAtMs);
  planning.add({ do: "prepare" });
}

/**
 * Whether the Pod has a place then. What outlived its place is stopped as if the Pod ended, before there is another. Where it depends on how
 * that ends whether it runs again, it is looked at again first. A Pod that is never restarted gets no other place once something ran.
 */
function planPlace(view: PodView, planning: Planning): boolean {
  const { pod, sandbox, memory, nowMs } = view;
  if (memory.sandboxRetryAtMs !== undefined && memory.sandboxRetryAtMs > nowMs) {
    planning.lookAgain(memory.sandboxRetryAtMs);
    return false;
  }
  if (sandbox === undefined) {
    planning.add({ do: "run-sandbox" });
    return true;
  }
  const groups = stopGroups(view);
  const isForGood = isNeverRestarted(pod) && sandbox.containers.some(({ state }) => state.is !== "created");
  if (!isForGood && memory.changedSandbox !== sandbox.id) planning.add({ do: "tell-sandbox-changed", id: sandbox.id });
  if (groups.length > 0) planning.add({ do: "stop-containers", groups, graceMs: stopGraceMs(pod) });
  if (groups.length > 0 || !isForGood) planning.add({ do: "stop-sandbox", id: sandbox.id });
  if (isForGood || groups.some((group) => group.some(({ name }) => dependsOnItsEnd(name, pod)))) return false;
  planning.add({ do: "run-sandbox" });
  return true;
}

/** Neither the Pod nor a container of it by a rule of its own. */
function isNeverRestarted({ spec }: Pod): boolean {
  const initContainers = (spec?.initContainers ?? []).filter((container) => !isSidecar(container));
  const hasOwn = [...initContainers, ...(spec?.containers ?? [])].some(({ restartPolicy }) => restartPolicy !== undefined);
  return spec?.restartPolicy === "Never" && !hasOwn;
}

/** Whether it runs again is a matter of how it ends. */
function dependsOnItsEnd(name: string, { spec }: Pod): boolean {
  const container = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].find((one) => one.name === name);
  return container !== undefined && spec !== undefined && !shouldRestart(container, spec, 0);
}

function planEphemeral({ pod, sandbox }: PodView, planning: Planning): void {
  // They are for looking at what runs, so not before something can.
  if (sandbox?.state !== "ready") return;
  for (const container of pod.spec?.ephemeralContainers ?? []) {
    if (newestContainer(sandbox, container.name) === undefined && !hasRun(pod, container.name)) planning.start(container, "ephemeral");
  }
}

/** Of an ephemeral container, which is never run again, even if the runtime has forgotten it. */
function hasRun({ status }: Pod, name: string): boolean {
  const state = status?.ephemeralContainerStatuses?.find((one) => one.name === name)?.state;
  return state?.running !== undefined || state?.terminated !== undefined;
}

function planRegular(view: PodView, planning: Planning): void {
  const { pod, sandbox, unhealthy } = view;
  const { spec } = pod;
  if (spec === undefined) return;
  for (const container of spec.containers ?? []) {
    const known = newestContainer(sandbox, container.name);
    if (known?.state.is === "running" && sandbox?.state === "ready") {
      const failed = unhealthy?.get(known.id);
      if (!isOfImage(known, container)) planning.restart(container, known, { role: "regular" });
      else if (failed !== undefined) planning.restartUnhealthy(container, known, { role: "regular", failed });
      else planResize(container, known, "regular", view, planning);
    } else if (known?.state.is !== "exited" || shouldRestart(container, spec, known.state.exitCode)) {
      planning.start(container, "regular");
    }
  }
}
