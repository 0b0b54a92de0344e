/**
 * Measures the resource usage of all nodes, on request: the kubelets are scraped when a client reads metrics and the last measurement is
 * too old, so a cluster in which no client does costs nothing. The average CPU usage is that between two scrapes; the first reader after a
 * pause waits for the second one. A node that does not respond is missing. State is kept in memory only: every API server measures by
 * itself.
 */
import type { Node } from "../../../api/generated/core/v1.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import { answerBytes } from "../../shared/answer-bytes.ts";
import { kubeletAddress } from "../../shared/kubelet-address.ts";
import { forEachAtOnce, withinTimeout } from "../../shared/scraping.ts";
import { readNodeSample, type NodeSample } from "./node-sample.ts";
import { usageBetween, type NodeUsage } from "./usage.ts";

/**
 * Age at which a measurement is repeated. Shorter than the autoscaler's interval of 15 s, so that it never reads the same one twice, and
 * long enough for an average that a single tick of the kernel's clock does not change.
 */
const FRESH_MS = 5_000;
/** A sample older than this says nothing about the present load. */
const WINDOW_MAX_MS = 90_000;
/** Window of the first measurement after a pause: kernels count CPU time in hundredths of a second, and a reader waits for it. */
const FIRST_WINDOW_MS = 1_000;
/** A kubelet that takes longer is overloaded or unreachable: its node is missing. */
const SCRAPE_TIMEOUT_MS = 5_000;
/** Connections at a time: a cluster of thousands of nodes must not take all sockets of the server. */
const AT_ONCE_MAX = 50;
/** A page has about 500 bytes per container, and a node some hundred containers. */
const PAGE_BYTES_MAX = 16 << 20;

const PATH = "/metrics/resource";
const NODES = { group: "", plural: "nodes" };

export type UsageByNode = ReadonlyMap<string, NodeUsage>;

export class UsageSource {
  readonly #server: ServerContext;
  readonly #samples = new Map<string, NodeSample>();
  #measured: { readonly atMs: number; readonly usage: UsageByNode } | undefined;
  #measuring: Promise<UsageByNode> | undefined;

  constructor(server: ServerContext) {
    this.#server = server;
  }

  /** By node name. Concurrent readers share one measurement. */
  async usage(): Promise<UsageByNode> {
    const { clock } = this.#server;
    if (this.#measured !== undefined && clock.monotonic() - this.#measured.atMs < FRESH_MS) return this.#measured.usage;
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = undefined));
    return this.#measuring;
  }

  async #measure(): Promise<UsageByNode> {
    const { clock, objects } = this.#server;
    const nodes = await objects.list<Node>(NODES, "");
    this.#forget(new Set(nodes.map(({ metadata }) => metadata.name)));
    if (nodes.length > 0 && this.#samples.size === 0) {
      await this.#scrapeAll(nodes);
      await clock.sleep(FIRST_WINDOW_MS);
    }
    const before = new Map(this.#samples);
    const now = await this.#scrapeAll(nodes);
    const usage = new Map([...now].map(([name, sample]) => [name, usageBetween(before.get(name), sample)]));
    this.#measured = { atMs: clock.monotonic(), usage };
    return usage;
  }

  /** Drops samples of deleted nodes, and old ones. */
  #forget(names: ReadonlySet<string>): void {
    const nowMs = this.#server.clock.now();
    for (const [name, { atMs }] of this.#samples) {
      if (!names.has(name) || nowMs - atMs > WINDOW_MAX_MS || atMs > nowMs) this.#samples.delete(name);
    }
  }

  /** The new samples. The last one of a node that did not respond is kept. */
  async #scrapeAll(nodes: readonly Node[]): Promise<ReadonlyMap<string, NodeSample>> {
    const found = new Map<string, NodeSample>();
    await forEachAtOnce(nodes, AT_ONCE_MAX, async (node) => {
      const sample = await this.#scrape(node);
      if (sample === undefined) return;
      found.set(node.metadata.name, sample);
      this.#samples.set(node.metadata.name, sample);
    });
    return found;
  }

  /** Undefined if the kubelet does not respond in time. */
  async #scrape(node: Node): Promise<NodeSample | undefined> {
    const { clock, log } = this.#server;
    try {
      const limit = { clock, timeoutMs: SCRAPE_TIMEOUT_MS, target: "the kubelet" };
      return readNodeSample(await withinTimeout(limit, (signal) => this.#page(node, signal)), clock.now());
    } catch (error) {
      log.debug("Scraping the resource usage of a node failed", { node: node.metadata.name, error });
      return undefined;
    }
  }

  async #page(node: Node, signal: AbortSignal): Promise<string> {
    const { connector, config } = this.#server;
    if (connector === undefined) throw new Error("this API server has no connection to nodes");
    const address = kubeletAddress(node, config.kubeletPreferredAddressTypes);
    const answer = await connector.connect({
      subresource: "metrics",
      target: { is: "kubelet", node: address },
      options: {},
      method: "GET",
      path: PATH,
      // For a server that many simulated nodes share; a kubelet ignores it.
      query: `node=${encodeURIComponent(address.name)}`,
      headers: {},
      body: () => Promise.resolve(new Uint8Array()),
      signal,
    });
    if ("code" in answer && answer.code !== 200) throw new Error(`the kubelet responded to ${PATH} with code ${answer.code}`);
    return new TextDecoder().decode(await answerBytes(answer, PAGE_BYTES_MAX));
  }
}
