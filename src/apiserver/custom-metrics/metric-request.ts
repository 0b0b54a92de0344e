/** What the two metrics APIs have in common: their checks of requests, and the names of metrics for discovery. */
import { EVERYTHING, parseLabelSelector, type LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { badRequest, StatusError } from "../../api/machinery/status-error.ts";
import type { Verb } from "../../api/machinery/resource.ts";
import type { ApiRequest } from "../framework/request.ts";
import { PodMetricsSource } from "./pod-metrics-source.ts";
import type { ServerContext } from "../framework/server-context.ts";

/** Names in discovery: a client reads them all, and each is several entries. */
const NAMES_MAX = 1_000;

export function checkVerb({ verb }: ApiRequest, allowed: Verb): void {
  if (verb !== allowed)
    throw new StatusError("MethodNotAllowed", "the server does not allow this method on the requested resource", { details: {} });
}

export function selectorOf(text = ""): LabelSelector {
  if (text === "") return EVERYTHING;
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error), error);
  }
}

/** The metrics that exist, as far as they are known. */
export class MetricNames {
  readonly source: PodMetricsSource;
  readonly #listeners: (() => void)[] = [];
  #names: readonly string[] = [];

  constructor(server: ServerContext) {
    this.source = new PodMetricsSource(server, () => this.#update());
  }

  known(): readonly string[] {
    return this.#names;
  }

  /** Scrapes all annotated Pods. */
  async refresh(): Promise<void> {
    for (const namespace of await this.source.namespaces()) await this.source.read(namespace);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #update(): void {
    const names = this.source.knownNames().slice(0, NAMES_MAX);
    if (names.join() === this.#names.join()) return;
    this.#names = names;
    for (const listener of this.#listeners) listener();
  }
}
