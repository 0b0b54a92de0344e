/** Calls of a DRA driver. A claim is prepared or an error explains why not; nothing is retried here. */
import type { Clock } from "../../base/clock.ts";
import { decode, encode } from "../../base/protobuf/messages.ts";
import { openGrpcChannel, type GrpcChannel } from "../../host/grpc/channel.ts";
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

/** Upstream's timeout of a call. */
const CALL_TIMEOUT_MS = 45_000;
/** Answers are small; a larger one is a mistake or an attempt to exhaust memory. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

export class DraDriverClient implements DraDriver, Disposable {
  readonly endpoint: string;
  readonly #service: DraService;
  readonly #channel: GrpcChannel;

  constructor(channel: GrpcChannel, options: { readonly endpoint: string; readonly service: DraService }) {
    this.endpoint = options.endpoint;
    this.#service = options.service;
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

  #call(method: string, request: Uint8Array, signal: AbortSignal | undefined): Promise<Uint8Array> {
    return this.#channel.call(draMethodPath(this.#service, method), request, { timeoutMs: CALL_TIMEOUT_MS, signal });
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }
}

export async function openDraDriver(endpoint: string, service: DraService, clock: Clock): Promise<DraDriverClient> {
  const channel = await openGrpcChannel({ host: endpoint, port: 0, messageBytesMax: MESSAGE_BYTES_MAX, clock });
  return new DraDriverClient(channel, { endpoint, service });
}
