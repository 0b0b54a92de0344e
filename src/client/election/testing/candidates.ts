/**
 * Candidates of one election for tests, each as if in its own process on its own machine: with a wall clock and a monotonic clock that
 * differ from the others', with a network that can be cut, and mortal. A leader acts every 100 ms, and every action and start checks that
 * there are not two leaders.
 */
import type { Lease } from "../../../api/generated/coordination.k8s.io/v1.ts";
import { leases } from "../../../api/coordination.k8s.io/v1/lease.ts";
import { StatusError } from "../../../api/machinery/status-error.ts";
import type { Transport, TransportWatch } from "../../../api/machinery/transport.ts";
import { onAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/logger.ts";
import { seededRandom } from "../../../base/random.ts";
import type { VirtualClock } from "../../../base/virtual-clock.ts";
import { given, type Given } from "../../../testing/given.ts";
import type { Client } from "../../client.ts";
import { createClient } from "../../rest-client.ts";
import { startLeaderElection, type LeaderElection, type LeaderElectionOptions } from "../leader-election.ts";

export const LEASE = { namespace: "default", name: "web" };
const ACT_EVERY_MS = 100;

export interface Hall extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly client: Client;
  /** "a leads at 0", "a ends at 10000", in order; milliseconds since the start. */
  readonly log: string[];
  /** Times at which there were two leaders. Always empty. */
  readonly violations: string[];
  stand(identity: string, options?: CandidateOptions): Candidate;
  lease(): Promise<Lease>;
  /** Advances time until a candidate other than `than` leads, and returns it with the elapsed time. */
  nextLeader(than?: string): Promise<{ readonly identity: string; readonly tookMs: number }>;
}

export interface CandidateOptions extends Partial<LeaderElectionOptions> {
  /** Skew of the machine's clocks. */
  readonly skewMs?: number;
  /** Default: "connected". */
  readonly network?: Network;
  /** Whether the server permits it to watch. Default: true. */
  readonly mayWatch?: boolean;
}

/**
 * "refused": every request fails at once. "silent": no response ever comes. "lost answers": the server executes the request, and the
 * response is lost.
 */
export type Network = "connected" | "refused" | "silent" | "lost answers";

export async function openHall(): Promise<Hall> {
  const cluster = await given();
  return new TestHall(cluster);
}

class TestHall implements Hall {
  readonly log: string[] = [];
  readonly violations: string[] = [];
  readonly candidates: Candidate[] = [];
  readonly #cluster: Given;

  constructor(cluster: Given) {
    this.#cluster = cluster;
  }

  get clock(): VirtualClock {
    return this.#cluster.clock;
  }

  get client(): Client {
    return this.#cluster.client;
  }

