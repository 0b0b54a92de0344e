/**
 * gRPC, as little of it as etcd and container runtimes need: one channel to one address, calls and streams of bytes.
 * The only door to @grpc/grpc-js, which is loaded when the first channel is opened.
 *
 * What callers can rely on: a call is sent at most once (nothing is tried again here); a failure says whether the request
 * can have reached the server; where a channel leads is decided by its options alone (no proxy from the environment, no
 * service configuration from DNS). Messages are bytes: what they mean is base/protobuf/messages.ts and the caller's descriptors.
 */
import type { ChannelCredentials, ChannelOptions, Client, Metadata, ServiceError, status } from "@grpc/grpc-js";
import { isIP, isIPv4, isIPv6 } from "node:net";
import { checkServerIdentity } from "node:tls";
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { openSocketPath, type SocketPath } from "../network/socket-path.ts";

/** Maximum size of a received message, so that a faulty or hostile server cannot exhaust memory. The caller may set less. */
export const GRPC_MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

/**
 * A server that does not respond to a ping for KEEPALIVE_TIMEOUT_MS is considered dead. etcd rejects clients that ping more often than every 5
 * s.
 */
const KEEPALIVE_TIME_MS = 10_000;
/** Long enough for a paused or heavily loaded server to come back. */
const KEEPALIVE_TIMEOUT_MS = 10_000;

/** Calls drive reconnecting; this only limits its rate. grpc-js would wait up to two minutes. */
const RECONNECT_MIN_MS = 100;
const RECONNECT_MAX_MS = 3_000;

/** Bytes a server may send ahead per stream and connection: enough for a list to fill a line of 1 Gbit/s at 30 ms. */
const FLOW_WINDOW_BYTES = 4 * 1024 * 1024;

export type GrpcCode = keyof typeof status;

export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: GrpcCode;
  /** The message of the server or of the library. */
  readonly details: string;
  /** False only if the server has certainly not seen the request. */
  readonly sent: boolean;

  constructor(code: GrpcCode, details: string, options: { readonly sent: boolean; readonly cause?: unknown }) {
    super(`${code}: ${details}`, { cause: options.cause });
    this.code = code;
    this.details = details;
    this.sent = options.sent;
  }
}

export interface GrpcTls {
  /** PEM. The certificate authorities to trust; without them, those of Node. */
  readonly ca?: Uint8Array;
  /** PEM. Client certificate, with `key`. */
  readonly certificate?: Uint8Array;
  readonly key?: Uint8Array;
  /** Name that the server's certificate must have. Default: the host. */
  readonly serverName?: string;
}

export interface GrpcChannelOptions {
  /** A name, an address, or the absolute path of a Unix socket (which has no port, so that is 0). */
  readonly host: string;
  readonly port: number;
  /** Absent: plaintext. */
  readonly tls?: GrpcTls | undefined;
  readonly messageBytesMax?: number;
  readonly clock: Clock;
}

export interface GrpcCallOptions {
  readonly timeoutMs: number;
  /** Aborting rejects the call with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface GrpcStreamHandlers {
  message(message: Uint8Array): void;
  /** Called once, last, unless this side cancelled the stream. Without an error the server closed it gracefully. */
  ended(error: GrpcError | undefined): void;
}

export interface GrpcStream {
  /** Queued until there is a connection. */
  send(message: Uint8Array): void;
  /** Half-closes the stream; the server may continue. Unary requests wait for this. */
  end(): void;
  /** No message is delivered until `resume`; flow control blocks the server after a bounded number of bytes. Other streams continue. */
  pause(): void;
  resume(): void;
  /** Ends the stream immediately; no handler is called afterwards. */
  cancel(): void;
}

export interface GrpcChannel {
  /** Number of the current connection; undefined if none exists. Another number means that the server may be another one. */
  readonly connection: number | undefined;
  /** `path` is `/<package>.<Service>/<Method>`. Rejects with GrpcError. */
  call(path: string, request: Uint8Array, options: GrpcCallOptions): Promise<Uint8Array>;
  stream(path: string, options: Pick<GrpcCallOptions, "metadata">, handlers: GrpcStreamHandlers): GrpcStream;
  /** Pending calls complete; cancel streams before. */
  close(): void;
}

/** Connects on the first call. Throws if certificate or key cannot be parsed. */
export async function openGrpcChannel(options: GrpcChannelOptions): Promise<GrpcChannel> {
  // A bundler exposes a CommonJS package only as `default`.
  const { default: grpc } = await options.clock.external(import("@grpc/grpc-js"));
  const socket = options.host.startsWith("/") ? await options.clock.external(openSocketPath(options.host)) : undefined;
  try {
    const client = new grpc.Client(targetOf(options, socket), credentialsOf(grpc, options), channelOptions(options));
    return new NodeGrpcChannel(grpc, client, { clock: options.clock, socket });
  } catch (error) {
    await socket?.[Symbol.asyncDispose]();
    throw error;
  }
}

type Grpc = typeof import("@grpc/grpc-js");

class NodeGrpcChannel implements GrpcChannel {
  readonly #grpc: Grpc;
  readonly #client: Client;
  readonly #channel: ReturnType<Client["getChannel"]>;
  readonly #clock: Clock;
  readonly #socket: SocketPath | undefined;
  #connections = 0;
  #closed = false;

  constructor(grpc: Grpc, client: Client, { clock, socket }: { readonly clock: Clock; readonly socket: SocketPath | undefined }) {
    this.#grpc = grpc;
    this.#client = client;
    this.#channel = client.getChannel();
    this.#clock = clock;
    this.#socket = socket;
    this.#countConnections();
  }

