/**
 * Ensures that the sandbox (pause) image is in the runtime before the first Pod, so that no Pod waits for an unreachable registry: the own
 * containerd gets k8ts's image; another runtime pulls its own and, if that fails, gets k8ts's under that name.
 */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode } from "../../../base/protobuf/messages.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel } from "../../../host/grpc/channel.ts";
import { machineFacts } from "../../../host/kernel/machine-facts.ts";
import { uniqueName } from "../../../host/unique-name.ts";
import { askSettings } from "../containerd/runtime-settings.ts";
import { socketOf } from "../containerd/runtime-version.ts";
import { CRI_IMAGES, CRI_RUNTIME, NAMESPACE_MODE, PULL_REQUEST, RUN_SANDBOX_REQUEST, SANDBOX_ID } from "./containerd-messages.ts";
import { criImageId, importImage } from "./import-image.ts";
import { PAUSE_IMAGE } from "./pause-image-name.ts";
import { pauseImage } from "./pause-image.ts";

export interface SandboxImageOptions {
  readonly endpoint: string;
  /** True for a containerd that was started with PAUSE_IMAGE as its sandbox image. */
  readonly isOwn: boolean;
  /** Reports an unrequested action to the user in one sentence. */
  readonly report: (sentence: string) => void;
  readonly clock: Clock;
}

/** Timeout: an unreachable registry must not delay the cluster for longer. */
const PULL_TIMEOUT_MS = 15_000;

export async function ensureSandboxImage({ endpoint, isOwn, report, clock }: SandboxImageOptions): Promise<void> {
  const channel = await openGrpcChannel({ host: socketOf(endpoint), port: 0, clock });
  let name: string | undefined;
  try {
    name = isOwn ? await lacking(channel, PAUSE_IMAGE) : await unobtainable(channel, endpoint, clock);
  } finally {
    channel.close();
  }
  if (name === undefined) return;
  await importImage({ endpoint, tar: [pauseImage({ architecture: machineFacts().architecture, name })], clock });
  if (!isOwn) report(`The sandbox image ${name} cannot be pulled; k8ts has loaded its own into the runtime under that name`);
}

async function lacking(channel: GrpcChannel, name: string): Promise<string | undefined> {
  return (await criImageId(channel, name)) === undefined ? name : undefined;
}

/** The runtime's own sandbox image if it is missing and cannot be pulled. Undefined also if the runtime does not report it. */
async function unobtainable(channel: GrpcChannel, endpoint: string, clock: Clock): Promise<string | undefined> {
  const { sandboxImage, cniConfigDirectory } = await askSettings(endpoint, clock);
  if (sandboxImage !== undefined) {
    const name = await lacking(channel, sandboxImage);
    return name === undefined || (await isPulled(channel, name)) ? undefined : name;
  }
  // A runtime that reports neither is not containerd and handles its sandbox image itself.
  return cniConfigDirectory === undefined ? undefined : missedBySandboxes(channel);
}

/** containerd's error for a missing sandbox image: the first in 2.0 and 2.1, the second in 2.4. */
const MISSED = /failed to (?:get sandbox|pull) image "([^"]+)"/;

/**
 * From 2.0 on containerd reports its sandbox image only when a sandbox fails for lack of it. So an invalid sandbox is requested: containerd
 * resolves and pulls the image first, and then rejects the user namespace mode before it has created anything.
 */
async function missedBySandboxes(channel: GrpcChannel): Promise<string | undefined> {
  const linux = { securityContext: { namespaceOptions: { network: NAMESPACE_MODE.node, users: { mode: NAMESPACE_MODE.container } } } };
  const config = { metadata: { name: "sandbox-image", namespace: "k8ts", uid: uniqueName("k8ts-sandbox-image-") }, linux };
  try {
    const answer = await channel.call(`${CRI_RUNTIME}/RunPodSandbox`, encode(RUN_SANDBOX_REQUEST, { config }), {
      timeoutMs: PULL_TIMEOUT_MS,
    });
    // If the sandbox is created after all, the image exists; the sandbox is removed.
    const { id } = decode(SANDBOX_ID, answer);
    await channel.call(`${CRI_RUNTIME}/RemovePodSandbox`, encode(SANDBOX_ID, { id }), { timeoutMs: PULL_TIMEOUT_MS });
    return undefined;
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    return MISSED.exec(error.details)?.[1];
  }
}

async function isPulled(channel: GrpcChannel, name: string): Promise<boolean> {
  try {
    await channel.call(`${CRI_IMAGES}/PullImage`, encode(PULL_REQUEST, { image: { image: name } }), { timeoutMs: PULL_TIMEOUT_MS });
    return true;
  } catch {
    return false; // Whatever the reason: k8ts's image is equivalent.
  }
}
