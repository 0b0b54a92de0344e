/** Calls of a DRA driver. A claim is prepared or an error explains why not; nothing is retried here. */
import type { Clock } from "../../base/clock.ts";
import { decode, encode } from "../../base/protobuf/messages.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel, type GrpcCode } from "../../host/grpc/channel.ts";
import { draMethodPath, nodePrepareResources, nodeUnprepareResources, type DraService } from "./messages.ts";

/** A claim as drivers are asked for it: they read the rest from the API server. */
export interface ClaimIdentity {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

export interface PreparedDevice {
  /** Requests of the claim that the device is for. */
  readonly requestNames: readonly string[];
  readonly poolName: string;
  readonly deviceName: string;
  readonly cdiDeviceIds: readonly string[];
  readonly shareId?: string;
}

/** Answers by the uid of the claim. */
export interface DraDriver {
  prepare(claims: readonly ClaimIdentity[], signal?: AbortSignal): Promise<ReadonlyMap<string, PrepareAnswer>>;
  unprepare(claims: readonly ClaimIdentity[], signal?: AbortSignal): Promise<ReadonlyMap<string, { readonly error: string }>>;
}

/** `error`: "" if the claim is prepared. */
export interface PrepareAnswer {
  readonly error: string;
  readonly devices: readonly PreparedDevice[];
}

export interface DraCallObserver {
  /** `method` is the path, such as "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources"; `code` is "OK" for success. */
  called(driver: string, call: { readonly method: string; readonly code: GrpcCode; readonly durationMs: number }): void;
}

/** Upstream's timeout of a call. */
const CALL_TIMEOUT_MS = 45_000;
/** Answers are small; a larger one is a mistake or an attempt to exhaust memory. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

export interface DraDriverOptions {
  readonly driverName: string;
  /** Path of its socket. */
  readonly endpoint: string;
  readonly service: DraService;
  readonly clock: Clock;
  /** Absent: calls are not counted. */
  readonly observer?: DraCallObserver | undefined;
}

export class DraDriverClient implements DraDriver, Disposable {
  readonly endpoint: string;
  readonly #options: DraDriverOptions;
  readonly #channel: GrpcChannel;

  constructor(channel: GrpcChannel, options: DraDriverOptions) {
    this.endpoint = options.endpoint;
    this.#options = options;
    this.#channel = channel;
  }

  async prepare(claims: readonly ClaimIdentity[], signal?: AbortSignal): Promise<ReadonlyMap<string, PrepareAnswer>> {
    const { method, request, response } = nodePrepareResources;
    const answer = decode(response, await this.#call(method, encode(request, { claims }), signal));
    return new Map(
      answer.claims.map(({ key, value }) => {
        const devices = (value?.devices ?? []).map(({ shareId, ...device }) => ({ ...device, ...(shareId === "" ? {} : { shareId }) }));
        return [key, { error: value?.error ?? "", devices }];
      }),
    );
  }

  async unprepare(claims: readonly ClaimIdentity[], signal?: AbortSignal): Promise<ReadonlyMap<string, { readonly error: string }>> {
    const { method, request, response } = nodeUnprepareResources;
    const answer = decode(response, await this.#call(method, encode(request, { claims }), signal));
    return new Map(answer.claims.map(({ key, value }) => [key, { error: value?.error ?? "" }]));
  }

  async #call(name: string, request: Uint8Array, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { driverName, service, clock, observer } = this.#options;
    const method = draMethodPath(service, name);
    const startedMs = clock.monotonic();
    const ended = (code: GrpcCode): void => observer?.called(driverName, { method, code, durationMs: clock.monotonic() - startedMs });
    try {
      const answer = await this.#channel.call(method, request, { timeoutMs: CALL_TIMEOUT_MS, signal });
      ended("OK");
      return answer;
    } catch (error) {
      ended(error instanceof GrpcError ? error.code : "UNKNOWN");
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }
}

export async function openDraDriver(options: DraDriverOptions): Promise<DraDriverClient> {
  const { endpoint, clock } = options;
  return new DraDriverClient(await openGrpcChannel({ host: endpoint, port: 0, messageBytesMax: MESSAGE_BYTES_MAX, clock }), options);
}
