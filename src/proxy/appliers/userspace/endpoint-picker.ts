/**
 * Chooses endpoints for the clients of one address of a Service: round robin, or, with session affinity, the endpoint that a client had
 * within the timeout. Pure. A changed list of endpoints keeps the affinity of clients whose endpoint is still in it.
 */
import { Lru } from "../../../base/lru.ts";
import { hostPort } from "../../compute/slice-endpoints.ts";
import type { ServiceEndpoint } from "../../model.ts";

/** Clients with affinity per Service. A client beyond it loses its affinity if it was idle longest. */
const CLIENTS_MAX = 10_000;

interface Affinity {
  /** "10.244.0.5:80" */
  readonly endpoint: string;
  readonly untilMs: number;
}

export class EndpointPicker {
  #endpoints: readonly ServiceEndpoint[] = [];
  #affinityMs: number | undefined;
  #next = 0;
  readonly #clients = new Lru<string, Affinity>({ max: CLIENTS_MAX });

  update(endpoints: readonly ServiceEndpoint[], affinitySeconds: number | undefined): void {
    this.#endpoints = endpoints;
    this.#affinityMs = affinitySeconds === undefined ? undefined : affinitySeconds * 1_000;
  }

  /** All endpoints in the order of attempts. */
  candidates(client: string, nowMs: number): readonly ServiceEndpoint[] {
    const all = this.#endpoints;
    const kept = this.#affinityMs === undefined ? undefined : this.#clients.get(client);
    const index = kept === undefined || kept.untilMs <= nowMs ? -1 : all.findIndex((one) => keyOf(one) === kept.endpoint);
    const first = index >= 0 ? index : this.#next++ % Math.max(1, all.length);
    return [...all.slice(first), ...all.slice(0, first)];
  }

  /** The endpoint that a client is connected to. The timeout starts again with every connection, as in the kernel. */
  connected(client: string, endpoint: Pick<ServiceEndpoint, "address" | "port">, nowMs: number): void {
    if (this.#affinityMs !== undefined) this.#clients.set(client, { endpoint: keyOf(endpoint), untilMs: nowMs + this.#affinityMs });
  }
}

function keyOf({ address, port }: Pick<ServiceEndpoint, "address" | "port">): string {
  return hostPort(address, port);
}
