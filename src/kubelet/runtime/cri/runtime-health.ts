/** Version and health of a runtime: the minimum version, and whether the runtime and its network are ready, with upstream's messages. */
import { mapOf } from "./messages/common.ts";
import { isUnimplemented, type CriClient } from "./cri-client.ts";
import { RuntimeError, type RuntimeFeatures } from "../../contracts/runtime.ts";
import { runtimeStatus, version, type RuntimeCondition, type StatusResponse } from "./messages/sandbox.ts";

/** First version with runtime.v1. */
const CONTAINERD_MIN = { major: 1, minor: 6 } as const;

export interface RuntimeIdentity {
  /** "containerd", "cri-o", "docker" */
  readonly name: string;
  readonly version: string;
}

/** Rejects with an actionable message. */
export async function identify(client: CriClient): Promise<RuntimeIdentity> {
  try {
    const { runtimeName: name, runtimeVersion } = await client.call(version, {});
    const found = { name, version: plainVersion(runtimeVersion) };
    if (isTooOld(found)) throw tooOld(client, `it is containerd ${found.version}`);
    return found;
  } catch (error) {
    throw isUnimplemented(error) ? tooOld(client, "it does not implement version runtime.v1 of the CRI", error) : error;
  }
}

function tooOld({ endpoint }: CriClient, is: string, cause?: unknown): RuntimeError {
  const { major, minor } = CONTAINERD_MIN;
  const message = `Cannot use the container runtime at ${endpoint}: ${is}; it must be containerd ${major}.${minor} or newer, CRI-O, or Docker with cri-dockerd`;
  return new RuntimeError("CannotRun", message, { cause });
}

/** "v1.6.20" and Debian's "1.6.20~ds1" are 1.6.20. */
export function plainVersion(text: string): string {
  return text.replace(/^v/, "").replace(/~.*$/, "");
}

export function isTooOld({ name, version: text }: RuntimeIdentity): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(text) ?? [];
  // A custom version that implements runtime.v1 is accepted.
  if (name !== "containerd" || major === undefined) return false;
  return Number(major) < CONTAINERD_MIN.major || (Number(major) === CONTAINERD_MIN.major && Number(minor) < CONTAINERD_MIN.minor);
}

export interface RuntimeHealth {
  /** Undefined if healthy. */
  readonly trouble?: string | undefined;
  /** Undefined if the runtime does not report them, or is down. */
  readonly features?: RuntimeFeatures | undefined;
}

export async function healthOf(client: CriClient): Promise<RuntimeHealth> {
  try {
    const response = await client.call(runtimeStatus, {});
    return { trouble: troubleIn(response.status?.conditions ?? []), features: featuresIn(response) };
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === "Unavailable") return { trouble: "container runtime is down" };
    throw error;
  }
}

/** containerd reports them from 2.0 on. */
export function featuresIn({
  runtimeHandlers,
  features,
}: Pick<StatusResponse, "runtimeHandlers" | "features">): RuntimeFeatures | undefined {
  if (runtimeHandlers.length === 0 && features === undefined) return undefined;
  return {
    handlers: runtimeHandlers.map(({ name, features: of }) => ({
      name,
      hasRecursiveReadOnlyMounts: of?.recursiveReadOnlyMounts === true,
      hasUserNamespaces: of?.userNamespaces === true,
    })),
    hasSupplementalGroupsPolicy: features?.supplementalGroupsPolicy === true,
  };
}

export function troubleIn(conditions: readonly RuntimeCondition[]): string | undefined {
  for (const { type, what } of [
    { type: "RuntimeReady", what: "container runtime not ready" },
    { type: "NetworkReady", what: "container runtime network not ready" },
  ]) {
    const condition = conditions.find((candidate) => candidate.type === type);
    if (condition?.status === true) continue;
    return `${what}: ${condition === undefined ? `${type} is not reported` : conditionText(condition)}`;
  }
  return undefined;
}

function conditionText({ type, status, reason, message }: RuntimeCondition): string {
  return `${type}=${status} reason:${reason} message:${message}`;
}

/** The configuration that a runtime reports, if any. */
export interface RuntimeSetUp {
  readonly sandboxImage?: string;
  /** Why the network's configuration could not be read; "OK" if it could. */
  readonly networkLoad?: string;
  readonly usesSystemdCgroups?: boolean;
  readonly features?: RuntimeFeatures;
}

export async function setUpOf(client: CriClient): Promise<RuntimeSetUp> {
  const response = await client.call(runtimeStatus, { verbose: true });
  const features = featuresIn(response);
  return { ...setUpIn(mapOf(response.info)), ...(features === undefined ? {} : { features }) };
}

export function setUpIn(info: ReadonlyMap<string, string>): RuntimeSetUp {
  const config = jsonOf(info.get("config"));
  const sandboxImage = at(config, ["sandboxImage"]);
  // Some values are plain text instead of JSON.
  const networkLoad = info.get("lastCNILoadStatus");
  const usesSystemd = at(config, ["containerd", "runtimes", "runc", "options", "SystemdCgroup"]);
  return {
    ...(typeof sandboxImage === "string" ? { sandboxImage } : {}),
    ...(networkLoad === undefined ? {} : { networkLoad }),
    ...(typeof usesSystemd === "boolean" ? { usesSystemdCgroups: usesSystemd } : {}),
  };
}

function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(value: unknown, path: readonly string[]): unknown {
  let found: unknown = value;
  for (const name of path)
    found = typeof found === "object" && found !== null && Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined;
  return found;
}
