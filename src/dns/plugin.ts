/**
 * Contract of the plugins that answer queries. A query passes through the plugins in the order of `order`; each answers it or passes it to
 * the next one. Plugins know this file only, never each other. One more is a folder in dns/plugins and a line in dns/plugins/all.ts. Types
 * only.
 */
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Family, HistogramFamily } from "../base/metrics/prometheus-text.ts";
import type { Random } from "../base/random.ts";
import type { DnsConfiguration } from "./configuration.ts";
import type { Query } from "./wire/read-query.ts";
import type { ResponseRecords } from "./wire/write-message.ts";

export interface DnsQuery extends Query {
  /** "internal": a plugin resolves a name for an answer. */
  readonly transport: "udp" | "tcp" | "internal";
  /** Address of the client, over UDP. */
  readonly client?: string | undefined;
  /** Number of aliases that were followed to this name: 0 for a client's query. */
  readonly depth: number;
}

export interface RecordsAnswer extends ResponseRecords {
  readonly is: "records";
  /**
   * What the answer depends on: the server keeps its bytes until the plugin reports a change of this subject. Absent: the answer is used
   * once.
   */
  readonly subject?: string;
}

/** The response of another server, passed on as it is; the server replaces id and question. Must not be modified. */
export interface MessageAnswer {
  readonly is: "message";
  readonly rcode: number;
  readonly bytes: Uint8Array;
}

export type DnsAnswer = RecordsAnswer | MessageAnswer;

/** Without a promise if the answer is known at once: most are, and a promise per query costs more than the answer. */
export type Handled = DnsAnswer | Promise<DnsAnswer>;

export type Next = (query: DnsQuery) => Handled;

/** A response that was sent. */
export interface Observation {
  readonly transport: "udp" | "tcp";
  /** 0 if the question could not be read. */
  readonly type: number;
  readonly rcode: number;
  readonly durationMs: number;
  readonly responseBytes: number;
}

export interface RunningPlugin extends AsyncDisposable {
  /** Absent: takes no part in answering. Errors are answered with SERVFAIL. */
  handle?(query: DnsQuery, next: Next): Handled;
  /** Called for every response, also those from kept bytes. Must be fast. */
  observed?(observation: Observation): void;
  /** Absent: always. */
  isReady?(): boolean;
  /** Absent: it has none. */
  metrics?(): readonly (Family | HistogramFamily)[];
  /** By path: "/health". */
  readonly pages?: Readonly<Record<string, () => PluginPage>>;
}

export interface PluginPage {
  readonly code: number;
  readonly type: string;
  readonly text: string;
}

export interface PluginContext {
  readonly configuration: DnsConfiguration;
  /** The API server, under the identity of the DNS server. */
  readonly transport: Transport;
  /** Addresses and port that this server listens on, to detect loops. */
  readonly listens: { readonly addresses: readonly string[]; readonly port: number };
  /** Resolves a name through all plugins, for an answer to `from`: the target of a CNAME record. */
  resolve(name: string, type: number, from: DnsQuery): Handled;
  /** Kept bytes of answers with this subject are dropped. */
  changed(subject: string): void;
  /** All kept bytes are dropped. */
  changedAll(): void;
  /** Names of plugins that are not ready. */
  notReady(): readonly string[];
  /** Metrics of all plugins. */
  metrics(): readonly (Family | HistogramFamily)[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface DnsPlugin {
  /** Same as its folder; in `--dns-plugins`. */
  readonly name: string;
  /** Position in the chain, lowest first; unique. */
  readonly order: number;
  /** Must not wait for anything but local files: readiness is reported by `isReady`. */
  start(context: PluginContext): Promise<RunningPlugin>;
}
