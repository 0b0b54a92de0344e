/**
 * Plugin `forward`: resolves all other names with the nameservers of the node, in their order; one that fails, refuses or does not answer is
 * followed by the next. resolv.conf is read again when it changes.
 *
 * A loop (an upstream that forwards to this server) is found as CoreDNS finds it: a query for a random name is sent to each upstream, and
 * one that comes back names the upstream, which is not used any more. Queries in flight are limited, in all and per client, and so are
 * attempts per query; while no upstream answers, few are sent at all. So a client that floods the server with names of a dead upstream
 * neither keeps other clients from theirs nor delays answers about the cluster.
 */
import { NOT_NEEDED } from "../../../base/abort.ts";
import { readTextIfAny } from "../../../host/files/files.ts";
import { failure } from "../../answers.ts";
import type { DnsAnswer, DnsPlugin, DnsQuery, PluginContext, RunningPlugin } from "../../plugin.ts";
import { FLAG, RCODE, TYPE } from "../../wire/codes.ts";
import { writeQuestion } from "../../wire/write-message.ts";
import { nameserversOf, upstreamAddresses } from "./upstream-addresses.ts";
import { Upstream, type UpstreamResponse } from "./upstream.ts";

/** How often resolv.conf is read: a laptop that changes networks has new nameservers. */
const RELOAD_MS = 5_000;

/** Upstreams that are tried for one query: clients give up after 5 s. */
const ATTEMPTS_MAX = 3;

/** Part of all queries in flight that one client may have. */
const CLIENT_PART = 1 / 4;

/**
 * Queries in flight while all upstreams are down, besides the probes that find out when one is back; others fail at once. Each costs a socket
 * and a timer, and most fail anyway.
 */
const DOWN_CONCURRENCY_MAX = 32;

/** Of systemd-resolved's own address: its file with the real nameservers, which all programs of the machine's network can reach. */
const RESOLVED = { stub: "127.0.0.53", file: "/run/systemd/resolve/resolv.conf" };

export const forward: DnsPlugin = {
  name: "forward",
  order: 70,
  async start(context): Promise<RunningPlugin> {
    const forwarder = new Forwarder(context);
    await forwarder.load();
    const stop = new AbortController();
    const reloading = forwarder.follow(stop.signal);
    return {
      handle: (query) => forwarder.answer(query),
      metrics: () => forwarder.metrics(),
      async [Symbol.asyncDispose]() {
        stop.abort(NOT_NEEDED);
        await reloading;
      },
    };
  },
};

class Forwarder {
  readonly #context: PluginContext;
  #texts = "";
  #upstreams: readonly Upstream[] = [];
  /** Upstreams by the random name that was sent to them. */
  readonly #probes = new Map<string, Upstream>();
  #inFlight = 0;
  readonly #inFlightByClient = new Map<string, number>();
  #refused = 0;

  constructor(context: PluginContext) {
    this.#context = context;
  }

