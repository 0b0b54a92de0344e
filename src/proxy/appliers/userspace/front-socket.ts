/** The listening sockets of one front: connections go to its endpoints by round robin or session affinity. */
import type { Clock } from "../../../base/clock.ts";
import { hostPort } from "../../compute/slice-endpoints.ts";
import type { SocketBudget } from "../../../host/network/socket-budget.ts";
import { startTcpRelay, type Relay, type RelayTarget } from "../../../host/network/tcp-relay.ts";
import { startUdpRelay } from "../../../host/network/udp-relay.ts";
import { EndpointPicker } from "./endpoint-picker.ts";
import type { ClientRules, Front } from "./fronts.ts";

export interface FrontSocketOptions {
  readonly budget: SocketBudget;
  readonly clock: Clock;
}

export class FrontSocket implements AsyncDisposable {
  readonly #options: FrontSocketOptions;
  readonly #outside = new EndpointPicker();
  readonly #inside = new EndpointPicker();
  /** By "address:port" that was requested. */
  readonly #relays = new Map<string, Relay>();
  #front: Front;
  #clients: ClientRules;

  constructor(front: Front, clients: ClientRules, options: FrontSocketOptions) {
    this.#options = options;
    this.#front = front;
    this.#clients = clients;
    this.update(front, clients);
  }

  /** UDP flows to endpoints that are no longer usable end: their datagrams would be lost. TCP connections continue. */
  update(front: Front, clients: ClientRules): void {
    this.#front = front;
    this.#clients = clients;
    const { affinitySeconds, protocol } = front.servicePort;
    this.#outside.update(front.outside, affinitySeconds);
    this.#inside.update(front.inside, affinitySeconds);
    if (protocol !== "UDP") return;
    const usable = new Set([...front.outside, ...front.inside].map(({ address, port }) => hostPort(address, port)));
    for (const relay of this.#relays.values()) relay.prune(({ address, port }) => usable.has(hostPort(address, port)));
  }

  /** Listens there, unless it already does. Resolves with the port. Rejects with a ListenError. */
  async listen(host: string, port: number): Promise<number> {
    const key = hostPort(host, port);
    const known = this.#relays.get(key);
    if (known !== undefined) {
      await known.refresh?.();
      return known.port;
    }
    const start = this.#front.servicePort.protocol === "UDP" ? startUdpRelay : startTcpRelay;
    const relay = await start({
      ...{ host, port, budget: this.#options.budget },
      targets: (client) => this.#targets(client),
      connected: (client, target) => this.#picker(client).connected(client, target, this.#nowMs()),
    });
    this.#relays.set(key, relay);
    return relay.port;
  }

  /** Closes listeners other than these: "0.0.0.0:30080". */
  async keepOnly(wanted: ReadonlySet<string>): Promise<void> {
    for (const [key, relay] of [...this.#relays]) {
      if (wanted.has(key)) continue;
      this.#relays.delete(key);
      await relay[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keepOnly(new Set());
  }

  #targets(client: string): readonly RelayTarget[] {
    return this.#clients.mayUse(this.#front, client) ? this.#picker(client).candidates(client, this.#nowMs()) : [];
  }

  #picker(client: string): EndpointPicker {
    return this.#clients.isInside(client) ? this.#inside : this.#outside;
  }

  #nowMs(): number {
    return this.#options.clock.monotonic();
  }
}
