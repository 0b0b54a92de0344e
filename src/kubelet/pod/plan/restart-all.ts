/**
 * Restart rules with the action RestartAllContainers: when a container exits with such a code, all init and regular containers are killed
 * and removed, and the Pod runs again from its first init container, in the same sandbox. Ephemeral containers keep running.
 *
 * The Pod's condition AllContainersRestarting is written before anything is removed and again afterwards, so that a kubelet that crashes
 * in between continues, and containers that were removed do not count as failed. Containers that demanded the restart are removed last.
 */
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import { findCondition } from "../../../api/machinery/conditions.ts";
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";
import { newestContainer } from "../containers/runtime-containers.ts";
import type { PodView } from "./plan-contract.ts";
import type { Planning } from "./planning.ts";
import { matchingRule, RESTART_ALL } from "./restart-policy.ts";

export const ALL_RESTARTING = "AllContainersRestarting";

/** Reason of the states of containers that were removed. */
export const RESTARTING_ALL = "RestartingAllContainers";

export type RestartAllView = Pick<PodView, "pod" | "sandbox">;

/** Whether a rule of the Pod may restart all containers. */
export function mayRestartAll({ spec }: Pod): boolean {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === RESTART_ALL),
  );
}

/** Whether all containers are to be restarted: it was begun, or a container demands it. */
export function isRestartAllDue({ pod, sandbox }: RestartAllView): boolean {
  if (!mayRestartAll(pod)) return false;
  if (isMarkedRestarting(pod)) return true;
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const reported = [...initContainerStatuses, ...containerStatuses];
  return containersOf(pod).some((container) => {
    const state = newestContainer(sandbox, container.name)?.state;
    if (state !== undefined) return state.is === "exited" && demands(container, state.exitCode);
    const terminated = reported.find(({ name }) => name === container.name)?.state?.terminated;
    return terminated !== undefined && demands(container, terminated.exitCode);
  });
}

/** The Pod's status says that its containers are being restarted. */
export function isMarkedRestarting({ status }: Pod): boolean {
  return findCondition(status?.conditions, ALL_RESTARTING)?.status === "True";
}

/** Nothing of the init and regular containers is left in the runtime. */
export function isCleanedUp({ pod, sandbox }: RestartAllView): boolean {
  const names = new Set(containersOf(pod).map(({ name }) => name));
  return !(sandbox?.containers ?? []).some(({ name }) => names.has(name));
}

/** Returns whether the plan is complete: all containers are being restarted. */
export function planRestartAll(view: PodView, planning: Planning): boolean {
  const { pod, sandbox, memory, nowMs } = view;
  if (isRestartAllDue(view)) {
    // The status is written first when it begins, and when everything is removed.
    if (!isMarkedRestarting(pod) || isCleanedUp(view)) planning.reportFirst();
    else planning.add({ do: "reset-containers", ...containersToReset(pod, sandbox) });
    return true;
  }
  const { restartAll } = memory;
  if (restartAll === undefined || restartAll.retryAtMs <= nowMs) return false;
  planning.waitAll(containersOf(pod), restartAll);
  return true;
}

/** `others` are removed before `sources`, which demanded the restart: regular containers first, all attempts. */
function containersToReset(pod: Pod, sandbox: SandboxStatus | undefined) {
  const known = (containers: readonly Container[]): readonly { readonly of: Container; readonly is: RuntimeContainer }[] =>
    containers.flatMap((of) => (sandbox?.containers ?? []).filter(({ name }) => name === of.name).map((is) => ({ of, is })));
  const all = [...known(pod.spec?.containers ?? []), ...known(pod.spec?.initContainers ?? [])];
  const isSource = ({ of, is: { state } }: (typeof all)[number]): boolean => state.is === "exited" && demands(of, state.exitCode);
  return {
    others: all.filter((one) => !isSource(one)).map(({ is }) => is),
    sources: all.filter(isSource).map(({ is }) => is),
  };
}

function containersOf({ spec }: Pod): readonly Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

function demands(container: Container, exitCode: number): boolean {
  return matchingRule(container, exitCode)?.action === RESTART_ALL;
}
