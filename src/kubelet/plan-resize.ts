/**
 * Containers whose resources were changed while they run: they are given what they are to have, or restarted where they want that for the
 * resource (`resizePolicy`). Only those of which it is known what they were given: a runtime that cannot change it has none.
 */
import type { Container, ResourceRequirements } from "../api/generated/core/v1.ts";
import type { Planning } from "./planning.ts";
import type { PodView } from "./pod-plan.ts";
import type { RuntimeContainer } from "./runtime.ts";

/** The others cannot be changed. */
const RESIZABLE = ["cpu", "memory"] as const;

export function planResize(container: Container, known: RuntimeContainer, { memory, nowMs }: PodView, planning: Planning): void {
  const granted = memory.granted.get(known.id);
  if (granted === undefined) return;
  const changed = RESIZABLE.filter((resource) => isChanged(granted, container.resources ?? {}, resource));
  if (changed.length === 0) return;
  if (changed.some((resource) => wantsRestart(container, resource)))
    return planning.restart(container, known, `Container ${container.name} resize requires restart`);
  if (memory.resizeRetryAtMs !== undefined && memory.resizeRetryAtMs > nowMs) return planning.lookAgain(memory.resizeRetryAtMs);
  planning.add({ do: "resize-container", id: known.id, container });
}

function isChanged(before: ResourceRequirements, after: ResourceRequirements, resource: string): boolean {
  // The server has brought both into one form.
  return (["requests", "limits"] as const).some((part) => before[part]?.[resource] !== after[part]?.[resource]);
}

function wantsRestart({ resizePolicy = [] }: Container, resource: string): boolean {
  return resizePolicy.some(({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === "RestartContainer");
}
