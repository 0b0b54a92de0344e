/**
 * Removes unfinished Pod networks of a killed containerd, which the next one does not know: containerd creates a namespace, and in it a
 * link with an address, before it stores the sandbox; the Pod is then retried with new ones. What exists before a containerd is recorded
 * just before its start, by names that are never reused: each has a sandbox that this containerd knows, or is orphaned. Doubtful cases and
 * everything younger are kept. Not here: their processes (orphaned-tasks.ts), reading the state (cni-records.ts), and removing a whole
 * cluster (leftovers.ts).
 */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode, type MessageDescriptor } from "../../../base/protobuf/messages.ts";
import { fewAtATime } from "../../../host/files/limited-concurrency.ts";
import { joinPath, removeFile } from "../../../host/files/files.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel } from "../../../host/grpc/channel.ts";
import { unmountUnder } from "../../../host/kernel/mounts.ts";
import { earlierNetworkRecords, namespacesDirectory, readNetworkRecords, releaseSandbox, type NetworkRecords } from "./cni-records.ts";
import { cniBinaryDirectory, containerdFiles, type OwnContainerdOptions } from "./own-containerd.ts";

/**
 * Maximum removals per pass and kind: a kill leaves a handful, and a node has no more addresses. The rest is removed after the next start.
 */
const REMOVALS_MAX = 256;

/** Timeout after which containerd counts as stuck. */
const ASK_TIMEOUT_MS = 10_000;

export type OrphanedNetworkOptions = Omit<OwnContainerdOptions, "sandboxImage" | "environment" | "startTimeoutMs">;

/** Requires that containerd answers. Never rejects: failures are logged and retried after the next start. */
export async function removeOrphanedNetwork(options: OrphanedNetworkOptions): Promise<void> {
  const { clock, log } = options;
  const { log: _, socket, ...files } = containerdFiles(options);
  const places = { ...options, ...files };
  try {
    const candidates = stillThere(await earlierNetworkRecords(files), await readNetworkRecords(places));
    if (candidates.namespaces.length + candidates.sandboxes.length === 0) return;
    const orphans = planOrphanedNetwork(candidates, await knownSandboxes(socket, clock));
    const [sandboxes, namespaces] = [orphans.sandboxes.slice(0, REMOVALS_MAX), orphans.namespaces.slice(0, REMOVALS_MAX)];
    if (sandboxes.length + namespaces.length === 0) return;
    const attempt = async (what: string, removal: Promise<void>) =>
      removal.catch((error: unknown) => log.warn("Cannot remove an orphaned Pod network", { what, error }));
    for (const id of sandboxes) await attempt(id, releaseSandbox(id, { ...places, cniBinaryDirectory: cniBinaryDirectory() }));
    for (const name of namespaces) await attempt(name, removeNamespace(joinPath(namespacesDirectory(files), name)));
    log.info("Removed orphaned Pod networks of a killed containerd", {
      namespaces: namespaces.length,
      sandboxes: sandboxes.length,
    });
  } catch (error) {
    log.warn("Cleanup of orphaned Pod networks failed", { error });
  }
}

export function stillThere(earlier: NetworkRecords, now: NetworkRecords): NetworkRecords {
  const [namespaces, sandboxes] = [new Set(now.namespaces), new Set(now.sandboxes)];
  return {
    namespaces: earlier.namespaces.filter((name) => namespaces.has(name)),
    sandboxes: earlier.sandboxes.filter((id) => sandboxes.has(id)),
  };
}

export interface KnownSandbox {
  readonly id: string;
  /** Path of its network namespace, or "unknown"; undefined: it has none of its own. */
  readonly namespace: string | undefined;
}

/** While the namespace of any sandbox is unknown, every namespace may be in use. */
export function planOrphanedNetwork(candidates: NetworkRecords, known: readonly KnownSandbox[]): NetworkRecords {
  const ids = new Set(known.map(({ id }) => id));
  const used = new Set(known.map(({ namespace }) => namespace?.split("/").at(-1)));
  return {
    namespaces: used.has("unknown") ? [] : candidates.namespaces.filter((name) => !used.has(name)),
    sandboxes: candidates.sandboxes.filter((id) => !ids.has(id)),
  };
}

const LIST_PATH = "/runtime.v1.RuntimeService/ListPodSandbox";
const LIST_RESPONSE = {
  name: "ListPodSandboxResponse",
  fields: { items: { number: 1, type: { name: "PodSandbox", fields: { id: { number: 1, type: "string" } } }, repeated: true } },
} as const satisfies MessageDescriptor;

const STATUS_PATH = "/runtime.v1.RuntimeService/PodSandboxStatus";
const STATUS_REQUEST = {
  name: "PodSandboxStatusRequest",
  fields: { podSandboxId: { number: 1, type: "string" }, verbose: { number: 2, type: "bool" } },
} as const satisfies MessageDescriptor;
const STATUS_RESPONSE = {
  name: "PodSandboxStatusResponse",
  fields: {
    info: {
      number: 2,
      repeated: true,
      type: { name: "InfoEntry", fields: { key: { number: 1, type: "string" }, value: { number: 2, type: "string" } } },
    },
  },
} as const satisfies MessageDescriptor;

/** All sandboxes, including stopped ones. Rejects if containerd does not list them. */
async function knownSandboxes(socket: string, clock: Clock): Promise<readonly KnownSandbox[]> {
  const channel = await openGrpcChannel({ host: socket, port: 0, clock });
  try {
    const { items } = decode(LIST_RESPONSE, await channel.call(LIST_PATH, new Uint8Array(), { timeoutMs: ASK_TIMEOUT_MS }));
    return await fewAtATime(items, async ({ id }) => ({ id, namespace: await namespaceOf(id, channel) }));
  } finally {
    channel.close();
  }
}

/** A sandbox that was removed after listing has no namespace any more: that is removed before the sandbox. */
async function namespaceOf(id: string, channel: GrpcChannel): Promise<KnownSandbox["namespace"]> {
  try {
    const request = encode(STATUS_REQUEST, { podSandboxId: id, verbose: true });
    const { info } = decode(STATUS_RESPONSE, await channel.call(STATUS_PATH, request, { timeoutMs: ASK_TIMEOUT_MS }));
    return namespaceIn(info.find(({ key }) => key === "info")?.value ?? "");
  } catch (error) {
    return error instanceof GrpcError && error.code === "NOT_FOUND" ? undefined : "unknown";
  }
}

interface SandboxDetails {
  readonly runtimeSpec?: { readonly linux?: { readonly namespaces?: readonly { readonly type?: unknown; readonly path?: unknown }[] } };
}

/** Parses containerd's verbose info, of 1.6 and 2.x: the OCI spec of the sandbox. With hostNetwork it names no namespace. */
export function namespaceIn(details: string): KnownSandbox["namespace"] {
  try {
    const { runtimeSpec } = JSON.parse(details) as SandboxDetails;
    const namespaces = runtimeSpec?.linux?.namespaces;
    if (!Array.isArray(namespaces)) return "unknown";
    const network = namespaces.find(({ type }) => type === "network");
    if (network === undefined) return undefined;
    return typeof network.path === "string" && network.path !== "" ? network.path : "unknown";
  } catch {
    return "unknown";
  }
}

/** Removes with it its links and their peers on the bridge. */
async function removeNamespace(path: string): Promise<void> {
  await unmountUnder(path);
  await removeFile(path);
}
