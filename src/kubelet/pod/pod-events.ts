/** Events of a Pod and its containers, with upstream's reasons and messages. */
import type { Container, EphemeralContainer, Pod } from "../../api/generated/core/v1.ts";
import type { EventRecorder, RecordedEvent } from "../../client/events/event-recorder.ts";
import type { ImageProblem } from "../contracts/pod-machine.ts";
import type { ContainerRole, Waiting } from "./plan/plan-contract.ts";
import { DEADLINE } from "./status/pod-status.ts";

const MEMBERS = { init: "initContainers", regular: "containers", ephemeral: "ephemeralContainers" } as const;

export interface ContainerDefinition {
  readonly container: Container | EphemeralContainer;
  readonly role: ContainerRole;
}

/** Definition of a container in the spec; only the name if the spec does not have it. */
export function definitionOf({ spec }: Pod, name: string): ContainerDefinition {
  for (const role of ["regular", "init", "ephemeral"] as const) {
    const container = spec?.[MEMBERS[role]]?.find((candidate) => candidate.name === name);
    if (container !== undefined) return { container, role };
  }
  return { container: { name }, role: "regular" };
}

export function recordContainerEvent(recorder: EventRecorder, pod: Pod, name: string, event: RecordedEvent): void {
  recorder.record(pod, { ...event, fieldPath: `spec.${MEMBERS[definitionOf(pod, name).role]}{${name}}` });
}

/** Records that the image of a volume is not available. */
export function recordImageProblem(recorder: EventRecorder, pod: Pod, reference: string, { reason, message }: ImageProblem): void {
  const [event, detail] =
    reason === "ErrImagePull"
      ? ["Failed", `Failed to pull image "${reference}": ${message}`]
      : [reason === "InvalidImageName" ? "InspectFailed" : reason, message];
  recorder.record(pod, { type: "Warning", reason: event, message: detail });
  recorder.record(pod, { type: "Warning", reason: "Failed", message: `Error: ${reason}` });
}

/** Records that a container waits for its back-off. */
function recordBackOff(recorder: EventRecorder, pod: Pod, name: string, { reason, message: why }: Waiting): void {
  if (reason === "ImagePullBackOff") {
    // The image of the container or of a volume.
    const message = /^Back-off pulling image ".*?"/.exec(why)?.[0] ?? "Back-off pulling image";
    recordContainerEvent(recorder, pod, name, { type: "Normal", reason: "BackOff", message });
    recordContainerEvent(recorder, pod, name, { type: "Warning", reason: "Failed", message: "Error: ImagePullBackOff" });
  } else if (reason === "CrashLoopBackOff") {
    const message = `Back-off restarting failed container ${name} in pod ${podText(pod)}`;
    recordContainerEvent(recorder, pod, name, { type: "Warning", reason: "BackOff", message });
  }
}

/** Events that a Pod worker records once per occurrence, not once per pass. */
export class ReportedEvents {
  readonly #recorder: EventRecorder;
  /** Containers that were reported as waiting, with the reason. */
  #waiting: ReadonlyMap<string, Pick<Waiting, "reason">>;
  #isDeadlineRecorded = false;

  /** `waiting`: reported by an earlier kubelet process. */
  constructor(recorder: EventRecorder, waiting: ReadonlyMap<string, Pick<Waiting, "reason">>) {
    this.#recorder = recorder;
    this.#waiting = waiting;
  }

  /** Records a back-off each time that a container begins to wait for another reason. */
  recordWaiting(pod: Pod, waiting: ReadonlyMap<string, Waiting>): void {
    for (const [name, why] of waiting) if (this.#waiting.get(name)?.reason !== why.reason) recordBackOff(this.#recorder, pod, name, why);
    this.#waiting = waiting;
  }

  recordDeadline(pod: Pod): void {
    if (this.#isDeadlineRecorded) return;
    this.#isDeadlineRecorded = true;
    this.#recorder.record(pod, { type: "Normal", ...DEADLINE });
  }
}

/** "web_default(5f3c…)". */
export function podText({ metadata: { namespace = "", name, uid = "" } }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Formats a duration as Go does, in whole milliseconds: "250ms", "1.5s", "1m2.25s". */
export function formatDuration(durationMs: number): string {
  const milliseconds = Math.floor(durationMs);
  if (milliseconds === 0) return "0s";
  if (milliseconds < 1000) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / 60_000);
  const seconds = `${(milliseconds % 60_000) / 1000}s`;
  return minutes === 0 ? seconds : `${minutes}m${seconds}`;
}