  stand(identity: string, options: CandidateOptions = {}): Candidate {
    const candidate = new Candidate(identity, { hall: this, transport: this.#cluster.server.transport(), options });
    this.candidates.push(candidate);
    return candidate;
  }

  lease(): Promise<Lease> {
    return this.client.get(leases, LEASE);
  }

  async nextLeader(than?: string): Promise<{ readonly identity: string; readonly tookMs: number }> {
    const startMs = this.clock.monotonic();
    const leading = () => this.candidates.find(({ identity, election }) => identity !== than && election.isLeading());
    await this.clock.advanceUntil(() => leading() !== undefined, { withinMs: 60_000 });
    return { identity: leading()?.identity ?? "", tookMs: this.clock.monotonic() - startMs };
  }

  note(what: string): void {
    this.log.push(`${what} at ${this.clock.monotonic() / 1_000}`);
  }

  look(): void {
    const leading = this.candidates.filter(({ election }) => election.isLeading()).map(({ identity }) => identity);
    if (leading.length > 1) this.violations.push(`${leading.join(" and ")} lead at ${this.clock.monotonic() / 1_000}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = Promise.all(this.candidates.filter(({ process }) => process.state === "runs").map(({ election }) => election.stop()));
    await this.clock.advance(60_000);
    await stopped;
    await this.#cluster[Symbol.asyncDispose]();
  }
}

export class Candidate {
  readonly identity: string;
  readonly process: TestProcess;
  readonly election: LeaderElection;
  readonly #hall: TestHall;

  constructor(
    identity: string,
    { hall, transport, options }: { readonly hall: TestHall; readonly transport: Transport; readonly options: CandidateOptions },
  ) {
    this.identity = identity;
    this.#hall = hall;
    const { skewMs = 0, network = "connected", mayWatch = true, ...rest } = options;
    this.process = new TestProcess(hall.clock, transport, { skewMs, network, mayWatch });
    this.election = startLeaderElection({
      client: createClient(this.process.transport),
      lease: LEASE,
      identity,
      clock: this.process.clock,
      random: seededRandom(1),
      log: silentLogger,
      onStartedLeading: (signal) => this.#lead(signal),
      onStoppedLeading: () => undefined,
      ...rest,
    });
  }

  #lead(signal: AbortSignal): void {
    this.#hall.note(`${this.identity} leads`);
    onAbort(signal, () => this.#hall.note(`${this.identity} ends`));
    void this.#act(signal);
  }

  async #act(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.election.isLeading()) this.#hall.look();
      await this.process.clock.sleep(ACT_EVERY_MS);
    }
  }
}

/** The world as a process sees it. */
class TestProcess {
  /** "frozen": as after SIGSTOP, time passes without it. "dead": forever. */
  state: "runs" | "frozen" | "dead" = "runs";
  network: Network;
  /** Requests so far, by verb. */
  readonly requests: string[] = [];
  readonly clock: Clock;
  readonly transport: Transport;
  readonly #watches = new Set<TransportWatch>();
  #thaw = (): void => undefined;
  #frozen: Promise<void> | undefined;

  constructor(
    clock: VirtualClock,
    transport: Transport,
    { skewMs, network, mayWatch }: { readonly skewMs: number; readonly network: Network; readonly mayWatch: boolean },
  ) {
    this.network = network;
    this.clock = {
      now: () => clock.now() + skewMs,
      monotonic: () => clock.monotonic() + Math.abs(skewMs),
      sleep: async (durationMs, signal) => {
        await clock.sleep(durationMs, signal);
        await this.#frozen;
      },
      soon: (work) => clock.soon(work),
      external: (operation) => clock.external(operation),
    };
    this.transport = {
      request: async (request) => {
        this.requests.push(request.verb);
        const isReceived = this.network !== "lost answers";
        if (this.network === "refused") throw new StatusError("ServiceUnavailable", "Connection refused");
        if (this.network === "silent") return never(request.signal);
        const answer = await transport.request(request);
        if (!isReceived) return never(request.signal);
        await this.#frozen;
        return answer;
      },
      document: (path, options) => transport.document(path, options),
      watch: async (request, listener) => {
        if (!mayWatch) throw new StatusError("Forbidden", "Watching leases is not allowed");
        if (this.network !== "connected") throw new StatusError("ServiceUnavailable", "Connection refused");
        const watch = await transport.watch(request, {
          // Messages to a suspended process are read when it resumes.
          event: (event) => void (this.#frozen === undefined ? listener.event(event) : this.#frozen.then(() => listener.event(event))),
          ended: () => listener.ended(),
        });
        this.#watches.add(watch);
        return watch;
      },
    };
  }

  /** Changes the network state; open streams break. */
  cut(network: Network): void {
    this.network = network;
    for (const watch of this.#watches) watch.stop();
    this.#watches.clear();
  }

  freeze(): void {
    this.state = "frozen";
    this.#frozen = new Promise((resolve) => (this.#thaw = resolve));
  }

  thaw(): void {
    this.state = "runs";
    this.#frozen = undefined;
    this.#thaw();
  }

  /** As by SIGKILL. */
  kill(): void {
    this.freeze();
    this.state = "dead";
  }
}

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal !== undefined) onAbort(signal, () => reject(signal.reason as Error));
  });
}
