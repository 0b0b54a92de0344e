/**
 * Plans init containers in order: each has to succeed before the next starts; sidecars only have to be started. Once a regular container
 * was created, only sidecars are kept running. Not here: a Pod that fails because an init container may not be restarted
 * (plan-termination.ts).
 */
import type { Container } from "../../../api/generated/core/v1.ts";
import { isSidecar } from "../../../api/core/v1/pod/containers.ts";
import { planResize } from "./plan-resize.ts";
import type { Planning } from "./planning.ts";
import type { PodView } from "./plan-contract.ts";
import { isRunning, isStarted, newestContainer, presentContainer } from "../containers/runtime-containers.ts";

/** Returns whether the regular containers may run. */
export function planInit(view: PodView, planning: Planning): boolean {
  const containers = view.pod.spec?.initContainers ?? [];
  if (containers.length === 0) return true;
  if (view.sandbox?.state === "ready" && hasBegun(view)) {
    for (const container of containers) if (isSidecar(container)) keepRunning(container, view, planning);
    return true;
  }
  return containers.every((container, index) => isDone(container, { isPassed: isPassed(index, view) }, view, planning));
}

/** A regular container was created, so all init containers succeeded, even if the runtime no longer has them. */
export function hasBegun({ pod, sandbox }: Pick<PodView, "pod" | "sandbox">): boolean {
  return (pod.spec?.containers ?? []).some(({ name }) => presentContainer(sandbox, name) !== undefined);
}

/** A later init container was created, so this one succeeded before. */
function isPassed(index: number, { pod, sandbox }: PodView): boolean {
  if (sandbox?.state !== "ready") return false;
  return (pod.spec?.initContainers ?? []).slice(index + 1).some(({ name }) => presentContainer(sandbox, name) !== undefined);
}

function isDone(container: Container, { isPassed: passed }: { readonly isPassed: boolean }, view: PodView, planning: Planning): boolean {
  const known = view.sandbox?.state === "ready" ? presentContainer(view.sandbox, container.name) : undefined;
  if (isSidecar(container)) {
    keepRunning(container, view, planning);
    return passed || isStarted(known);
  }
  if (passed || (known?.state.is === "exited" && known.state.exitCode === 0)) return true;
  if (known === undefined || !isRunning(known)) planning.start(container, "init");
  else planResize(container, known, "init", view, planning);
  return false;
}

function keepRunning(container: Container, view: PodView, planning: Planning): void {
  const { sandbox, unhealthy } = view;
  const known = newestContainer(sandbox, container.name);
  if (sandbox?.state !== "ready" || known === undefined || !isRunning(known)) return planning.start(container, "init");
  const failed = unhealthy?.get(known.id);
  if (failed !== undefined) planning.restartUnhealthy(container, known, { role: "init", failed });
  else planResize(container, known, "init", view, planning);
}
