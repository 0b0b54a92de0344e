/**
 * What a machine needs before a kubelet of `k8ts up` can run on it, whichever process that is in: a container runtime, found or started, the
 * Pods' network, and the image that holds their namespaces. It all goes again when it is disposed of; what a killed one left is taken up by
 * the next start.
 */
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import { joinPath, makePrivateDirectory } from "../../host/files.ts";
import { writePrivateText } from "../../host/private-files.ts";
import { reachableAddress } from "../../host/network-address.ts";
import { chooseRuntime, type RuntimeChoice } from "../../kubelet/machine/containerd/choose-runtime.ts";
import { ContainerdKeeper } from "../../kubelet/machine/containerd/containerd-keeper.ts";
import { askSettings } from "../../kubelet/machine/containerd/runtime-settings.ts";
import { PAUSE_IMAGE } from "../../kubelet/machine/images/pause-image.ts";
import { ensureSandboxImage } from "../../kubelet/machine/images/sandbox-image.ts";
import { prepareNetwork, removeNetwork } from "../../kubelet/machine/network/bridge-network.ts";
import { choosePodCidr } from "../../kubelet/machine/network/pod-cidr.ts";
import type { Environment } from "../command.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import { foreignRuntimeFile, machinePlaces } from "../home/machine-places.ts";
import type { Steps } from "../home/steps.ts";

export interface MachineOptions {
  readonly home: HeldHome["home"];
  readonly nodeName: string;
  readonly runtimeEndpoint?: string;
  readonly environment: Environment;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly log: Logger;
}

export type FoundRuntime = Extract<RuntimeChoice, { readonly is: "there" }>;

/** What runs containers here; none, with a reason, if nothing can. */
export function findRuntime({ home, runtimeEndpoint, environment, clock, log }: MachineOptions): Promise<RuntimeChoice> {
  return chooseRuntime({
    ...ownContainerd({ home, environment, clock, log }),
    ...(runtimeEndpoint === undefined ? {} : { endpoint: runtimeEndpoint }),
  });
}

/** How the cluster's own is started, or found again. */
export function ownContainerd({ home, environment, clock, log }: Pick<MachineOptions, "home" | "environment" | "clock" | "log">) {
  return { ...machinePlaces(home, clock), sandboxImage: PAUSE_IMAGE, environment, log };
}

export interface PreparedMachine extends AsyncDisposable {
  readonly endpoint: string;
  /** Where the node is reached. */
  readonly nodeIp: string;
  /** Absent: the runtime has a network of somebody else's. */
  readonly podCidr?: string;
}

export async function prepareMachine(choice: FoundRuntime, options: MachineOptions): Promise<PreparedMachine> {
  const { steps, clock } = options;
  await using starting = new Disposables();
  const { endpoint, isOwn, stop } = choice;
  if (!isOwn) await rememberRuntime(options.home, endpoint);
  if (stop !== undefined) {
    const keeper = new ContainerdKeeper({ ...ownContainerd(options), stop, tell: (line) => steps.note(line) });
    starting.defer(() => steps.step("containerd stopped", () => keeper.stop()));
  }
  const network = await steps.step("pod network ready", () => startNetwork(choice, options));
  starting.defer(() => network.remove());
  await steps.step("pause image ready", () =>
    ensureSandboxImage({ endpoint, isOwn, tell: (sentence) => steps.note(`  ${sentence}`), clock }),
  );
  const { podCidr } = network;
  const owned = starting.move();
  return {
    endpoint,
    nodeIp: reachableAddress() ?? network.gateway ?? "127.0.0.1",
    ...(podCidr === undefined ? {} : { podCidr }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** What ended stays in the runtime when the cluster stops: whoever deletes the cluster has to find it. */
async function rememberRuntime(home: MachineOptions["home"], endpoint: string): Promise<void> {
  await makePrivateDirectory(home.kubeletDirectory);
  await writePrivateText(foreignRuntimeFile(home), `${endpoint}\n`);
}

interface Network {
  /** Absent: the runtime has a network of somebody else's. */
  readonly podCidr?: string;
  readonly gateway?: string;
  remove(): Promise<void>;
}

/** Our own containerd has the network that we make; another one keeps the one it has, and gets ours if it has none. */
async function startNetwork({ endpoint, isOwn }: FoundRuntime, { home, clock }: MachineOptions): Promise<Network> {
  const places = machinePlaces(home, clock);
  const { networkTrouble, cniConfigDirectory } = isOwn
    ? { networkTrouble: "", cniConfigDirectory: undefined }
    : await askSettings(endpoint, clock);
  if (networkTrouble === undefined) return { remove: () => Promise.resolve() };
  const configDirectory = cniConfigDirectory ?? places.cniConfigDirectory;
  const { podCidr, gateway } = await choosePodCidr({ file: joinPath(home.cniDirectory, "pod-cidr"), bridge: places.bridge });
  await prepareNetwork({ ...places, configDirectory, podCidr });
  return { podCidr, gateway, remove: () => removeNetwork({ ...places, configDirectory }) };
}
