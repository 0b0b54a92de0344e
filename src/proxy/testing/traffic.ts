/**
 * What the rows of the traffic suite share: the topology with its servers, one applier of the mode under test, and addresses that no other
 * row uses, so that no connection that the kernel still tracks meets the rules of another row.
 */
import assert from "node:assert/strict";
import { Disposables } from "../../base/disposables.ts";
import { createLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import type { AppliedChange, Applier, ApplierContext, ProxyMode } from "../appliers/applier.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../model.ts";
import { aModel, aServicePort } from "./models.ts";
import { NO_ANSWER, REFUSED, type Outcome, type TrafficTarget } from "./traffic-agent.ts";
import {
  BRIDGE,
  NODE,
  NODE_SECOND,
  openTrafficTopology,
  POD_A,
  POD_B,
  POD_CIDRS,
  REMOTE_POD,
  type Addresses,
  type TrafficPlace,
  type TrafficTopology,
} from "./traffic-topology.ts";

/** Each Pod serves these, TCP and UDP, in both families. */
const SERVED_PORTS = [8080, 8081, 8082, 8083];

/** Enough requests that each of four endpoints is missed only once in 10^15 runs. */
const SPREAD_REQUESTS = 120;

/** Requests that would spread over endpoints if nothing kept them together. */
const STICKY_REQUESTS = 20;

export type Family = 4 | 6;

export class Traffic implements AsyncDisposable {
  readonly topology: TrafficTopology;
  readonly mode: ProxyMode;
  readonly context: ApplierContext;
  readonly #stack: Disposables;
  #applier: Applier | undefined;
  #addresses = 0;

  private constructor(topology: TrafficTopology, mode: ProxyMode, stack: Disposables) {
    this.topology = topology;
    this.mode = mode;
    this.#stack = stack;
    this.context = {
      owner: "ktest",
      namespace: topology.node.namespace,
      podBridge: BRIDGE,
      options: { masqueradesAll: false, ipvsScheduler: "rr" },
      clock: realClock,
      log: createLogger({ sink: () => {}, clock: realClock, level: "error" }),
    };
  }

  static async open(mode: ProxyMode): Promise<Traffic> {
    await using stack = new Disposables();
    const topology = stack.use(await openTrafficTopology());
    const { podA, podB, client } = topology;
    const places = [
      { name: "a", place: podA, addresses: POD_A },
      { name: "b", place: podB, addresses: POD_B },
      { name: "remote", place: client, addresses: REMOTE_POD },
    ];
    await Promise.all(places.map((one) => serve(topology, one)));
    const traffic = new Traffic(topology, mode, new Disposables());
    traffic.#stack.use(stack.move());
    return traffic;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await this.#stack[Symbol.asyncDispose]();
  }

  /** Opens the mode at its first call; afterwards the applier replaces the state of the last row. */
  async apply(ports: readonly ServicePort[], fields: Partial<ProxyModel> = {}): Promise<AppliedChange> {
    return (await this.applier()).apply(this.model(ports, fields));
  }

  /** A model of this topology's node. */
  model(ports: readonly ServicePort[], fields: Partial<ProxyModel> = {}): ProxyModel {
    return aModel(ports, { podCidrs: POD_CIDRS, nodeIps: [NODE[4], NODE_SECOND[4], NODE[6], NODE_SECOND[6]], ...fields });
  }

  async applier(): Promise<Applier> {
    this.#applier ??= await this.mode.open(this.context);
    return this.#applier;
  }

  /** Closes the applier, as a proxy that ends; its rules stay. The next `apply` opens the mode again. */
  async close(): Promise<void> {
    const applier = this.#applier;
    this.#applier = undefined;
    await applier?.[Symbol.asyncDispose]();
  }

  newClusterIp(family: Family = 4): string {
    return family === 4 ? `10.96.0.${++this.#addresses}` : `fd00:96::${++this.#addresses}`;
  }

  /** An unused address, which all places route to the node. */
  newExternalIp(family: Family = 4): string {
    return family === 4 ? `192.0.2.${++this.#addresses}` : `2001:db8::${++this.#addresses}`;
  }

  newNodePort(): number {
    return 30_000 + ++this.#addresses;
  }

  /** The server that answers; throws if it is not reached. */
  async reach(from: TrafficPlace, target: TrafficTarget, options: { readonly from?: string } = {}): Promise<string> {
    return (await this.answer(from, target, options)).by;
  }

  /** The client's address as the server sees it. */
  async seenAs(from: TrafficPlace, target: TrafficTarget, options: { readonly from?: string } = {}): Promise<string> {
    return (await this.answer(from, target, options)).client;
  }

  async answer(from: TrafficPlace, target: TrafficTarget, options: { readonly from?: string } = {}) {
    const outcome = await from.request(target, options);
    if ("failure" in outcome) assert.fail(`${shown(from, target)}: ${outcome.failure}`);
    return outcome;
  }

  async assertRefused(from: TrafficPlace, target: TrafficTarget): Promise<void> {
    assert.deepEqual(await from.request(target), { failure: REFUSED }, shown(from, target));
  }

  async assertDropped(from: TrafficPlace, target: TrafficTarget, options: { readonly from?: string } = {}): Promise<void> {
    assert.deepEqual(await from.expectSilence(target, options), { failure: NO_ANSWER }, shown(from, target));
  }

  /** For unused addresses: the fate of such requests depends on the routes. */
  async assertNotReached(from: TrafficPlace, target: TrafficTarget): Promise<void> {
    const outcome = await from.expectSilence(target);
    assert.ok("failure" in outcome, `${shown(from, target)}: answered by ${JSON.stringify(outcome)}`);
  }

  /** Names of the servers that answer many requests, sorted. All requests must be answered. */
  async spread(from: TrafficPlace, target: TrafficTarget): Promise<readonly string[]> {
    return serversOf(await from.requests(SPREAD_REQUESTS, target), shown(from, target));
  }

  /** The only server that answers several requests, one after the other; throws if there are several. */
  async sticky(from: TrafficPlace, target: TrafficTarget, options: { readonly from?: string } = {}): Promise<string> {
    // The first one alone: requests at the same time may all be the first one of this client.
    const first = await this.reach(from, target, options);
    const servers = serversOf(await from.requests(STICKY_REQUESTS, target, options), shown(from, target));
    assert.deepEqual(servers, [first], `Session affinity of ${shown(from, target)}`);
    return first;
  }
}

async function serve(
  { hasIpv6 }: TrafficTopology,
  { name, place, addresses }: { readonly name: string; readonly place: TrafficPlace; readonly addresses: Addresses },
): Promise<void> {
  const families = hasIpv6 ? ([4, 6] as const) : ([4] as const);
  for (const family of families)
    for (const port of SERVED_PORTS)
      for (const protocol of ["TCP", "UDP"] as const) await place.listen(`${name}:${port}`, { protocol, address: addresses[family], port });
}

function serversOf(outcomes: readonly Outcome[], what: string): readonly string[] {
  const names = outcomes.map((outcome) => ("failure" in outcome ? assert.fail(`${what}: ${outcome.failure}`) : outcome.by));
  return [...new Set(names)].sort();
}

function shown({ namespace }: TrafficPlace, { protocol, address, port }: TrafficTarget): string {
  return `${protocol} from ${namespace.name} to ${address} port ${port}`;
}

export function tcp(address: string, port: number): TrafficTarget {
  return { protocol: "TCP", address, port };
}

export function udp(address: string, port: number): TrafficTarget {
  return { protocol: "UDP", address, port };
}

/** A port of "default/<name>", TCP unless `fields` has another protocol. */
export function aPort(
  name: string,
  fields: Partial<ServicePort> & Pick<ServicePort, "clusterIp" | "port">,
  endpoints: readonly ServiceEndpoint[] = [],
): ServicePort {
  return aServicePort({
    name,
    portName: "",
    family: fields.clusterIp.includes(":") ? 6 : 4,
    clusterEndpoints: endpoints,
    localEndpoints: endpoints.filter(({ isLocal }) => isLocal),
    hasEndpoints: endpoints.length > 0,
    ...fields,
  });
}

/** Endpoints: port 8080 of the Pods unless another one of theirs is given. */
export function onA(family: Family = 4, port = 8080): ServiceEndpoint {
  return { address: POD_A[family], port, isLocal: true };
}

export function onB(family: Family = 4, port = 8080): ServiceEndpoint {
  return { address: POD_B[family], port, isLocal: true };
}

export function onRemote(family: Family = 4, port = 8080): ServiceEndpoint {
  return { address: REMOTE_POD[family], port, isLocal: false };
}
