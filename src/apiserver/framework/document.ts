/**
 * The contract of documents, the server's non-resource responses: discovery, OpenAPI, health, version, metrics. One folder or file per
 * document, independent of each other; all.ts lists them. Requests are authorized before a document is called.
 */
import type { Family, HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import type { ExchangeAnswer, ExchangeRequest } from "./exchange.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Causes } from "./recording/causes.ts";
import type { Metrics } from "./metrics.ts";
import type { Descriptions } from "../../api/descriptions.ts";
import type { FlowRequest } from "./flow-request.ts";
import type { RequestContext } from "./request.ts";
import type { ServerContext } from "./server-context.ts";

export interface Document {
  /** "healthz", "openapi/v3". */
  readonly name: string;
  /** True if it serves this path: decoded, without a trailing slash. */
  answers(path: string): boolean;
  /** The paths that it adds to the list at "/". Absent: none, as upstream does not list it. */
  listedPaths?(): Promise<readonly string[]> | readonly string[];
  /** Called for GET and HEAD, with the user in the context. Throws a StatusError. */
  answer(request: ExchangeRequest, path: string, context: RequestContext): Promise<ExchangeAnswer> | ExchangeAnswer;
}

/** A request for a document: a non-resource request, which goes through the pipeline like one for a resource. */
export interface DocumentRequest extends FlowRequest {
  /** The path as it was requested, decoded: authorization is by it. */
  readonly path: string;
  readonly context: RequestContext;
  /** Called once the request is authorized and has a seat. Rejects with a StatusError. */
  answer(): Promise<ExchangeAnswer>;
}

/** Dependencies of documents. */
export interface DocumentDependencies {
  readonly server: ServerContext;
  readonly endpoints: Endpoints;
  readonly metrics: Metrics;
  readonly causes: Causes;
  /** Absent if API Priority and Fairness is disabled. */
  readonly fairness?: FairnessReport | undefined;
  /** Whether the server accepts requests, and why not; for /readyz. */
  readiness(): Promise<Readiness>;
  /** The paths of all documents, for "/". */
  listedPaths(): Promise<readonly string[]>;
  /** Descriptions of all types: large, so they are loaded on first use. */
  loadDescriptions(): Promise<Descriptions>;
  /** Metrics of other components in this process, for /metrics. */
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
  /** By check name, as upstream names them where they exist: "etcd", "poststarthook/…", "shutdown". */
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason?: string }[];
}

export type DocumentFactory = (dependencies: DocumentDependencies) => Document;
