/**
 * Calls a CSI driver over its Unix socket: the three services of the contract on one channel, which connects on the first call and
 * reconnects by itself. A driver that does not answer in time fails with DEADLINE_EXCEEDED. Nothing is retried here.
 */
import type { Clock } from "../../base/clock.ts";
import { decode, encode, type Decoded, type Encodable } from "../../base/protobuf/messages.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel } from "../../host/grpc/channel.ts";
import type { CsiCallOptions, CsiIdentity, CsiPluginCapability } from "../contract.ts";
import { CsiError } from "../csi-error.ts";
import type { CsiMethod } from "../messages/common.ts";
import { EXPANSION_CAPABILITIES, getPluginCapabilities, getPluginInfo, probe, SERVICE_CAPABILITIES } from "../messages/identity.ts";

/** Upstream's timeout of a call by the kubelet. A driver may have to attach or format a disk. */
export const CSI_TIMEOUT_MS = 120_000;

/** Responses are small; a larger one is a mistake or an attempt to exhaust memory. Four times gRPC's default. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

export interface CsiCallObserver {
  /** `method` is the path, such as "/csi.v1.Node/NodeStageVolume"; `code` is "OK" for success. */
  called(call: { readonly method: string; readonly code: CsiError["code"]; readonly durationMs: number }): void;
}

export interface CsiConnectionOptions {
  /** Absolute path of the driver's socket. */
  readonly socket: string;
  readonly clock: Clock;
  /** Default: CSI_TIMEOUT_MS. */
  readonly timeoutMs?: number;
  /** Absent: calls are not counted. */
  readonly observer?: CsiCallObserver | undefined;
}

/** How calls reach a driver. Calls reject with a GrpcError. */
export type CsiChannel = Pick<GrpcChannel, "call" | "close">;

export class CsiConnection implements Disposable {
  readonly #channel: CsiChannel;
  readonly #options: Omit<CsiConnectionOptions, "socket">;

  constructor(channel: CsiChannel, options: Omit<CsiConnectionOptions, "socket">) {
    this.#channel = channel;
    this.#options = options;
  }

  async call<M extends CsiMethod>(
    method: M,
    request: Encodable<M["request"]>,
    options: CsiCallOptions = {},
  ): Promise<Decoded<M["response"]>> {
    const bytes = await this.send(method.path, encode(method.request, request), options);
    try {
      return decode<M["response"]>(method.response, bytes);
    } catch (error) {
      throw csiError(error);
    }
  }

  /** A call with encoded messages. */
  async send(path: string, request: Uint8Array, options: CsiCallOptions = {}): Promise<Uint8Array> {
    const { clock, observer, timeoutMs = CSI_TIMEOUT_MS } = this.#options;
    const startedMs = clock.monotonic();
    const ended = (code: CsiError["code"]): void => observer?.called({ method: path, code, durationMs: clock.monotonic() - startedMs });
    try {
      const answer = await this.#channel.call(path, request, { timeoutMs, signal: options.signal });
      ended("OK");
      return answer;
    } catch (error) {
      const failure = csiError(error);
      ended(failure.code);
      throw failure;
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }
}

export async function openCsiConnection(options: CsiConnectionOptions): Promise<CsiConnection> {
  const channel = await openGrpcChannel({ host: options.socket, port: 0, clock: options.clock, messageBytesMax: MESSAGE_BYTES_MAX });
  return new CsiConnection(channel, options);
}

function csiError(error: unknown): CsiError {
  if (error instanceof GrpcError) return new CsiError(error.code, error.details, { cause: error });
  return new CsiError("INTERNAL", error instanceof Error ? error.message : String(error), { cause: error });
}

/** The service Identity, which both parts of a driver have. */
export class CsiIdentityClient implements CsiIdentity, Disposable {
  protected readonly connection: CsiConnection;

  constructor(connection: CsiConnection) {
    this.connection = connection;
  }

  async getPluginInfo(options?: CsiCallOptions) {
    return this.connection.call(getPluginInfo, {}, options);
  }

  async getPluginCapabilities(options?: CsiCallOptions): Promise<ReadonlySet<CsiPluginCapability>> {
    const { capabilities } = await this.connection.call(getPluginCapabilities, {}, options);
    const names = capabilities.flatMap(({ service, volumeExpansion }) => [
      SERVICE_CAPABILITIES[service?.type ?? 0],
      EXPANSION_CAPABILITIES[volumeExpansion?.type ?? 0],
    ]);
    return new Set(names.filter((name): name is CsiPluginCapability => name !== undefined && name !== "UNKNOWN"));
  }

  async probe(options?: CsiCallOptions): Promise<boolean> {
    const { ready } = await this.connection.call(probe, {}, options);
    return ready?.value ?? true; // Absent means ready, by the specification.
  }

  [Symbol.dispose](): void {
    this.connection[Symbol.dispose]();
  }
}
