/**
 * Scrapes annotated Pods on request: a namespace's Pods when a client reads its metrics and the last scrape is too old, so a cluster in
 * which no client does costs nothing. Rates are those between two scrapes; the first reader after a pause waits for the second one. A Pod
 * that does not respond has no metrics. State is kept in memory only: every API server scrapes by itself.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { answerBytes } from "../shared/answer-bytes.ts";
import { forEachAtOnce, withinTimeout } from "../shared/scraping.ts";
import { metricsBetween, readPageSample, type PageMetrics, type PageSample } from "./page-sample.ts";
import { scrapeTargetOf, type ScrapeTarget } from "./scrape-target.ts";

/** Age at which a scrape is repeated: shorter than the autoscaler's interval of 15 s, so that it never reads the same one twice. */
const FRESH_MS = 5_000;
/** A sample older than this says nothing about the present load. */
const WINDOW_MAX_MS = 90_000;
/** Window of the first rates after a pause: a reader waits for it. */
const FIRST_WINDOW_MS = 1_000;
/** A program that takes longer to write its page is overloaded or unreachable: its Pod has no metrics. */
const SCRAPE_TIMEOUT_MS = 5_000;
/** Connections at a time, of one namespace. */
const AT_ONCE_MAX = 20;
/** Scraped Pods of a namespace. Larger ones need Prometheus and an adapter; the Pods beyond have no metrics. */
const TARGETS_MAX = 500;
/** Prometheus itself warns of pages much smaller than this; reading one takes some 20 ms of the server's time. */
const PAGE_BYTES_MAX = 1 << 20;
/** Series of one page. */
const SERIES_PER_PAGE_MAX = 5_000;
/** Series of all pages that are kept for the next rates: some 100 MB at most. */
const SERIES_MAX = 200_000;

const PODS = { group: "", plural: "pods" };

export interface PodMetrics {
  readonly pod: Pod;
  readonly atMs: number;
  readonly metrics: PageMetrics;
}

interface NamespaceMetrics {
  readonly atMs: number;
  readonly pods: readonly PodMetrics[];
}

export class PodMetricsSource {
  readonly #server: ServerContext;
  readonly #onScraped: () => void;
  /** By UID of the Pod. */
  readonly #samples = new Map<string, PageSample>();
  #keptSeries = 0;
  /** By namespace; dropped when it is too old. */
  readonly #measured = new Map<string, NamespaceMetrics>();
  readonly #measuring = new Map<string, Promise<readonly PodMetrics[]>>();

  /** `onScraped` is called after each scrape of a namespace. */
  constructor(server: ServerContext, onScraped: () => void) {
    this.#server = server;
    this.#onScraped = onScraped;
  }

