/**
 * Keeps the Pod network of a node in the kernel as the Nodes of the cluster require: at every change of a Node that concerns it, and
 * periodically, since links and routes can be removed by others. Each pass reads the kernel, plans, and writes the differences, so that it
 * can be interrupted anywhere. A failure is retried with backoff; what is in the kernel keeps working.
 */
import { nodes } from "../api/core/v1/node.ts";
import { isIpv6, type FamilyRanges } from "../api/pod-ranges.ts";
import type { Node } from "../api/generated/core/v1.ts";
import { exponentialDelayMs } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import { deepEqual } from "../base/deep.ts";
import type { Logger } from "../base/logger.ts";
import type { Informers } from "../client/informer/informer.ts";
import type { NetworkNamespace } from "../host/network/network-namespace.ts";
import { applyGatewayRules, removeGatewayRules } from "./gateway-rules.ts";
import { batchesFor, readKernel } from "./kernel-state.ts";
import { peersOf } from "./peers.ts";
import { planPodNetwork, type Plan } from "./plan.ts";

/** Links, routes and rules that others removed are restored after this time at most. */
const RESYNC_MS = 15_000;
const RETRY = { minMs: 500, maxMs: 15_000 };

export interface PodNetworkOptions {
  readonly owner: string;
  readonly namespace: NetworkNamespace;
  readonly nodeName: string;
  /** IPv4, by which nodes reach each other. */
  readonly address: string;
  readonly podCidr: string;
  readonly clusterCidr: string;
  readonly gateway: string;
  /** Absent: Pods have IPv4 addresses only. `address`: that of the node. */
  readonly ipv6?: (FamilyRanges & { readonly gateway: string; readonly address?: string | undefined }) | undefined;
  readonly bridge: string;
  readonly vxlanPort: number;
  readonly mode: "auto" | "vxlan";
  /** Owned by the caller; not closed here. */
  readonly informers: Informers;
  /** Called when the MTU of Pods changes, before routes are. */
  onPodMtu?(mtu: number): Promise<void>;
  /** Called after a change of the number of nodes that are reached in some way. */
  onDescriptionChange?(): void;
  readonly clock: Clock;
  readonly log: Logger;
}

export class PodNetwork implements AsyncDisposable {
  readonly #options: PodNetworkOptions;
  readonly #stopping = new AbortController();
  readonly #listening: Disposable;
  #isDirty = true;
  #wake: () => void = () => {};
  #plan: Plan | undefined;
  #problems: ReadonlyMap<string, string> = new Map();
  #running: Promise<void> = Promise.resolve();

  /** Resolves when all nodes known now are reachable. */
  static async start(options: PodNetworkOptions): Promise<PodNetwork> {
    await options.informers.of(nodes).synced();
    const network = new PodNetwork(options);
    try {
      await network.#apply();
    } catch (error) {
      network.#listening[Symbol.dispose]();
      throw error;
    }
    network.#running = network.#run();
    return network;
  }

