/** Has the image of a container there, by its pull policy, and tells people about it. What fails is remembered and told, never thrown. */
import type { Container, EphemeralContainer, Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { EventRecorder, RecordedEvent } from "../../client/events/event-recorder.ts";
import type { PodWorkerMemory } from "../pod/pod-state.ts";
import type { PodMachine } from "../contracts/pod-machine.ts";
import { withTag } from "./image-reference.ts";
import type { PullOptions, PullProgress, Runtime } from "../contracts/runtime.ts";
import { formatDuration, messageOf, recordContainerEvent } from "../pod/pod-events.ts";

export interface ImageOptions {
  readonly runtime: Runtime;
  readonly machine?: PodMachine | undefined;
  readonly recorder: EventRecorder;
  readonly memory: PodWorkerMemory;
  readonly clock: Clock;
  /** An image was pulled. */
  onImage(): void;
  /** One is being pulled, and it takes its time. */
  onPull?(image: string, done: PullProgress): void;
}

/** Somebody who waits for an image, until it is not wanted any more. */
export interface Wanting {
  readonly isGivenUp: boolean;
  /** Resolves when it is given up. */
  readonly givenUp: Promise<void>;
  signal(): AbortSignal;
}

interface Wanted {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly wanting: Wanting;
  tell(event: RecordedEvent): void;
}

/** Resolves with its id; undefined if it cannot be had now, or is not wanted any more. */
export async function ensureImage(
  pod: Pod,
  container: Container | EphemeralContainer,
  wanting: Wanting,
  options: ImageOptions,
): Promise<string | undefined> {
  const { runtime, recorder } = options;
  const { name, image = "", imagePullPolicy = "IfNotPresent" } = container;
  const wanted: Wanted = { pod, container, wanting, tell: (event) => recordContainerEvent(recorder, pod, name, event) };
  const invalid = invalidName(image);
  if (invalid !== undefined) return refuseName(wanted, invalid, options);
  try {
    const present = imagePullPolicy === "Always" ? undefined : await runtime.imageStatus(image);
    if (present === undefined) return imagePullPolicy === "Never" ? refuse(wanted, options) : await pull(wanted, options);
    const message = `Container image "${image}" already present on machine and can be accessed by the pod`;
    wanted.tell({ type: "Normal", reason: "Pulled", message });
    return present.id;
  } catch (error) {
    if (wanting.isGivenUp) return undefined;
    return couldNotInspect(wanted, error, options);
  }
}

function refuse({ container: { name, image = "" }, tell }: Wanted, { memory, clock }: ImageOptions): undefined {
  const message = `Container image "${image}" is not present with pull policy of Never`;
  memory.couldNotStart(name, { reason: "ErrImageNeverPull", message }, clock.now());
  tell({ type: "Warning", reason: "ErrImageNeverPull", message });
  tell({ type: "Warning", reason: "Failed", message: "Error: ErrImageNeverPull" });
}

/** Undefined: it can be the name of an image. */
function invalidName(image: string): string | undefined {
  try {
    withTag(image);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Nobody is asked for it, so there is nothing to be patient about. */
function refuseName({ container: { name }, tell }: Wanted, message: string, { memory, clock }: ImageOptions): undefined {
  memory.couldNotStart(name, { reason: "InvalidImageName", message }, clock.now());
  tell({ type: "Warning", reason: "InspectFailed", message });
  tell({ type: "Warning", reason: "Failed", message: "Error: InvalidImageName" });
}

function couldNotInspect({ container: { name, image = "" }, tell }: Wanted, error: unknown, { memory, clock }: ImageOptions): undefined {
  const message = `Failed to inspect image "${image}": ${messageOf(error)}`;
  memory.couldNotStart(name, { reason: "ImageInspectError", message, error }, clock.now());
  tell({ type: "Warning", reason: "InspectFailed", message });
  tell({ type: "Warning", reason: "Failed", message: "Error: ImageInspectError" });
}

async function pull(wanted: Wanted, options: ImageOptions): Promise<string | undefined> {
  const { runtime, memory, clock, onImage } = options;
  const { wanting, tell } = wanted;
  const { image = "" } = wanted.container;
  const begunAtMs = clock.monotonic();
  tell({ type: "Normal", reason: "Pulling", message: `Pulling image "${image}"` });
  try {
    const id = await Promise.race([startPull(wanted, options), wanting.givenUp]);
    if (id === undefined || wanting.isGivenUp) return undefined;
    memory.pulls.delete(image);
    onImage();
    const took = formatDuration(clock.monotonic() - begunAtMs);
    const sizeBytes = (await runtime.imageStatus(image))?.sizeBytes ?? 0;
    const message = `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: ${sizeBytes} bytes.`;
    tell({ type: "Normal", reason: "Pulled", message });
    return id;
  } catch (error) {
    if (wanting.isGivenUp) return undefined;
    const reason = "ErrImagePull";
    memory.couldNotPull(image, { reason, message: messageOf(error) }, clock.now());
    tell({ type: "Warning", reason: "Failed", message: `Failed to pull image "${image}": ${messageOf(error)}` });
    tell({ type: "Warning", reason: "Failed", message: `Error: ${reason}` });
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
