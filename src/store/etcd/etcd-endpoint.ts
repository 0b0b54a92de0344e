/**
 * One member of an etcd cluster by address. It must identify itself before it is used, on every new connection, since a returning address
 * may be another version or another cluster.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { decode, encode, type Decoded, type Encodable } from "../../base/protobuf/messages.ts";
import { openGrpcChannel, type GrpcChannel, type GrpcStream, type GrpcStreamHandlers, type GrpcTls } from "../../host/grpc/channel.ts";
import { COMMIT_OPERATIONS_MAX, OBJECT_BYTES_MAX } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { STATUS, WATCH, type EtcdMethod, type StatusResponse } from "./etcd-messages.ts";

/** Maximum response: a rejected commit with the values of all its keys. Long lists are paged. */
const ANSWER_BYTES_MAX = COMMIT_OPERATIONS_MAX * (OBJECT_BYTES_MAX + 64 * 1024);

/** Makes a partitioned member report so at once, and end its watches, instead of waiting for a leader. */
const REQUIRE_LEADER = { hasleader: "true" };

/** etcd's port if the address names none. */
const DEFAULT_PORT = 2379;

export interface EtcdAddress {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

/** Throws "Invalid" unless `url` is `http://host:port` or `https://host:port`. */
export function parseAddress(url: string): EtcdAddress {
  const match = /^(https?):\/\/(?:\[([0-9a-fA-F:.]+)\]|([^\s:/?#@[\]]+))(?::(\d{1,5}))?\/?$/.exec(url);
  const port = Number(match?.[4] ?? DEFAULT_PORT);
  if (match === null || port < 1 || port > 65_535) {
    throw new StoreError("Invalid", `Cannot use etcd endpoint ${JSON.stringify(url)}: it must look like https://host:2379`);
  }
  return { url, host: (match[2] ?? match[3]) as string, port, secure: match[1] === "https" };
}

export interface EtcdEndpointOptions {
  readonly address: EtcdAddress;
  readonly tls: GrpcTls | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Throws if this member must not be used. */
  readonly judge: (url: string, status: StatusResponse) => void;
}

export async function openEtcdEndpoint(options: EtcdEndpointOptions): Promise<EtcdEndpoint> {
  const { address, clock } = options;
  const tls = address.secure ? (options.tls ?? {}) : undefined;
  try {
    const channel = await openGrpcChannel({ host: address.host, port: address.port, tls, messageBytesMax: ANSWER_BYTES_MAX, clock });
    return new EtcdEndpoint(options, channel);
  } catch (error) {
    // The library reads certificates and key here; nothing else can fail.
    throw new StoreError("Unusable", `Cannot use the certificates for etcd: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export class EtcdEndpoint {
  readonly url: string;
  readonly #options: EtcdEndpointOptions;
  readonly #channel: GrpcChannel;
  readonly #closing = new AbortController();
  /** Number of the connection on which this member last identified itself. */
  #admittedOn: number | undefined;
  #admission: Promise<void> | undefined;
  #version: string | undefined;
  #failure: unknown;

  constructor(options: EtcdEndpointOptions, channel: GrpcChannel) {
    this.url = options.address.url;
    this.#options = options;
    this.#channel = channel;
  }

  /** Last reported status; undefined if it was never reached. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Error of the last attempt; undefined if it succeeded. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves once this member may be used on its current connection. */
  async admit(timeoutMs: number): Promise<void> {
    const { connection } = this.#channel;
    if (connection !== undefined && connection === this.#admittedOn) return;
    this.#admission ??= this.#askWho(timeoutMs).finally(() => (this.#admission = undefined));
    await this.#admission;
  }

  async call<M extends EtcdMethod>(method: M, request: Encodable<M["request"]>, options: CallOptions): Promise<Decoded<M["response"]>> {
    const answer = await this.#channel.call(method.path, encode(method.request, request), { ...options, metadata: REQUIRE_LEADER });
    return decode(method.response, answer);
  }

  /** Of this member alone: it responds even without a leader. */
  async status(options: CallOptions): Promise<StatusResponse> {
    return decode(STATUS.response, await this.#channel.call(STATUS.path, encode(STATUS.request, {}), options));
  }

  watch(handlers: GrpcStreamHandlers): GrpcStream {
    return this.#channel.stream(WATCH.path, { metadata: REQUIRE_LEADER }, handlers);
  }

  /** Logs when a member starts to fail and when it recovers, and not every time in between. */
  note(failure: unknown): void {
    const { log } = this.#options;
    if (failure !== undefined && this.#failure === undefined)
      log.warn("An etcd member is unreachable", { endpoint: this.url, error: failure });
    if (failure === undefined && this.#failure !== undefined) log.info("An etcd member is reachable again", { endpoint: this.url });
    this.#failure = failure;
  }

  close(): void {
    this.#closing.abort();
    this.#channel.close();
  }

  async #askWho(timeoutMs: number): Promise<void> {
    const status = await this.status({ timeoutMs, signal: this.#closing.signal });
    this.#options.judge(this.url, status);
    this.#version = status.version;
    this.#admittedOn = this.#channel.connection;
  }
}
