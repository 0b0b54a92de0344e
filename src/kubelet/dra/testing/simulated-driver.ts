/**
 * A simulated DRA driver: serves the kubelet's calls on a Unix socket, registers in plugins_registry, and writes a CDI specification per
 * claim, whose only effect is a variable in the container. It allocates nothing: the scheduler does, from the ResourceSlices that a test
 * creates.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { Disposables } from "../../../base/disposables.ts";
import { decode, encode } from "../../../base/protobuf/messages.ts";
import { startGrpcServer, type GrpcStreamHandler } from "../../../host/grpc/server.ts";
import { startRegistrationSocket } from "../../plugin-registration/testing/registration-socket.ts";
import type { ClaimIdentity, PreparedDevice } from "../dra-driver.ts";
import {
  draMethodPath,
  HEALTH_PATH,
  nodePrepareResources,
  nodeUnprepareResources,
  nodeWatchResources,
  type DraService,
} from "../messages.ts";

export interface SimulatedDriverOptions {
  readonly name: string;
  /** The kubelet's directory. */
  readonly rootDirectory: string;
  /** Directory of CDI specifications; absent: none is written. */
  readonly cdiDirectory?: string;
  /** The allocated devices of a claim, by the name of the request. */
  devicesOf(claim: ClaimIdentity): Promise<readonly PreparedDevice[]>;
  readonly service?: DraService;
  readonly clock: Clock;
}

export interface SimulatedDriver extends AsyncDisposable {
  /** "prepare default/gpu" and "unprepare default/gpu", in order. */
  readonly calls: readonly string[];
  /** Names of claims ("default/gpu") that are prepared. */
  readonly prepared: ReadonlySet<string>;
  /** Error that answers contain from now on; "": none. */
  failure: string;
  /** Reports the health of all its devices on all streams, and on those that are opened later. */
  reportHealth(devices: readonly SimulatedHealth[]): void;
  /** Ends the streams of reports; the kubelet opens them again. */
  endHealthStreams(): void;
}

/** A report about one device. */
export interface SimulatedHealth {
  readonly poolName: string;
  readonly deviceName: string;
  readonly is: "unknown" | "healthy" | "unhealthy";
  readonly message?: string;
  readonly timeoutSeconds?: number;
}

const HEALTH_STATES = ["unknown", "healthy", "unhealthy"] as const;

/** Disposing removes its sockets and specifications. */
export async function startSimulatedDriver(options: SimulatedDriverOptions): Promise<SimulatedDriver> {
  const { name, rootDirectory, cdiDirectory, clock, service = "v1.DRAPlugin" } = options;
  await using starting = new Disposables();
  const directory = join(rootDirectory, "plugins", name);
  await mkdir(directory, { recursive: true });
  await mkdir(join(rootDirectory, "plugins_registry"), { recursive: true });
  const endpoint = join(directory, "dra.sock");
  const calls: string[] = [];
  const prepared = new Set<string>();
  const written = new Set<string>();
  if (cdiDirectory !== undefined) await mkdir(cdiDirectory, { recursive: true });
  const state = { failure: "" };
  const specification = (claim: ClaimIdentity): string => join(cdiDirectory ?? directory, `${name}-${claim.uid}.json`);
  const prepare = async (request: Uint8Array): Promise<Uint8Array> => {
    const { claims } = decode(nodePrepareResources.request, request);
    const answers = [];
    for (const claim of claims) {
      calls.push(`prepare ${claim.namespace}/${claim.name}`);
      const devices = await options.devicesOf(claim);
      if (state.failure === "") {
        prepared.add(`${claim.namespace}/${claim.name}`);
        if (cdiDirectory !== undefined) {
          await writeFile(specification(claim), cdiSpecification(name, claim, devices));
          written.add(specification(claim));
        }
      }
      const named = devices.map((device) => ({ ...device, cdiDeviceIds: [`${name}/device=${claim.uid}-${device.deviceName}`] }));
      answers.push({ key: claim.uid, value: { devices: state.failure === "" ? named : [], error: state.failure } });
    }
    return encode(nodePrepareResources.response, { claims: answers });
  };
  const unprepare = async (request: Uint8Array): Promise<Uint8Array> => {
    const { claims } = decode(nodeUnprepareResources.request, request);
    for (const claim of claims) {
      calls.push(`unprepare ${claim.namespace}/${claim.name}`);
      if (state.failure !== "") continue;
      prepared.delete(`${claim.namespace}/${claim.name}`);
      await rm(specification(claim), { force: true });
    }
    return encode(nodeUnprepareResources.response, { claims: claims.map(({ uid }) => ({ key: uid, value: { error: state.failure } })) });
  };
  const methods = {
    [draMethodPath(service, "NodePrepareResources")]: prepare,
    [draMethodPath(service, "NodeUnprepareResources")]: unprepare,
  };
  const health = new HealthReports();
  const streams = { [HEALTH_PATH]: health.serve };
  starting.use(await startGrpcServer({ socket: endpoint, methods, streams, clock }));
  const socket = join(rootDirectory, "plugins_registry", `${name}-reg.sock`);
  starting.use(await startRegistrationSocket({ socket, info: { type: "DRAPlugin", name, endpoint, supportedVersions: [service] }, clock }));
  const owned = starting.move();
  return {
    ...{ calls, prepared },
    get failure() {
      return state.failure;
    },
    set failure(message: string) {
      state.failure = message;
    },
    reportHealth: (devices) => health.report(devices),
    endHealthStreams: () => health.end(),
    async [Symbol.asyncDispose]() {
      await owned[Symbol.asyncDispose]();
      for (const path of written) await rm(path, { force: true });
    },
  };
}

class HealthReports {
  readonly #sinks = new Map<(answer: Uint8Array) => void, () => void>();
  #last: Uint8Array | undefined;

  readonly serve: GrpcStreamHandler = async (_request, send, signal) => {
    await new Promise<void>((resolve) => {
      this.#sinks.set(send, resolve);
      onAbort(signal, resolve);
      if (this.#last !== undefined) send(this.#last);
    });
    this.#sinks.delete(send);
  };

  report(devices: readonly SimulatedHealth[]): void {
    const answer = devices.map(({ poolName, deviceName, is, message = "", timeoutSeconds = 0 }) => ({
      device: { poolName, deviceName },
      health: HEALTH_STATES.indexOf(is),
      healthCheckTimeoutSeconds: timeoutSeconds,
      message,
    }));
    this.#last = encode(nodeWatchResources.response, { devices: answer });
    for (const send of this.#sinks.keys()) send(this.#last);
  }

  end(): void {
    this.#last = undefined;
    for (const end of this.#sinks.values()) end();
  }
}

function cdiSpecification(driver: string, claim: ClaimIdentity, devices: readonly PreparedDevice[]): string {
  return JSON.stringify({
    cdiVersion: "0.6.0",
    kind: `${driver}/device`,
    devices: devices.map(({ deviceName, requestNames }) => ({
      name: `${claim.uid}-${deviceName}`,
      containerEdits: { env: [`DEVICE_${(requestNames[0] ?? "").replaceAll(/\W/g, "_").toUpperCase()}=${deviceName}`] },
    })),
  });
}
