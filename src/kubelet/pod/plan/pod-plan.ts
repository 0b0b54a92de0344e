/**
 * Computes what to do for a Pod now, from its spec and the state of the runtime. A pure function: performing its actions and planning again
 * converges from any intermediate state. A container that has to wait has a time for the next sync.
 *
 * Not here: the reported status (pod-status.ts), performing actions (pod-actions.ts), init containers (plan-init.ts), termination
 * (plan-termination.ts).
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { isExpiredAt, planEnd, stopGroups } from "./plan-termination.ts";
import { stopGraceMs } from "../../shared/grace-period.ts";
import { planInit } from "./plan-init.ts";
import { planRestartAll } from "./restart-all.ts";
import { planResize, planWholeResize } from "./plan-resize.ts";
import type { PodPlan, PodView } from "./plan-contract.ts";
import { Planning } from "./planning.ts";
import { shouldRestart } from "./restart-policy.ts";
import { isOfImage, newestContainer } from "../containers/runtime-containers.ts";

export function planPod(view: PodView): PodPlan {
  const planning = new Planning(view);
  const isPastDeadline = isExpiredAt(view.pod, view.nowMs, planning);
  const isTerminating = planEnd(view, planning, { isPastDeadline });
  if (!isTerminating) planRun(view, planning);
  return planning.plan({ isPastDeadline, isTerminating });
}

function planRun(view: PodView, planning: Planning): void {
  const { pod, sandbox, memory } = view;
  if (planRestartAll(view, planning)) return;
  if (!memory.isPreparedFor(pod)) return planPreparation(view, planning);
  if (sandbox?.state !== "ready" && !planPlace(view, planning)) return;
  planEphemeral(view, planning);
  if (planInit(view, planning)) planRegular(view, planning);
  planWholeResize(view, planning);
}

/** Nothing starts before the preparation is complete. Running containers continue. */
function planPreparation({ memory, nowMs }: PodView, planning: Planning): void {
  if (memory.isPreparing || planning.waitForVolumeImages()) return;
  if (memory.prepareRetryAtMs !== undefined && memory.prepareRetryAtMs > nowMs) return planning.syncAt(memory.prepareRetryAtMs);
  planning.add({ do: "prepare" });
}

/**
 * Returns whether the Pod will have a sandbox. Containers that outlived theirs are stopped as in a termination before it is recreated. If
 * restarting depends on their exit codes, the next sync decides. A Pod that never restarts gets no other sandbox once something ran.
 */
function planPlace(view: PodView, planning: Planning): boolean {
  const { pod, sandbox, memory, nowMs } = view;
  if (memory.sandboxRetryAtMs !== undefined && memory.sandboxRetryAtMs > nowMs) {
    planning.syncAt(memory.sandboxRetryAtMs);
    return false;
  }
  if (sandbox === undefined) {
    planning.add({ do: "run-sandbox" });
    return true;
  }
  const groups = stopGroups(view);
  const isForGood = isNeverRestarted(pod) && sandbox.containers.some(({ state }) => state.is !== "created");
  if (!isForGood && memory.changedSandbox !== sandbox.id) planning.add({ do: "record-sandbox-changed", id: sandbox.id });
  if (groups.length > 0) planning.add({ do: "stop-containers", groups, graceMs: stopGraceMs(pod) });
  if (groups.length > 0 || !isForGood) planning.add({ do: "stop-sandbox", id: sandbox.id });
  if (isForGood || groups.some((group) => group.some(({ name }) => dependsOnItsEnd(name, pod)))) return false;
  planning.add({ do: "run-sandbox" });
  return true;
}

/** Neither the Pod nor a container rule allows a restart. */
function isNeverRestarted({ spec }: Pod): boolean {
  const initContainers = (spec?.initContainers ?? []).filter((container) => !isSidecar(container));
  const hasOwn = [...initContainers, ...(spec?.containers ?? [])].some(({ restartPolicy }) => restartPolicy !== undefined);
  return spec?.restartPolicy === "Never" && !hasOwn;
}

/** Whether it restarts depends on its exit code. */
function dependsOnItsEnd(name: string, { spec }: Pod): boolean {
  const container = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].find((one) => one.name === name);
  return container !== undefined && spec !== undefined && !shouldRestart(container, spec, 0);
}

function planEphemeral({ pod, sandbox }: PodView, planning: Planning): void {
  // Ephemeral containers inspect running ones, so they start only after the sandbox is ready.
  if (sandbox?.state !== "ready") return;
  for (const container of pod.spec?.ephemeralContainers ?? []) {
    if (newestContainer(sandbox, container.name) === undefined && !hasRun(pod, container.name)) planning.start(container, "ephemeral");
  }
}

/** State of an ephemeral container, which is never restarted, even if the runtime no longer has it. */
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
