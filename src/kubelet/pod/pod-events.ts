/** What people are told about a Pod and its containers, as Events in upstream's words. */
import type { Container, EphemeralContainer, Pod } from "../../api/generated/core/v1.ts";
import type { EventRecorder, RecordedEvent } from "../../client/events/event-recorder.ts";
import type { ContainerRole } from "./plan/pod-plan.ts";

const MEMBERS = { init: "initContainers", regular: "containers", ephemeral: "ephemeralContainers" } as const;

export interface ContainerDefinition {
  readonly container: Container | EphemeralContainer;
  readonly role: ContainerRole;
}

/** What the Pod says about a container; of one that it does not know any more, only the name. */
export function definitionOf({ spec }: Pod, name: string): ContainerDefinition {
  for (const role of ["regular", "init", "ephemeral"] as const) {
    const container = spec?.[MEMBERS[role]]?.find((candidate) => candidate.name === name);
    if (container !== undefined) return { container, role };
  }
  return { container: { name }, role: "regular" };
}

export function tellContainer(recorder: EventRecorder, pod: Pod, name: string, event: RecordedEvent): void {
  recorder.record(pod, { ...event, fieldPath: `spec.${MEMBERS[definitionOf(pod, name).role]}{${name}}` });
}

/** That a container has to wait before it is tried again. */
export function tellBackOff(recorder: EventRecorder, pod: Pod, name: string, reason: string): void {
  if (reason === "ImagePullBackOff") {
    const { image = "" } = definitionOf(pod, name).container;
    tellContainer(recorder, pod, name, { type: "Normal", reason: "BackOff", message: `Back-off pulling image "${image}"` });
    tellContainer(recorder, pod, name, { type: "Warning", reason: "Failed", message: "Error: ImagePullBackOff" });
  } else if (reason === "CrashLoopBackOff") {
    const message = `Back-off restarting failed container ${name} in pod ${podText(pod)}`;
    tellContainer(recorder, pod, name, { type: "Warning", reason: "BackOff", message });
  }
}

/** "web_default(5f3c…)". */
export function podText({ metadata: { namespace = "", name, uid = "" } }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** As Go writes it, in whole milliseconds: "250ms", "1.5s", "1m2.25s". */
export function formatDuration(durationMs: number): string {
  const milliseconds = Math.floor(durationMs);
  if (milliseconds === 0) return "0s";
  if (milliseconds < 1000) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / 60_000);
  const seconds = `${(milliseconds % 60_000) / 1000}s`;
  return minutes === 0 ? seconds : `${minutes}m${seconds}`;
}
