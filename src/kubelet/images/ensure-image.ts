/**
 * Ensures that the image of a container is present, by its pull policy, and records upstream's events. Failures are stored for the next
 * plan and recorded, never thrown.
 */
import type { Container, EphemeralContainer, Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { EventRecorder, RecordedEvent } from "../../client/events/event-recorder.ts";
import type { PodWorkerMemory } from "../pod/pod-state.ts";
import type { PodMachine } from "../contracts/pod-machine.ts";
import { invalidName } from "../shared/image-reference.ts";
import type { PullOptions, PullProgress, Runtime } from "../contracts/runtime.ts";
import { formatDuration, messageOf, recordContainerEvent } from "../pod/pod-events.ts";

export interface ImageOptions {
  readonly runtime: Runtime;
  readonly machine?: PodMachine | undefined;
  readonly recorder: EventRecorder;
  readonly memory: PodWorkerMemory;
  readonly clock: Clock;
  /** Called after an image was pulled. */
  onImage(): void;
  /** Called while a slow pull is in progress. */
  onPull?(image: string, done: PullProgress): void;
}

/** A container start that waits for an image. */
export interface Wanting {
  readonly isGivenUp: boolean;
  /** Resolves when the start is cancelled. */
  readonly givenUp: Promise<void>;
  signal(): AbortSignal;
}

interface Wanted {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly wanting: Wanting;
  record(event: RecordedEvent): void;
}

/** Resolves with the image id; undefined if the image is not available now, or the start was cancelled. */
export async function ensureImage(
  pod: Pod,
  container: Container | EphemeralContainer,
  wanting: Wanting,
  options: ImageOptions,
): Promise<string | undefined> {
  const { runtime, recorder } = options;
  const { name, image = "", imagePullPolicy = "IfNotPresent" } = container;
  const wanted: Wanted = { pod, container, wanting, record: (event) => recordContainerEvent(recorder, pod, name, event) };
  const invalid = invalidName(image);
  if (invalid !== undefined) return refuseName(wanted, invalid, options);
  try {
    const present = imagePullPolicy === "Always" ? undefined : await runtime.imageStatus(image);
    if (present === undefined) return imagePullPolicy === "Never" ? refuse(wanted, options) : await pull(wanted, options);
    const message = `Container image "${image}" already present on machine and can be accessed by the pod`;
    wanted.record({ type: "Normal", reason: "Pulled", message });
    return present.id;
  } catch (error) {
    if (wanting.isGivenUp) return undefined;
    return couldNotInspect(wanted, error, options);
  }
}

function refuse({ container: { name, image = "" }, record }: Wanted, { memory, clock }: ImageOptions): undefined {
  const message = `Container image "${image}" is not present with pull policy of Never`;
  memory.couldNotStart(name, { reason: "ErrImageNeverPull", message }, clock.now());
  record({ type: "Warning", reason: "ErrImageNeverPull", message });
  record({ type: "Warning", reason: "Failed", message: "Error: ErrImageNeverPull" });
}

/** Nothing was pulled, so there is no back-off. */
function refuseName({ container: { name }, record }: Wanted, message: string, { memory, clock }: ImageOptions): undefined {
  memory.couldNotStart(name, { reason: "InvalidImageName", message }, clock.now());
  record({ type: "Warning", reason: "InspectFailed", message });
  record({ type: "Warning", reason: "Failed", message: "Error: InvalidImageName" });
}

function couldNotInspect({ container: { name, image = "" }, record }: Wanted, error: unknown, { memory, clock }: ImageOptions): undefined {
  const message = `Failed to inspect image "${image}": ${messageOf(error)}`;
  memory.couldNotStart(name, { reason: "ImageInspectError", message, error }, clock.now());
  record({ type: "Warning", reason: "InspectFailed", message });
  record({ type: "Warning", reason: "Failed", message: "Error: ImageInspectError" });
}

async function pull(wanted: Wanted, options: ImageOptions): Promise<string | undefined> {
  const { runtime, memory, clock, onImage } = options;
  const { wanting, record } = wanted;
  const { image = "" } = wanted.container;
  const begunAtMs = clock.monotonic();
  record({ type: "Normal", reason: "Pulling", message: `Pulling image "${image}"` });
  try {
    const id = await Promise.race([startPull(wanted, options), wanting.givenUp]);
    if (id === undefined || wanting.isGivenUp) return undefined;
    memory.pulls.delete(image);
    onImage();
    const took = formatDuration(clock.monotonic() - begunAtMs);
    const sizeBytes = (await runtime.imageStatus(image))?.sizeBytes ?? 0;
    const message = `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: ${sizeBytes} bytes.`;
    record({ type: "Normal", reason: "Pulled", message });
    return id;
  } catch (error) {
    if (wanting.isGivenUp) return undefined;
    const reason = "ErrImagePull";
    memory.couldNotPull(image, { reason, message: messageOf(error) }, clock.now());
    record({ type: "Warning", reason: "Failed", message: `Failed to pull image "${image}": ${messageOf(error)}` });
    record({ type: "Warning", reason: "Failed", message: `Error: ${reason}` });
    return undefined;
  }
}

async function startPull({ pod, container: { image = "" }, wanting }: Wanted, { runtime, machine, onPull }: ImageOptions): Promise<string> {
  if (machine === undefined) return runtime.pullImage(image, pod);
  const credentials = await machine.credentials(pod, image);
  const { runtimeHandler } = await machine.sandbox(pod);
  const options: PullOptions = {
    ...{ credentials, signal: wanting.signal(), runtimeHandler },
    ...(onPull === undefined ? {} : { onProgress: (done) => onPull(image, done) }),
  };
  return runtime.pullImage(image, pod, options);
}
