/**
 * Plans containers whose allocated resources differ from those granted: they are resized in place, or restarted where `resizePolicy`
 * demands it. A change of Pod-level resources affects all containers, because they inherit what they do not set. Only containers with known
 * granted resources are considered; a runtime that cannot resize has none.
 */
import type { Container, Pod, ResourceRequirements } from "../../../api/generated/core/v1.ts";
import { isChanged, isResized, RESIZABLE } from "../../resize/allocation.ts";
import type { Planning } from "./planning.ts";
import type { PodMemory } from "../pod-state.ts";
import type { PodView } from "./plan-contract.ts";
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";
import { newestContainer } from "../containers/runtime-containers.ts";

export function planResize(
  container: Container,
  known: RuntimeContainer,
  role: "init" | "regular",
  { pod, memory, nowMs }: PodView,
  planning: Planning,
): void {
  const granted = memory.granted.get(known.id);
  if (granted === undefined) return;
  const before = withInherited(granted, memory.grantedAround.get(known.id) ?? memory.grantedPod);
  const after = withInherited(container.resources, pod.spec?.resources);
  const changed = RESIZABLE.filter((resource) => isChanged(before, after, resource));
  if (changed.length === 0 && !isWholeResized(pod, memory)) return;
  if (changed.some((resource) => wantsRestart(container, resource)))
    return planning.restart(container, known, { role, message: `Container ${container.name} resize requires restart` });
  if (memory.resizeRetryAtMs !== undefined && memory.resizeRetryAtMs > nowMs) return planning.syncAt(memory.resizeRetryAtMs);
  planning.add({ do: "resize-container", id: known.id, container });
}

/** After its containers. */
export function planWholeResize({ pod, sandbox, memory, nowMs }: PodView, planning: Planning): void {
  if (sandbox?.state !== "ready" || !isWholeResized(pod, memory)) return;
  if (memory.resizeRetryAtMs !== undefined && memory.resizeRetryAtMs > nowMs) return planning.syncAt(memory.resizeRetryAtMs);
  planning.add({ do: "resize-pod" });
}

/** Whether a running container lacks its allocated resources. Containers that do not run get them when they start. */
export function isResizing(pod: Pod, sandbox: SandboxStatus | undefined, memory: Pick<PodMemory, "granted" | "grantedPod">): boolean {
  if (sandbox?.state === "ready" && isWholeResized(pod, memory)) return true;
  return [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].some(({ name, resources }) => {
    const known = newestContainer(sandbox, name);
    const granted = known?.state.is === "running" ? memory.granted.get(known.id) : undefined;
    return granted !== undefined && isResized(granted, resources);
  });
}

/** What the kernel enforces for a container: where it has no limit, that of the Pod. */
function withInherited(own: ResourceRequirements = {}, pod: ResourceRequirements = {}): ResourceRequirements {
  return { ...own, limits: { ...pod.limits, ...own.limits } };
}

function isWholeResized({ spec }: Pod, { grantedPod }: Pick<PodMemory, "grantedPod">): boolean {
  return grantedPod !== undefined && isResized(grantedPod, spec?.resources);
}

function wantsRestart({ resizePolicy = [] }: Container, resource: string): boolean {
  return resizePolicy.some(({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === "RestartContainer");
}