  private constructor(options: PodNetworkOptions) {
    this.#options = options;
    this.#listening = options.informers.of(nodes).listen({
      added: () => this.#changed(),
      updated: (node, previous) => {
        if (!deepEqual(factsOf(node), factsOf(previous))) this.#changed();
      },
      deleted: () => this.#changed(),
    });
  }

  /** "2 nodes by route, 1 by vxlan" */
  get description(): string {
    const { podCidr, clusterCidr, ipv6 } = this.#options;
    const ranges = `${podCidr} of ${clusterCidr}${ipv6 === undefined ? "" : `, ${ipv6.podCidr} of ${ipv6.clusterCidr}`}`;
    const { routes = [], tunnels = [] } = this.#plan ?? {};
    const ipv4Tunnels = tunnels.filter(({ neighbour }) => !isIpv6(neighbour)).length;
    const direct = routes.filter(({ destination }) => !isIpv6(destination)).length - ipv4Tunnels;
    const ipv6Only = tunnels.length - 2 * ipv4Tunnels;
    const parts = [
      ...(direct > 0 ? [`${direct} by route`] : []),
      ...(ipv4Tunnels > 0 ? [`${ipv4Tunnels} by vxlan`] : []),
      ...(ipv6 !== undefined && ipv6Only > 0 ? [`${ipv6Only} by vxlan for IPv6`] : []),
    ];
    return `${ranges}${parts.length === 0 ? "" : `, other nodes: ${parts.join(", ")}`}`;
  }

  /** Leaves the kernel's state: traffic continues during a restart. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#listening[Symbol.dispose]();
    this.#wake();
    await this.#running;
  }

  #changed(): void {
    this.#isDirty = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      if (!this.#isDirty) await this.#pause(RESYNC_MS);
      if (signal.aborted) return;
      try {
        await this.#apply();
        failures = 0;
      } catch (error) {
        this.#isDirty = true;
        log.error("Updating the Pod network failed", { error, failures });
        // A change does not shorten the wait: the same failure is likely.
        await clock.sleep(exponentialDelayMs(RETRY, failures++), signal).catch(() => undefined);
      }
    }
  }

  /** Until the next change, or as long as this. */
  async #pause(milliseconds: number): Promise<void> {
    const waiting = new AbortController();
    this.#wake = () => waiting.abort();
    if (this.#isDirty || this.#stopping.signal.aborted) return;
    await this.#options.clock.sleep(milliseconds, waiting.signal).catch(() => undefined);
    this.#wake = () => {};
  }

  async #apply(): Promise<void> {
    const { informers, clock } = this.#options;
    this.#isDirty = false;
    const { peers, problems } = peersOf(informers.of(nodes).list(), this.#options);
    this.#report(problems);
    await clock.external(this.#write(peers));
  }

  async #write(peers: ReturnType<typeof peersOf>["peers"]): Promise<void> {
    const { owner, namespace, log } = this.#options;
    const hasIpv6 = this.#options.ipv6 !== undefined;
    const kernel = await readKernel(namespace, owner, { hasIpv6 });
    const plan = planPodNetwork(peers, { ...this.#options, hasIpv6, ...kernel });
    if (plan.podMtu !== undefined && plan.podMtu !== this.#plan?.podMtu) await this.#options.onPodMtu?.(plan.podMtu);
    await applyGatewayRules(namespace, this.#options, peers, plan);
    const { ip, bridge } = batchesFor(owner, kernel, plan);
    if (ip.length > 0) await namespace.run("ip", ["-batch", "-"], asBatch(ip));
    if (bridge.length > 0) await namespace.run("bridge", ["-batch", "-"], asBatch(bridge));
    if (ip.length + bridge.length > 0) log.info("Updated the Pod network", { nodes: peers.length, changes: ip.length + bridge.length });
    const before = this.description;
    this.#plan = plan;
    if (before !== this.description) this.#options.onDescriptionChange?.();
  }

  /** Once per Node and problem. */
  #report(problems: ReadonlyMap<string, string>): void {
    for (const [node, problem] of problems)
      if (this.#problems.get(node) !== problem) this.#options.log.warn("Node has no route: its Pods are not reachable", { node, problem });
    this.#problems = problems;
  }
}

function factsOf({ spec, status }: Node) {
  return [spec?.podCIDR, spec?.podCIDRs, status?.addresses];
}

function asBatch(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

/** Removes all links, routes and rules of an owner. */
export async function removePodNetwork({ owner, namespace }: Pick<PodNetworkOptions, "owner" | "namespace">): Promise<void> {
  await removeGatewayRules(namespace, owner);
  // Routes of IPv6 may be left of a run with it.
  const hasIpv6 = await namespace.run("ip", ["-6", "route", "show"]).then(
    () => true,
    () => false,
  );
  const { ip } = batchesFor(owner, await readKernel(namespace, owner, { hasIpv6 }), { routes: [], tunnels: [], links: [] });
  if (ip.length > 0) await namespace.run("ip", ["-batch", "-"], asBatch(ip));
}
