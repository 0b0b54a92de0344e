/**
 * One upstream server: a query to it over UDP, repeated over TCP if the response is truncated, and its health. After FAILURES_MAX failures
 * in a row it is down: it is used only if no other is up, and is probed with a growing delay until it answers.
 */
import { Backoff } from "../../../base/backoff.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import { exchangeDatagram, unpredictableUint16, type DatagramPeer } from "../../../host/network/datagrams.ts";
import { exchangeFramed } from "../../../host/network/framed-tcp.ts";
import type { DnsQuery } from "../../plugin.ts";
import { readMessage, type ReadMessage } from "../../wire/read-message.ts";
import { uint16 } from "../../wire/read-query.ts";
import { writeForwarded } from "../../wire/write-message.ts";

/** CoreDNS' number. */
const FAILURES_MAX = 2;

const PROBE_MIN_MS = 500;
const PROBE_MAX_MS = 10_000;

export interface UpstreamResponse {
  readonly bytes: Uint8Array;
  readonly rcode: number;
}

export interface UpstreamOptions {
  readonly peer: DatagramPeer;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

type AskedQuery = Pick<DnsQuery, "flags" | "question" | "edns" | "name" | "type">;

export class Upstream {
  readonly peer: DatagramPeer;
  readonly #options: UpstreamOptions;
  readonly #probeDelays: Backoff;
  #failures = 0;
  #nextProbeMs = 0;
  /** Its answers come from this server itself. */
  isLoop = false;
  readonly counts = { requests: 0, failures: 0 };

  constructor(options: UpstreamOptions) {
    this.peer = options.peer;
    this.#options = options;
    this.#probeDelays = new Backoff({ minMs: PROBE_MIN_MS, maxMs: PROBE_MAX_MS, random: options.random });
  }

  get name(): string {
    const { address, port } = this.peer;
    return `${address.includes(":") ? `[${address}]` : address}:${port}`;
  }

  get isDown(): boolean {
    return this.#failures >= FAILURES_MAX;
  }

  /** True once per delay while it is down: the query that gets it is the probe. */
  takesProbe(): boolean {
    const nowMs = this.#options.clock.monotonic();
    if (!this.isDown || nowMs < this.#nextProbeMs) return false;
    this.#nextProbeMs = nowMs + this.#probeDelays.next();
    return true;
  }

  /** Rejects if it does not answer in time, or not with a response to this query. */
  async exchange(query: AskedQuery): Promise<UpstreamResponse> {
    const { clock, timeoutMs } = this.#options;
    this.counts.requests++;
    const timeout = new AbortController();
    const done = new AbortController();
    clock.sleep(timeoutMs, done.signal).then(
      () => timeout.abort(new Error(`${this.name} did not answer within ${timeoutMs} ms`)),
      () => undefined,
    );
    try {
      const response = await clock.external(this.#exchange(query, timeout.signal));
      this.#failures = 0;
      this.#probeDelays.reset();
      return response;
    } catch (error) {
      this.#failed();
      throw error;
    } finally {
      done.abort();
    }
  }

  #failed(): void {
    this.counts.failures++;
    this.#failures++;
    if (this.#failures === FAILURES_MAX) this.#nextProbeMs = this.#options.clock.monotonic() + this.#probeDelays.next();
  }

  async #exchange(query: AskedQuery, signal: AbortSignal): Promise<UpstreamResponse> {
    const id = unpredictableUint16();
    const bytes = writeForwarded(query, id);
    let message: ReadMessage | undefined;
    const accepts = (received: Uint8Array): boolean => {
      // Anything else may be forged: the right one may still come.
      if (received.length < 2 || uint16(received, 0) !== id) return false;
      message = readMessage(received);
      return message !== undefined && isResponseTo(message, query);
    };
    const answer = await exchangeDatagram({ to: this.peer, bytes, accepts, signal });
    if (message?.isTruncated !== true) return { bytes: answer, rcode: message?.rcode ?? 0 };
    const whole = await exchangeFramed({ to: this.peer, bytes, signal });
    if (!accepts(whole)) throw new Error(`${this.name} answered over TCP with something else than the response`);
    return { bytes: whole, rcode: message.rcode };
  }
}

function isResponseTo({ question }: ReadMessage, { name, type }: Pick<DnsQuery, "name" | "type">): boolean {
  return question !== undefined && question.name === name && question.type === type;
}
