/**
 * What a kubelet needs of the machine that its Pods run on, besides a runtime: volumes, files and the values that containers are run with.
 * The kubelet's own rules are pure and ask for this through here; machine/ has it, and simulated nodes do without.
 */
import type { Container, EphemeralContainer, Pod } from "../api/generated/core/v1.ts";
import type { ContainerRun, SandboxRun } from "./container-run.ts";
import type { ProbeActions } from "./probes/probe-actions.ts";
import type { ImageCredentials } from "./runtime.ts";

export interface PodMachine {
  /**
   * Has everything there that the Pod's containers need: directories, volumes with their contents, cgroup. Resolves when all is; may be
   * repeated. Rejects with a MountError if something cannot be had now; whoever asked tries again later.
   */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** After `prepare`. */
  sandbox(pod: Pod): Promise<SandboxRun>;
  /** Rejects with a ContainerConfigError if what the Pod says makes no container now (a key is missing, the user would be root). */
  container(pod: Pod, container: Container | EphemeralContainer, place: ContainerPlace): Promise<ContainerRun>;
  /** Of the Pod's and its service account's pull secrets, those for this image, best first. */
  credentials(pod: Pod, image: string): Promise<readonly ImageCredentials[]>;
  /** The Pod may use more or less than before: what holds all of its containers follows. Rejects while one of them has more than that. */
  resize(pod: Pod): Promise<void>;
  /** The Pod has changed: what it shows of itself in volumes is brought up to date. */
  update(pod: Pod): void;
  /**
   * The runtime says that nothing of the Pod runs any more: what does all the same is killed. containerd from 2.0 on forgets the containers
   * of a shim that died, and they run on.
   */
  endProcesses(podUid: string): Promise<void>;
  /**
   * Nothing of the Pod is to run any more: its volumes, directories and cgroup go. May be repeated. With `isToReturn`, the Pod will run here
   * again: then what containers wrote on disk stays for it, and only what the kernel holds goes.
   */
  release(podUid: string, options?: { readonly isToReturn: boolean }): Promise<void>;
  /** The uids of Pods of which something is left on this machine. */
  leftovers(): Promise<readonly string[]>;
  /** For probes and hooks over the network. */
  readonly probes: ProbeActions;
}

export interface ContainerPlace {
  readonly attempt: number;
  /** Of the Pod. In the node's own network: the node's. */
  readonly podIps: readonly string[];
  readonly imageId: string;
  /** Of an ephemeral container that looks into another: that one's id. */
  readonly targetContainerId?: string;
}

/** Told as the Event FailedMount. */
export class MountError extends Error {
  override readonly name = "MountError";
}

/** The container waits with the reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = "ContainerConfigError";
}
