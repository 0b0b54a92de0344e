/**
 * An API server as a part of a cluster: its core behind HTTPS, with a certificate, a token and the kubeconfig that knows both. Used by
 * `k8ts apiserver`, by `k8ts up` and by startCluster. The core is an argument, since it is pure and this is the machine.
 */
import { addToIp, formatIp, networkOf, parseCidr } from "../api/machinery/ip-address.ts";
import type { Exchange } from "../apiserver/exchange.ts";
import { startHttpApi } from "../apiserver/http/http-api.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import { joinPath } from "../host/files.ts";
import { ListenError, type HttpsServer } from "../host/http/server.ts";
import { absolutePath, machineName, makeTemporaryDirectory, writePrivateText } from "../host/private-files.ts";
import { reachableAddress } from "../host/network-address.ts";
import { keptToken, makeToken } from "../host/secret.ts";
import { readServingCertificate, servingCertificate, type ServingCertificate } from "../host/tls-certificates.ts";
import type { ApiServerOptions, ServingConfig } from "./apiserver-config.ts";
import { kubeconfigText } from "./kubeconfig.ts";

/** What answers the requests. */
export interface ApiServerCore {
  readonly exchange: Exchange;
  /** Tells the cluster where it is reached. */
  advertise?(self: { readonly address: string; readonly port: number }): Promise<void>;
  /** Ends all streams; what runs comes to its end. A second call waits for the same. */
  close(): Promise<void>;
}

/** Makes the core; `token` is the one that its clients show. */
export type StartCore = (options: ApiServerOptions & { readonly token: string }) => Promise<ApiServerCore>;

export interface ApiServerPart extends AsyncDisposable {
  /** Such as https://127.0.0.1:6443. */
  readonly url: string;
  /** An absolute path. */
  readonly kubeconfig: string;
  /** What clients trust, PEM, and what they show. */
  readonly authority: string;
  readonly token: string;
  /** Takes no more requests, lets the running ones end, ends the watches. A second call waits for the same. */
  close(): Promise<void>;
}

export interface ApiServerPartContext {
  readonly startCore: StartCore;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function startApiServerPart(
  options: ApiServerOptions,
  { startCore, clock, log }: ApiServerPartContext,
): Promise<ApiServerPart> {
  await using starting = new Disposables();
  const { serving } = options;
  const tls = await clock.external(certificateFor(options, clock));
  const token = await clock.external(tokenFor(serving));
  const core = await startCore({ ...options, token });
  starting.defer(() => core.close());
  const http = await clock.external(listen(serving, tls, core, log));
  // The door first, so that no request meets a core that is closed; both at once, since only the core can end the watches.
  starting.defer(() => closeBoth(http, core));
  const address = serving.advertiseAddress ?? reachableAddress();
  // A machine that is on no network has nobody to tell.
  if (address !== undefined) await core.advertise?.({ address, port: http.port });
  const url = `https://${urlHost(serving.bindAddress)}:${http.port}`;
  const kubeconfig = await writeKubeconfig(serving, kubeconfigText({ server: url, authority: tls.authority, token }), starting);

  const running = starting.move();
  const close = () => running[Symbol.asyncDispose]();
  return { url, kubeconfig, authority: tls.authority, token, close, [Symbol.asyncDispose]: close };
}

/** Kept beside the certificate, so that who is connected goes on after a restart; without a place to keep it, a new one each time. */
async function tokenFor({ certificateDirectory }: ServingConfig): Promise<string> {
  return certificateDirectory === undefined ? makeToken() : keptToken(joinPath(certificateDirectory, "token"));
}

async function closeBoth(http: HttpsServer, core: ApiServerCore): Promise<void> {
  const stopped = http.close();
  await core.close();
  await stopped;
}

async function certificateFor({ serving, api }: ApiServerOptions, clock: Clock): Promise<ServingCertificate> {
  if (serving.certificateFiles !== undefined) return readServingCertificate(serving.certificateFiles);
  return servingCertificate({
    names: servingNames(serving.bindAddress, api.serviceClusterIpRange),
    nowMs: clock.now(),
    directory: serving.certificateDirectory,
  });
}

/** Under which clients inside and outside of the cluster reach the server. */
export function servingNames(bindAddress: string, serviceClusterIpRange: string): string[] {
  const names = [
    ...["localhost", "127.0.0.1", "::1"],
    ...["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"],
    ...serviceClusterIpRange.split(",").flatMap(firstServiceAddress),
    machineName().toLowerCase(),
    bindAddress,
  ];
  return [...new Set(names)];
}

/** The address of the Service "kubernetes". */
function firstServiceAddress(range: string): string[] {
  const cidr = parseCidr(range);
  const first = cidr === undefined ? undefined : addToIp(networkOf(cidr).address, 1);
  return first === undefined ? [] : [formatIp(first)];
}

async function listen(serving: ServingConfig, tls: ServingCertificate, core: ApiServerCore, log: Logger): Promise<HttpsServer> {
  try {
    return await startHttpApi({
      exchange: core.exchange,
      host: serving.bindAddress,
      port: serving.securePort,
      tls: { certificate: tls.certificate, key: tls.key },
      limits: { streamsPerConnectionMax: serving.streamsPerConnectionMax },
      log,
    });
  } catch (error) {
    throw error instanceof ListenError ? withAdvice(error, serving) : error;
  }
}

function withAdvice(error: ListenError, { bindAddress, securePort }: ServingConfig): Error {
  const what = `Cannot listen on ${urlHost(bindAddress)}:${securePort}`;
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE: "another program listens there; stop it, or choose another port with --secure-port (0 takes any that is free)",
    EACCES: "this user may not listen there; choose a port from 1024 on with --secure-port",
    EADDRNOTAVAIL: "this machine has no such address; choose another with --bind-address",
  };
  return Object.hasOwn(advice, error.code) ? new Error(`${what}: ${advice[error.code]}`, { cause: error }) : error;
}

/** IPv6 addresses stand in brackets in URLs. */
function urlHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

async function writeKubeconfig({ kubeconfig }: ServingConfig, text: string, owner: Disposables): Promise<string> {
  const path = kubeconfig ?? joinPath(owner.use(await makeTemporaryDirectory("k8ts-")).path, "kubeconfig");
  try {
    await writePrivateText(path, text);
  } catch (error) {
    throw new Error(`Cannot write ${path}: ${(error as Error).message}; choose a file that this user can write with --kubeconfig`, {
      cause: error,
    });
  }
  return absolutePath(path);
}
