/**
 * The contract of what the server answers beside resources: discovery, OpenAPI, health, version, metrics. One folder or file per
 * document, strangers to each other; all.ts lists them. Who may read them was decided before they are asked.
 */
import type { Family, HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import type { ExchangeAnswer, ExchangeRequest } from "./exchange.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Causes } from "./causes.ts";
import type { Metrics } from "./metrics.ts";
import type { Descriptions } from "../../api/descriptions.ts";
import type { ServerContext } from "./server-context.ts";

export interface Document {
  /** "healthz", "openapi/v3". */
  readonly name: string;
  /** Whether it answers this path: decoded, without a slash at its end. */
  answers(path: string): boolean;
  /** What it contributes to the list at "/". Absent: nothing, as upstream does not list it. */
  listedPaths?(): Promise<readonly string[]> | readonly string[];
  /** Called for GET and HEAD. Throws a StatusError. */
  answer(request: ExchangeRequest, path: string): Promise<ExchangeAnswer> | ExchangeAnswer;
}

/** What documents are made from. */
export interface DocumentDependencies {
  readonly server: ServerContext;
  readonly endpoints: Endpoints;
  readonly metrics: Metrics;
  readonly causes: Causes;
  /** Absent if API Priority and Fairness is switched off. */
  readonly fairness?: FairnessReport | undefined;
  /** Whether the server takes requests, and why not; for /readyz. */
  readiness(): Promise<Readiness>;
  /** Of all documents, for "/". */
  listedPaths(): Promise<readonly string[]>;
  /** Descriptions of all types: large, so they are loaded when the first document asks. */
  loadDescriptions(): Promise<Descriptions>;
  /** Of other parts of this process, for /metrics. */
  moreMetrics(): MetricFamilies;
}

/** The state of API Priority and Fairness, for /metrics and the debug dumps. */
export interface FairnessReport {
  metricFamilies(): MetricFamilies;
  dumpPriorityLevels(): string;
  dumpQueues(): string;
  dumpRequests(options: { readonly withDetails: boolean }): string;
}

export type MetricFamilies = readonly (Family | HistogramFamily)[];

export interface Readiness {
  readonly isReady: boolean;
  /** By the name of a check, in upstream's names where they exist: "etcd", "poststarthook/…", "shutdown". */
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason?: string }[];
}

export type DocumentFactory = (dependencies: DocumentDependencies) => Document;