  get connection(): number | undefined {
    return this.#isReady() ? this.#connections : undefined;
  }

  call(path: string, request: Uint8Array, options: GrpcCallOptions): Promise<Uint8Array> {
    const { timeoutMs, signal, metadata } = options;
    if (this.#closed || signal?.aborted === true) {
      return Promise.reject(
        new GrpcError("CANCELLED", this.#closed ? "The channel is closed" : "Aborted before the call was sent", { sent: false }),
      );
    }
    return this.#clock.external(
      new Promise((resolve, reject) => {
        let stopListening = () => {};
        const answered = (error: ServiceError | null, answer?: Uint8Array) => {
          stopListening();
          if (error === null) resolve(answer as Uint8Array);
          else reject(this.#error(error, call.getPeer()));
        };
        const deadline = Date.now() + timeoutMs;
        const call = this.#client.makeUnaryRequest(path, toBuffer, fromBuffer, request, this.#metadata(metadata), { deadline }, answered);
        if (signal !== undefined) stopListening = onAbort(signal, () => call.cancel());
      }),
    );
  }

  stream(path: string, options: Pick<GrpcCallOptions, "metadata">, handlers: GrpcStreamHandlers): GrpcStream {
    const stream = this.#client.makeBidiStreamRequest(path, toBuffer, fromBuffer, this.#metadata(options.metadata));
    let over = false;
    const end = (error: GrpcError | undefined) => {
      if (over) return;
      over = true;
      handlers.ended(error);
    };
    stream.on("data", (message: Uint8Array) => {
      if (!over) handlers.message(message);
    });
    stream.on("error", (error: ServiceError) => end(this.#error(error, stream.getPeer())));
    stream.on("end", () => end(undefined));
    return {
      send: (message) => void (over || stream.write(message)),
      end: () => void stream.end(),
      pause: () => void stream.pause(),
      resume: () => void stream.resume(),
      cancel: () => {
        over = true;
        stream.resume(); // Unread data would keep the stream from being freed.
        stream.cancel();
      },
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#client.close();
    void this.#socket?.[Symbol.asyncDispose]();
  }

  #countConnections(): void {
    if (this.#closed) return;
    if (this.#isReady()) this.#connections += 1;
    this.#channel.watchConnectivityState(this.#channel.getConnectivityState(false), Infinity, () => this.#countConnections());
  }

  #isReady(): boolean {
    return !this.#closed && this.#channel.getConnectivityState(false) === this.#grpc.connectivityState.READY;
  }

  #metadata(fields: Readonly<Record<string, string>> = {}): Metadata {
    const metadata = new this.#grpc.Metadata();
    for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
    return metadata;
  }

  #error(error: ServiceError, peer: string): GrpcError {
    const code = this.#grpc.status[error.code] as GrpcCode;
    // The peer of a call is its server's address only once it is assigned to a connection; before that it is the channel's target.
    const sent = peer !== this.#channel.getTarget() && error.details !== REFUSED;
    // The library's own error repeats the message, so it is not kept as a cause.
    return new GrpcError(code, error.details.replace(NO_NOTE, ""), { sent });
  }
}

/** The library appends its name resolution result, even if it is empty. */
const NO_NOTE = /\.? *Resolution note: *$/;

/** The library's message for a stream that the server refused unprocessed (it is stopping, or has too many). */
const REFUSED = "Stream refused by server";

function targetOf({ host, port }: GrpcChannelOptions, socket: SocketPath | undefined): string {
  if (socket !== undefined) return `unix:${socket.path}`;
  if (isIPv4(host)) return `ipv4:${host}:${port}`;
  if (isIPv6(host)) return `ipv6:[${host}]:${port}`;
  return `dns:${host}:${port}`;
}

function credentialsOf(grpc: Grpc, { host, tls }: GrpcChannelOptions): ChannelCredentials {
  if (tls === undefined) return grpc.credentials.createInsecure();
  const name = tls.serverName ?? host;
  return grpc.credentials.createSsl(optionalBuffer(tls.ca), optionalBuffer(tls.key), optionalBuffer(tls.certificate), {
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  });
}

/** Server name (SNI) for a server that is given by its address: the library would send the address, which TLS forbids. */
const NO_NAME = "address.invalid";

function announcedName({ host, tls }: GrpcChannelOptions): string {
  return tls?.serverName ?? (isIP(host) === 0 ? host : NO_NAME);
}

function channelOptions(options: GrpcChannelOptions): ChannelOptions {
  const messageBytesMax = options.messageBytesMax ?? GRPC_MESSAGE_BYTES_MAX;
  return {
    "grpc.enable_retries": 0,
    "grpc.enable_http_proxy": 0,
    "grpc.enable_channelz": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1, // Two stores of one process have separate connections, so that closing one does not affect the other.
    "grpc.initial_reconnect_backoff_ms": RECONNECT_MIN_MS,
    "grpc.max_reconnect_backoff_ms": RECONNECT_MAX_MS,
    "grpc.keepalive_time_ms": KEEPALIVE_TIME_MS,
    "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
    "grpc.max_receive_message_length": messageBytesMax,
    "grpc.max_send_message_length": messageBytesMax,
    "grpc-node.flow_control_window": FLOW_WINDOW_BYTES,
    ...(options.tls === undefined ? {} : { "grpc.ssl_target_name_override": announcedName(options) }),
  };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function fromBuffer(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

function optionalBuffer(bytes: Uint8Array | undefined): Buffer | null {
  return bytes === undefined ? null : toBuffer(bytes);
}