  /** The metrics of a namespace's Pods. Concurrent readers share one measurement. */
  async read(namespace: string): Promise<readonly PodMetrics[]> {
    const known = this.#measured.get(namespace);
    if (known !== undefined && this.#server.clock.now() - known.atMs < FRESH_MS) return known.pods;
    const running = this.#measuring.get(namespace);
    if (running !== undefined) return running;
    const measuring = this.#measure(namespace).finally(() => this.#measuring.delete(namespace));
    this.#measuring.set(namespace, measuring);
    return measuring;
  }

  /** Namespaces with annotated Pods. */
  async namespaces(): Promise<readonly string[]> {
    const pods = await this.#server.objects.list<Pod>(PODS, "");
    const names = pods.filter((pod) => scrapeTargetOf(pod) !== undefined).map(({ metadata }) => metadata.namespace ?? "");
    return [...new Set(names)];
  }

  /** Names of the metrics that the last scrapes found. */
  knownNames(): readonly string[] {
    const names = [...this.#measured.values()].flatMap(({ pods }) => pods.flatMap(({ metrics }) => [...metrics.keys()]));
    return [...new Set(names)].sort();
  }

  async #measure(namespace: string): Promise<readonly PodMetrics[]> {
    const { clock } = this.#server;
    this.#forget();
    const targets = await this.#targets(namespace);
    if (targets.every(({ pod }) => !this.#samples.has(uidOf(pod)))) {
      const first = await this.#scrapeAll(targets);
      if ([...first.values()].some(({ hasCounters }) => hasCounters)) await clock.sleep(FIRST_WINDOW_MS);
    }
    const before = new Map(targets.map(({ pod }) => [uidOf(pod), this.#samples.get(uidOf(pod))]));
    const now = await this.#scrapeAll(targets);
    const pods = targets.flatMap(({ pod }): readonly PodMetrics[] => {
      const sample = now.get(uidOf(pod));
      return sample === undefined ? [] : [{ pod, atMs: sample.atMs, metrics: metricsBetween(before.get(uidOf(pod)), sample) }];
    });
    this.#measured.set(namespace, { atMs: clock.now(), pods });
    this.#onScraped();
    return pods;
  }

  async #targets(namespace: string): Promise<readonly ScrapeTarget[]> {
    const pods = await this.#server.objects.list<Pod>(PODS, namespace);
    const targets = pods.flatMap((pod) => scrapeTargetOf(pod) ?? []);
    if (targets.length > TARGETS_MAX)
      this.#server.log.warn("Too many Pods are annotated for scraping: those beyond the limit have no custom metrics", {
        namespace,
        pods: targets.length,
        limit: TARGETS_MAX,
      });
    return targets.slice(0, TARGETS_MAX);
  }

  /** Drops old samples and measurements, also those of deleted Pods. */
  #forget(): void {
    const nowMs = this.#server.clock.now();
    const isOld = (atMs: number): boolean => nowMs - atMs > WINDOW_MAX_MS || atMs > nowMs;
    for (const [uid, { atMs }] of this.#samples) if (isOld(atMs)) this.#keep(uid, undefined);
    for (const [namespace, { atMs }] of this.#measured) if (isOld(atMs)) this.#measured.delete(namespace);
  }

  #keep(uid: string, sample: PageSample | undefined): void {
    this.#keptSeries -= this.#samples.get(uid)?.series.size ?? 0;
    this.#samples.delete(uid);
    if (sample === undefined || this.#keptSeries + sample.series.size > SERIES_MAX) return;
    this.#samples.set(uid, sample);
    this.#keptSeries += sample.series.size;
  }

  /** The new samples by UID. The last one of a Pod that did not respond is kept. */
  async #scrapeAll(targets: readonly ScrapeTarget[]): Promise<ReadonlyMap<string, PageSample>> {
    const found = new Map<string, PageSample>();
    await forEachAtOnce(targets, AT_ONCE_MAX, async (target) => {
      const sample = await this.#scrape(target);
      if (sample === undefined) return;
      found.set(uidOf(target.pod), sample);
      this.#keep(uidOf(target.pod), sample);
    });
    return found;
  }

  /** Undefined if the Pod does not respond with a page of metrics in time. */
  async #scrape(target: ScrapeTarget): Promise<PageSample | undefined> {
    const { clock, log } = this.#server;
    try {
      const limit = { clock, timeoutMs: SCRAPE_TIMEOUT_MS, target: "the Pod" };
      const page = await withinTimeout(limit, (signal) => this.#page(target, signal));
      return readPageSample(page, { atMs: clock.now(), seriesMax: SERIES_PER_PAGE_MAX });
    } catch (error) {
      const { namespace, name } = target.pod.metadata;
      log.debug("Scraping the metrics of a Pod failed", { pod: `${namespace}/${name}`, path: target.path, error });
      return undefined;
    }
  }

  async #page({ pod, scheme, host, port, path, query }: ScrapeTarget, signal: AbortSignal): Promise<string> {
    const { connector } = this.#server;
    if (connector === undefined) throw new Error("this API server has no connection to Pods");
    const { namespace = "", name } = pod.metadata;
    const answer = await connector.connect({
      subresource: "proxy",
      target: { is: "server", scheme, host, port, pod: { namespace, name } },
      options: {},
      method: "GET",
      path,
      query,
      headers: { accept: "text/plain;version=0.0.4" },
      body: () => Promise.resolve(new Uint8Array()),
      signal,
    });
    if ("code" in answer && answer.code !== 200) throw new Error(`the Pod responded with code ${answer.code}`);
    return new TextDecoder().decode(await answerBytes(answer, PAGE_BYTES_MAX));
  }
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}
