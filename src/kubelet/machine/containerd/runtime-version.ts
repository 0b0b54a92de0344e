/**
 * Queries whether a container runtime answers at an endpoint, and which: CRI Version, which every runtime answers as soon as it accepts
 * requests. Not here: the rest of the CRI (runtime/cri).
 */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode, type MessageDescriptor } from "../../../base/protobuf/messages.ts";
import { GrpcError, openGrpcChannel } from "../../../host/grpc/channel.ts";

export interface RuntimeVersion {
  /** "containerd", "cri-o", "docker". */
  readonly name: string;
  /** "1.6.20~ds1", "2.1.0": as reported, without the "v" that some have. */
  readonly version: string;
}

const VERSION_PATH = "/runtime.v1.RuntimeService/Version";
const VERSION_REQUEST = { name: "VersionRequest", fields: {} } as const satisfies MessageDescriptor;
const VERSION_RESPONSE = {
  name: "VersionResponse",
  fields: { runtimeName: { number: 2, type: "string" }, runtimeVersion: { number: 3, type: "string" } },
} as const satisfies MessageDescriptor;

/** containerd has runtime.v1 since 1.6. */
const CONTAINERD_MIN = { major: 1, minor: 6 };

/** A running runtime answers at once, on a busy machine within seconds; beyond this it is stuck. */
const ANSWERS_WITHIN_MS = 10_000;

export class RuntimeTooOldError extends Error {
  override readonly name = "RuntimeTooOldError";
}

/** Rejects with a GrpcError if none answers, with a RuntimeTooOldError if its version is not supported. */
export async function askVersion(
  endpoint: string,
  options: { readonly clock: Clock; readonly timeoutMs?: number },
): Promise<RuntimeVersion> {
  const { timeoutMs = ANSWERS_WITHIN_MS } = options;
  const channel = await openGrpcChannel({ host: socketOf(endpoint), port: 0, clock: options.clock });
  try {
    const answer = await channel.call(VERSION_PATH, encode(VERSION_REQUEST, {}), { timeoutMs });
    const { runtimeName: name, runtimeVersion } = decode(VERSION_RESPONSE, answer);
    const version = runtimeVersion.replace(/^v(?=\d)/, "");
    if (isTooOld({ name, version })) throw new RuntimeTooOldError(tooOld(endpoint, version));
    return { name, version };
  } catch (error) {
    if (!(error instanceof GrpcError) || error.code !== "UNIMPLEMENTED") throw error;
    throw new RuntimeTooOldError(tooOld(endpoint, undefined), { cause: error });
  } finally {
    channel.close();
  }
}

/** "unix:///run/x.sock" and "/run/x.sock" are the same. */
export function socketOf(endpoint: string): string {
  const path = endpoint.replace(/^unix:(\/\/)?(?=\/)/, "");
  if (!path.startsWith("/"))
    throw new Error(`Cannot use the runtime at "${endpoint}": it must be a Unix socket, such as unix:///run/x.sock`);
  return path;
}

export function isTooOld({ name, version }: RuntimeVersion): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (name !== "containerd" || major === undefined) return false; // A custom version string: it serves runtime.v1, which is enough.
  return Number(major) < CONTAINERD_MIN.major || (Number(major) === CONTAINERD_MIN.major && Number(minor) < CONTAINERD_MIN.minor);
}

function tooOld(endpoint: string, version: string | undefined): string {
  const is =
    version === undefined ? "it does not speak runtime.v1 of the CRI, or its CRI plugin is disabled" : `it is containerd ${version}`;
  return `Cannot use the runtime at ${endpoint}: ${is}; containerd 1.6 or newer is needed`;
}
