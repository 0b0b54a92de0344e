/** Calls of a DRA driver. A claim is prepared or an error explains why not; nothing is retried here. */
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { decode, encode, type Decoded } from "../../base/protobuf/messages.ts";
import { GrpcError, openGrpcChannel, type GrpcChannel, type GrpcCode } from "../../host/grpc/channel.ts";
import type { Health, ReportedHealth } from "./device-health.ts";
import type { HealthSource } from "./health-streams.ts";
import {
  draMethodPath,
  HEALTH_PATH,
  nodePrepareResources,
  nodeUnprepareResources,
  nodeWatchResources,
  type DraService,
} from "./messages.ts";

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
/** Upstream's timeout of a report of a device's health that names none. */
const HEALTH_TIMEOUT_MS = 30_000;
/** The API's limit of a message about health. */
const HEALTH_MESSAGE_BYTES_MAX = 1024;
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

export class DraDriverClient implements DraDriver, HealthSource, Disposable {
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

  /** Rejects if the driver ended the stream with an error, or sent what is not a report. */
  watchHealth(onReport: (devices: readonly ReportedHealth[]) => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const ended = (error: Error | undefined): void => {
        stopListening();
        if (error === undefined) resolve();
        else reject(error);
      };
      const message = (bytes: Uint8Array): void => {
        try {
          onReport(decode(nodeWatchResources.response, bytes).devices.map(reportedHealth));
        } catch (error) {
          stream.cancel();
          ended(new Error("The driver sent what is not a report of health", { cause: error }));
        }
      };
      const stream = this.#channel.stream(HEALTH_PATH, {}, { message, ended });
      const stopListening = onAbort(signal, () => {
        stream.cancel();
        resolve();
      });
      stream.send(new Uint8Array());
      stream.end();
    });
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

type WireHealth = Decoded<(typeof nodeWatchResources)["response"]>["devices"][number];

function reportedHealth({ device, health, healthCheckTimeoutSeconds, message }: WireHealth): ReportedHealth {
  const states: readonly (Health | undefined)[] = [undefined, "Healthy", "Unhealthy"];
  return {
    poolName: device?.poolName ?? "",
    deviceName: device?.deviceName ?? "",
    health: states[health] ?? "Unknown",
    message: shortened(message),
    timeoutMs: healthCheckTimeoutSeconds > 0 ? healthCheckTimeoutSeconds * 1000 : HEALTH_TIMEOUT_MS,
  };
}

/** In whole characters. */
function shortened(message: string): string {
  const encoder = new TextEncoder();
  if (encoder.encode(message).length <= HEALTH_MESSAGE_BYTES_MAX) return message;
  const room = new Uint8Array(HEALTH_MESSAGE_BYTES_MAX - "...".length);
  return `${message.slice(0, encoder.encodeInto(message, room).read)}...`;
}

export async function openDraDriver(options: DraDriverOptions): Promise<DraDriverClient> {
  const { endpoint, clock } = options;
  return new DraDriverClient(await openGrpcChannel({ host: endpoint, port: 0, messageBytesMax: MESSAGE_BYTES_MAX, clock }), options);
}
