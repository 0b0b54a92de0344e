/**
 * What a machine needs before a kubelet of `k8ts up` or `k8ts join` can run on it, whichever process that is in: a container runtime, found or started, the
 * Pods' network, and the image that holds their namespaces. It all goes again when it is disposed of; what a killed one left is taken up by
 * the next start. The network comes before the API server, which listens on it for Pods.
 */
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import { isIpv6, nodeCidrsOf, ordered } from "../../api/pod-ranges.ts";
import { ipv6AddressBeside, reachableAddress } from "../../host/network/network-address.ts";
import { chooseRuntime, RUNTIME_SOCKETS, type RuntimeChoice } from "../../kubelet/machine/containerd/choose-runtime.ts";
import { ContainerdSupervisor } from "../../kubelet/machine/containerd/containerd-supervisor.ts";
import { PAUSE_IMAGE } from "../../kubelet/machine/images/pause-image-name.ts";
import { ensureSandboxImage } from "../../kubelet/machine/images/sandbox-image.ts";
import type { Environment } from "../../cli/framework/command.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import type { NetworkComponent } from "../../components/network/network-component.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import { machinePaths } from "./container-paths.ts";
import type { Steps } from "../../cli/framework/progress.ts";
import { recordForeignRuntime } from "./foreign-runtime.ts";
import { startNetwork, takenBy, takenError, type MachineNetwork, type MachineNetworkOptions } from "./machine-network.ts";
import type { PressureSettings } from "../../kubelet/eviction/pressure-settings.ts";

export interface MachineOptions {
  readonly home: HeldHome["home"];
  readonly nodeName: string;
  readonly runtimeEndpoint?: string;
  /** Addresses of the node: one, or one per family. Absent: detected. */
  readonly nodeIps?: readonly string[];
  /** Ranges of the Pod network. Absent: chosen on this machine. */
  readonly podNetwork?: MachineNetworkOptions["podNetwork"];
  /** How they are chosen. */
  readonly podRanges?: MachineNetworkOptions["podRanges"];
  /** Which network components run. Default: "cluster". */
  readonly scope?: NetworkComponent["scope"];
  /** Values of the flags of network components. */
  readonly networkValues: FlagValues<FlagSet>;
  readonly pressure: PressureSettings;
  /** Sockets of the machine's runtimes, in order of preference. Default: the conventional ones. */
  readonly sockets?: readonly string[];
  readonly environment: Environment;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly log: Logger;
}

export type FoundRuntime = Extract<RuntimeChoice, { readonly is: "there" }>;

/**
 * Finds a container runtime; none, with the reason, if none exists. One with another cluster's network is skipped, and rejected if it was
 * set explicitly.
 */
export async function findRuntime(options: MachineOptions): Promise<RuntimeChoice> {
  const { runtimeEndpoint: asked, steps, sockets = RUNTIME_SOCKETS } = options;
  const choice = await chooseRuntime({ ...ownContainerd(options), sockets, ...(asked === undefined ? {} : { endpoint: asked }) });
  if (choice.is === "none" || choice.isOwn) return choice;
  const taken = await takenBy(choice.endpoint, options);
  if (taken === undefined) return choice;
  if (asked !== undefined) throw takenError(choice.endpoint, taken);
  steps.note(`  not using the container runtime at ${choice.endpoint}: it has ${taken.has}`);
  return findRuntime({ ...options, sockets: sockets.filter((socket) => `unix://${socket}` !== choice.endpoint) });
}

/** How the cluster's own containerd is started or found. */
export function ownContainerd({ home, environment, clock, log }: Pick<MachineOptions, "home" | "environment" | "clock" | "log">) {
  return { ...machinePaths(home, clock), sandboxImage: PAUSE_IMAGE, environment, log };
}

export interface PreparedMachine extends AsyncDisposable {
  readonly endpoint: string;
  /** Addresses of the node, that of the primary family first. */
  readonly nodeIps: readonly string[];
  /** In the same order. Empty: the runtime's network is not managed by k8ts. */
  readonly podCidrs: readonly string[];
}

export type PodNetworkPart = MachineNetwork & AsyncDisposable;

/** Removed by disposing of it; running Pods lose their network. */
export async function preparePodNetwork(choice: FoundRuntime, options: MachineOptions): Promise<PodNetworkPart> {
  const { home, steps, clock } = options;
  if (!choice.isOwn) await clock.external(recordForeignRuntime(home, choice.endpoint));
  const network = await steps.step("configured Pod network", () => clock.external(startNetwork(choice, options)));
  return { ...network, [Symbol.asyncDispose]: () => network.remove() };
}

export async function prepareMachine(choice: FoundRuntime, network: MachineNetwork, options: MachineOptions): Promise<PreparedMachine> {
  const { steps, clock } = options;
  await using starting = new Disposables();
  const { endpoint, isOwn, stop } = choice;
  if (stop !== undefined) {
    const supervisor = new ContainerdSupervisor({ ...ownContainerd(options), stop, report: (line) => steps.note(line) });
    starting.defer(() => steps.step("stopped containerd", () => supervisor.stop()));
  }
  await steps.step("loaded pause image", () =>
    ensureSandboxImage({ endpoint, isOwn, report: (sentence) => steps.note(`  ${sentence}`), clock }),
  );
  const { podCidr } = network;
  const owned = starting.move();
  return {
    endpoint,
    nodeIps: nodeIpsOf(network, options.nodeIps),
    podCidrs: podCidr === undefined ? [] : nodeCidrsOf({ ...network, podCidr }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Explicit ones win. With IPv6 Pods the node has an address of that family, too: of its own network, or else the one on its bridge. */
export function nodeIpsOf({ gateway, ipv6, isIpv6First }: MachineNetwork, explicit: readonly string[] = []): readonly string[] {
  const ipv4 = explicit.find((address) => !isIpv6(address)) ?? reachableAddress() ?? gateway ?? "127.0.0.1";
  if (ipv6 === undefined) return [explicit[0] ?? ipv4];
  return ordered(ipv4, explicit.find(isIpv6) ?? ipv6AddressBeside(ipv4) ?? ipv6.gateway, isIpv6First);
}
