/**
 * What `pods/log` asks of a node: of which container the log is, which of its lines, and how they are written. Whether there is a log is
 * decided by what the API was told of the container, in upstream's words, so that who reads the status and the log sees one story.
 * Not here: where logs are kept (the runtime), and the request itself (whoever serves it).
 */
import type { ContainerStatus, Pod, PodLogOptions } from "../../api/generated/core/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { parseTime } from "../../api/machinery/time.ts";
import type { LogLine, LogOptions } from "../contracts/runtime.ts";

/** The id as the runtime knows it, or why there is nothing to read: a bad request. */
export type LoggedContainer = { readonly is: "there"; readonly id: string } | { readonly is: "refused"; readonly message: string };

export function loggedContainer(pod: Pod, name: string, { previous = false } = {}): LoggedContainer {
  const subject = `container ${quoteGo(name)} in pod ${quoteGo(pod.metadata.name ?? "")}`;
  const status = statusOf(pod, name);
  if (status === undefined) return { is: "refused", message: `${subject} is not available` };
  const { running, terminated, waiting } = status.state ?? {};
  const last = status.lastState?.terminated;
  if (previous) return withId(last?.containerID, `previous terminated ${subject} not found`);
  if (running !== undefined) return withId(status.containerID, `${subject} is not available`);
  // One that ended before it was made has no log; the one before it may have.
  if (terminated !== undefined) return withId(terminated.containerID || last?.containerID, `${subject} is terminated`);
  if (last !== undefined) return withId(last.containerID, `${subject} is terminated`);
  return { is: "refused", message: `${subject} is waiting to start: ${waitingFor(waiting?.reason ?? "")}` };
}

function statusOf({ status }: Pod, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find((candidate) => candidate.name === name);
}

/** The API has "containerd://<id>". */
function withId(containerId: string | undefined, otherwise: string): LoggedContainer {
  if (containerId === undefined || containerId === "") return { is: "refused", message: otherwise };
  return { is: "there", id: containerId.slice(containerId.indexOf("://") + "://".length) };
}

/** Upstream explains the most common of what Pods wait for. */
function waitingFor(reason: string): string {
  if (reason === "ErrImagePull") return "image can't be pulled";
  return reason === "ImagePullBackOff" ? "trying and failing to pull image" : reason;
}

/** Numbers may be bigints: whoever asks for more than 2^53 of something gets all there is. */
export function runtimeLogOptions({ follow = false, sinceSeconds, sinceTime, tailLines }: LogSelection, nowMs: number): LogOptions {
  const sinceMs = sinceSeconds !== undefined ? nowMs - Number(sinceSeconds) * 1000 : parseTime(sinceTime ?? "");
  return { follow, ...(sinceMs === undefined ? {} : { sinceMs }), ...(tailLines === undefined ? {} : { tailLines: Number(tailLines) }) };
}

export type LogSelection = Pick<PodLogOptions, "follow" | "sinceSeconds" | "sinceTime" | "tailLines">;

/**
 * The bytes of the log, a piece for each line. A line that the runtime wrote in parts is one line, with the moment of its first part. The
 * last is cut where there are as many bytes as were asked for.
 */
export async function* logBytes(
  lines: AsyncIterable<LogLine>,
  { timestamps = false, limitBytes = Infinity }: Pick<PodLogOptions, "timestamps" | "limitBytes">,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let leftBytes = Number(limitBytes);
  let isNewLine = true;
  for await (const line of lines) {
    const start = timestamps && isNewLine ? `${lineTime(line)} ` : "";
    isNewLine = line.isPartial !== true;
    const bytes = encoder.encode(`${start}${line.text}${isNewLine ? "\n" : ""}`);
    yield bytes.length > leftBytes ? bytes.subarray(0, leftBytes) : bytes;
    leftBytes -= bytes.length;
    // Not with the next line, which may never come.
    if (leftBytes <= 0) return;
  }
}

/** With all nine digits, as upstream's logs have them. Runtimes leave away zeros at the end. */
function lineTime({ atMs, time = new Date(atMs).toISOString() }: LogLine): string {
  const [, upToSeconds = time, fraction = "", zone = ""] = /^([^.Z+]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  return zone === "" ? time : `${upToSeconds}.${fraction.padEnd(9, "0")}${zone}`;
}
