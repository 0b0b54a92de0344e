/**
 * Selects the container runtime of a cluster on this machine: the configured one; the cluster's own containerd, if it already runs; a
 * runtime of the machine that answers; a containerd of its own, started here; or none with a one-line reason, in which case Pods are
 * simulated.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { findProgram } from "../../../host/processes/find-program.ts";
import { isRoot } from "../../../host/processes/process-table.ts";
import { ContainerdFailed, findOwnContainerd, startOwnContainerd, type OwnContainerdOptions } from "./own-containerd.ts";
import { askVersion, RuntimeTooOldError, socketOf, type RuntimeVersion } from "./runtime-version.ts";
import { forbiddenText, socketState, socketTrouble } from "./socket-trouble.ts";

export interface RuntimeChoiceOptions extends OwnContainerdOptions {
  /** Endpoint requested by the user: this one is used, or an error is thrown. */
  readonly endpoint?: string;
  /** Sockets of the machine's runtimes, in order of preference. */
  readonly sockets?: readonly string[];
}

export type RuntimeChoice =
  | ({
      readonly is: "there";
      /** "unix:///…" */
      readonly endpoint: string;
      /** Started by this or an earlier run of the cluster, in its directories. */
      readonly isOwn: boolean;
      /** Own containerd only: it already ran. */
      readonly wasAdopted: boolean;
      /** Own containerd only: terminates it; its containers keep running. */
      stop?(): Promise<void>;
    } & RuntimeVersion)
  | { readonly is: "none"; readonly why: string };

/** Upstream's defaults, in upstream's order. */
export const RUNTIME_SOCKETS = ["/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/cri-dockerd.sock"];

export async function chooseRuntime(options: RuntimeChoiceOptions): Promise<RuntimeChoice> {
  if (options.endpoint !== undefined) return asked(options.endpoint, options);
  // The containerd of a killed run takes precedence: it has the cluster's Pods.
  if (await findOwnContainerd(options)) return own(options);
  const reasons: string[] = [];
  const sockets = options.sockets ?? RUNTIME_SOCKETS;
  const states = await Promise.all(sockets.map(socketState));
  const forbidden = sockets.find((_socket, index) => states[index] === "forbidden");
  for (const socket of sockets.filter((_socket, index) => states[index] === "usable")) {
    const found = await look(socket, options.clock);
    if (typeof found === "object") return { is: "there", endpoint: `unix://${socket}`, isOwn: false, wasAdopted: false, ...found };
    if (found !== undefined) reasons.push(found);
  }
  const hindrance = hindranceOf(options);
  // A user with access to that runtime needs no containerd of their own.
  const advice = forbidden === undefined ? hindrance : forbiddenText(forbidden);
  if (hindrance !== undefined) return { is: "none", why: [...reasons, advice].join("; ") };
  return startOrSayWhy(options, options.log);
}

async function asked(endpoint: string, { clock }: RuntimeChoiceOptions): Promise<RuntimeChoice> {
  const socket = socketOf(endpoint);
  try {
    const version = await askVersion(socket, { clock });
    return { is: "there", endpoint: `unix://${socket}`, isOwn: false, wasAdopted: false, ...version };
  } catch (error) {
    if (error instanceof RuntimeTooOldError) throw error;
    const trouble = await socketTrouble(socket, { another: "give another endpoint" });
    throw new Error(`Cannot use the container runtime at ${endpoint}: ${trouble}`, { cause: error });
  }
}

/** The runtime's version; why an existing one cannot be used; undefined if there is nothing to report. */
async function look(socket: string, clock: Clock): Promise<RuntimeVersion | string | undefined> {
  try {
    return await askVersion(socket, { clock });
  } catch (error) {
    if (error instanceof RuntimeTooOldError) return error.message;
    return isRoot() ? undefined : `${socket} exists but does not respond`;
  }
}

/** Why an own containerd cannot be started; undefined if it can. */
function hindranceOf({ environment }: RuntimeChoiceOptions): string | undefined {
  if (findProgram("containerd", environment["PATH"]) === undefined) {
    return "no container runtime answers and containerd is not installed (Debian: apt-get install containerd containernetworking-plugins)";
  }
  if (!isRoot()) return "no container runtime answers and only root can start one; run k8ts as root";
  return undefined;
}

async function startOrSayWhy(options: RuntimeChoiceOptions, log: Logger): Promise<RuntimeChoice> {
  try {
    return await own(options);
  } catch (error) {
    if (error instanceof RuntimeTooOldError) return { is: "none", why: error.message };
    log.warn("Cannot start containerd", { error });
    if (error instanceof ContainerdFailed) return { is: "none", why: error.inOneLine };
    const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return { is: "none", why: sentence };
  }
}

async function own(options: OwnContainerdOptions): Promise<RuntimeChoice> {
  const { name, version, endpoint, wasAdopted, stop } = await startOwnContainerd(options);
  return { is: "there", name, version, endpoint, wasAdopted, stop, isOwn: true };
}