  /** Reads the list of upstreams; those that stay keep their health. */
  async load(): Promise<void> {
    const { configuration, clock, random, log, listens } = this.#context;
    const { upstreams: configured, timeoutMs } = configuration.forward;
    const texts = configured.length > 0 ? configured : await this.#nameservers();
    if (texts.join(" ") === this.#texts) return;
    this.#texts = texts.join(" ");
    const { peers, problems } = upstreamAddresses(texts, listens);
    for (const problem of problems) log.warn("An upstream is not used", { problem });
    const known = new Map(this.#upstreams.map((upstream) => [upstream.name, upstream]));
    this.#upstreams = peers
      .map((peer) => new Upstream({ peer, timeoutMs, clock, random: random.derive("dns-upstream") }))
      .map((upstream) => known.get(upstream.name) ?? upstream);
    log.info("Forwarding names of other domains", { upstreams: this.#upstreams.map(({ name }) => name) });
    for (const upstream of this.#upstreams) if (!known.has(upstream.name)) this.#probeLoop(upstream);
  }

  async #nameservers(): Promise<readonly string[]> {
    const { configuration, clock, log } = this.#context;
    const file = configuration.forward.resolvConf;
    try {
      const found = nameserversOf(await clock.external(readTextIfAny(file)));
      if (!found.includes(RESOLVED.stub)) return found;
      const real = nameserversOf(await clock.external(readTextIfAny(RESOLVED.file)));
      return real.length > 0 ? real : found;
    } catch (error) {
      log.warn("Reading the nameservers failed; the last ones stay in use", { file, error });
      return this.#texts === "" ? [] : this.#texts.split(" ");
    }
  }

  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#context.clock.sleep(RELOAD_MS, signal).catch(() => undefined);
      if (!signal.aborted) await this.load();
    }
  }

  #probeLoop(upstream: Upstream): void {
    const { random } = this.#context;
    const word = () => `${random.below(2 ** 32)}${random.below(2 ** 32)}`;
    const name = `${word()}.${word()}`;
    this.#probes.set(name, upstream);
    const query = { name, type: TYPE.HINFO, question: writeQuestion(name, TYPE.HINFO), flags: FLAG.RECURSION_DESIRED, edns: undefined };
    // Whatever it answers: only whether the query comes back matters.
    void upstream
      .exchange(query)
      .catch(() => undefined)
      .finally(() => this.#probes.delete(name));
  }

  #isProbe({ type, name }: DnsQuery): boolean {
    const upstream = type === TYPE.HINFO ? this.#probes.get(name) : undefined;
    if (upstream === undefined) return false;
    if (!upstream.isLoop)
      this.#context.log.error("An upstream forwards to this server and is not used; name another with --dns-upstreams", {
        upstream: upstream.name,
      });
    upstream.isLoop = true;
    return true;
  }

  answer(query: DnsQuery): DnsAnswer | Promise<DnsAnswer> {
    if (this.#isProbe(query)) return failure(RCODE.SERVFAIL);
    if ((query.flags & FLAG.RECURSION_DESIRED) === 0) return failure(RCODE.REFUSED);
    const usable = this.#upstreams.filter(({ isLoop }) => !isLoop);
    if (usable.length === 0) return failure(RCODE.SERVFAIL);
    if (this.#isOverLimit(query)) {
      this.#refused++;
      return failure(RCODE.REFUSED);
    }
    const candidates = candidatesOf(usable);
    if (candidates.isHopeless && this.#inFlight >= DOWN_CONCURRENCY_MAX) return failure(RCODE.SERVFAIL);
    this.#count(query, 1);
    return this.#forward(query, candidates.upstreams).finally(() => this.#count(query, -1));
  }

  #isOverLimit({ client }: DnsQuery): boolean {
    const { concurrencyMax } = this.#context.configuration.forward;
    if (this.#inFlight >= concurrencyMax) return true;
    return client !== undefined && (this.#inFlightByClient.get(client) ?? 0) >= Math.ceil(concurrencyMax * CLIENT_PART);
  }

  /** The map has an entry per client with queries in flight, whose number is limited. */
  #count({ client }: DnsQuery, by: 1 | -1): void {
    this.#inFlight += by;
    if (client === undefined) return;
    const count = (this.#inFlightByClient.get(client) ?? 0) + by;
    if (count === 0) this.#inFlightByClient.delete(client);
    else this.#inFlightByClient.set(client, count);
  }

  /** The first usable response; otherwise the last refusal; otherwise rejects with the last error. */
  async #forward(query: DnsQuery, candidates: readonly Upstream[]): Promise<DnsAnswer> {
    let refusal: UpstreamResponse | undefined;
    let error: unknown;
    for (const upstream of candidates.slice(0, ATTEMPTS_MAX)) {
      try {
        const response = await upstream.exchange(query);
        if (response.rcode === RCODE.NOERROR || response.rcode === RCODE.NXDOMAIN) return { is: "message", ...response };
        refusal = response;
      } catch (failed) {
        error = failed;
      }
    }
    if (refusal !== undefined) return { is: "message", ...refusal };
    throw new Error(`Cannot resolve a name with the upstreams: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }

  metrics() {
    const of = (value: (upstream: Upstream) => number) =>
      this.#upstreams.map((upstream) => ({ labels: { to: upstream.name }, value: value(upstream) }));
    return [
      {
        ...{ name: "coredns_forward_requests_total", type: "counter" as const, help: "Counter of requests made per upstream." },
        samples: of(({ counts }) => counts.requests),
      },
      {
        ...{
          name: "coredns_forward_failures_total",
          type: "counter" as const,
          help: "Counter of requests that an upstream did not answer.",
        },
        samples: of(({ counts }) => counts.failures),
      },
      {
        ...{ name: "coredns_forward_upstream_up", type: "gauge" as const, help: "Whether an upstream is used (1) or down (0)." },
        samples: of(({ isDown, isLoop }) => (isDown || isLoop ? 0 : 1)),
      },
      {
        ...{ name: "coredns_forward_max_concurrent_rejects_total", type: "counter" as const },
        help: "Counter of the number of queries rejected because the concurrent queries were at maximum.",
        samples: [{ labels: {}, value: this.#refused }],
      },
    ];
  }
}

interface Candidates {
  /** Those that are up, in their order, then those that are down; one that is due for a probe comes first. */
  readonly upstreams: readonly Upstream[];
  /** True if all are down, and none is due for a probe. */
  readonly isHopeless: boolean;
}

function candidatesOf(usable: readonly Upstream[]): Candidates {
  const up = usable.filter(({ isDown }) => !isDown);
  if (up.length === usable.length) return { upstreams: usable, isHopeless: false };
  const probed = usable.find((upstream) => upstream.takesProbe());
  const others = [...up, ...usable.filter(({ isDown }) => isDown)].filter((upstream) => upstream !== probed);
  if (probed === undefined) return { upstreams: others, isHopeless: up.length === 0 };
  return { upstreams: [probed, ...others], isHopeless: false };
}
