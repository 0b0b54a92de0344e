/**
 * Implements `pods/log` on the node: selects the container, translates the options, and formats the lines. Whether a log exists is decided
 * by the reported status, with upstream's messages, so that status and log agree. Not here: storage of logs (the runtime) and the HTTP
 * request (server/log-pages.ts).
 */
import type { ContainerStatus, Pod, PodLogOptions } from "../../api/generated/core/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { parseTime } from "../../api/machinery/time.ts";
import type { LogLine, LogOptions } from "../contracts/runtime.ts";

/** The container id in the runtime, or why there is no log: a bad request. */
export type LoggedContainer = { readonly is: "there"; readonly id: string } | { readonly is: "refused"; readonly message: string };

export function loggedContainer(pod: Pod, name: string, { previous = false } = {}): LoggedContainer {
  const subject = `container ${quoteGo(name)} in pod ${quoteGo(pod.metadata.name ?? "")}`;
  const status = statusOf(pod, name);
  if (status === undefined) return { is: "refused", message: `${subject} is not available` };
  const { running, terminated, waiting } = status.state ?? {};
  const last = status.lastState?.terminated;
  if (previous) return withId(last?.containerID, `previous terminated ${subject} not found`);
  if (running !== undefined) return withId(status.containerID, `${subject} is not available`);
  // A container that terminated before it was created has no log; the previous one may have.
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

/** Upstream's messages for the most common waiting reasons. */
function waitingFor(reason: string): string {
  if (reason === "ErrImagePull") return "image can't be pulled";
  return reason === "ImagePullBackOff" ? "trying and failing to pull image" : reason;
}

/** Numbers may be bigints: a limit above 2^53 means no limit. */
export function runtimeLogOptions({ follow = false, sinceSeconds, sinceTime, tailLines }: LogSelection, nowMs: number): LogOptions {
  const sinceMs = sinceSeconds !== undefined ? nowMs - Number(sinceSeconds) * 1000 : parseTime(sinceTime ?? "");
  return { follow, ...(sinceMs === undefined ? {} : { sinceMs }), ...(tailLines === undefined ? {} : { tailLines: Number(tailLines) }) };
}

export type LogSelection = Pick<PodLogOptions, "follow" | "sinceSeconds" | "sinceTime" | "tailLines">;

/**
 * The bytes of the log, one chunk per line. Lines that the runtime wrote in parts are joined, with the timestamp of the first part. The
 * last chunk is cut at the requested number of bytes.
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
    // Ends here and not with the next line, which may never arrive.
    if (leftBytes <= 0) return;
  }
}

/** With nine digits, as in upstream's logs. Runtimes omit trailing zeros. */
function lineTime({ atMs, time = new Date(atMs).toISOString() }: LogLine): string {
  const [, upToSeconds = time, fraction = "", zone = ""] = /^([^.Z+]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  return zone === "" ? time : `${upToSeconds}.${fraction.padEnd(9, "0")}${zone}`;
}
