/**
 * Serves the API over HTTPS, with the cluster's certificates and kubeconfigs. Used by `k8ts apiserver`, `k8ts up` and startCluster. The API
 * server itself is an argument, because it is pure and this uses the machine.
 */
import type { TokenSigner } from "../../api/machinery/codec/json-web-token-writer.ts";
import type { Exchange } from "../../apiserver/framework/exchange.ts";
import { startHttpApi } from "../../apiserver/http/http-api.ts";
import type { Identity } from "../../apiserver/framework/identity.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import { useExternal } from "../../base/use-external.ts";
import type { Logger } from "../../base/logger.ts";
import type { BoundPort } from "../../host/relay/bound-port.ts";
import { ListenError, type HttpsServer, type HttpsServerTls } from "../../host/http/server.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { isLoopback, type ApiServerOptions, type ServingConfig } from "../../config/api-server-config.ts";
import { readIdentity } from "./identity.ts";
import { KubeconfigFiles } from "./kubeconfig-files.ts";
import type { CertificateWithKey } from "../../pki/certificates.ts";
import type { Pki } from "../../pki/pki.ts";
import { startRenewal } from "../../pki/renewal.ts";
import { ServingTls } from "./serving-tls.ts";

/** Request handler. */
export interface ApiServerCore {
  readonly exchange: Exchange;
  /** Publishes the address of the server in the cluster. */
  advertise?(self: { readonly address: string; readonly port: number; readonly url?: string }): Promise<void>;
  /** Closes all streams and completes running requests. A second call waits for the same. */
  close(): Promise<void>;
}

export interface AdvertisedAddress {
  readonly address: string;
  readonly port: number;
}

/** Creates the API server. */
export type StartCore = (
  options: Omit<ApiServerOptions, "identity" | "kubelets"> & { readonly identity: Identity },
) => Promise<ApiServerCore>;

export interface ApiServerPart extends AsyncDisposable {
  /** Such as https://127.0.0.1:6443. */
  readonly url: string;
  /** An absolute path. */
  readonly kubeconfig: string;
  /** CA (PEM) for clients, and the administrator's client certificate. */
  readonly authority: string;
  readonly admin: CertificateWithKey;
  /** Endpoint of the Service "kubernetes". Absent: this machine has no network. */
  readonly advertised?: AdvertisedAddress;
  /** The cluster's certificates, to issue others. */
  readonly pki: Pki;
  /** Key of service account tokens. Absent: the server issues none. */
  readonly tokenSigner?: TokenSigner;
  /** Stops accepting requests, completes running ones and closes watches. A second call waits for the same. */
  close(): Promise<void>;
}

export interface ApiServerPartContext {
  readonly startCore: StartCore;
  /** Default: kept in the directory of the serving configuration; without one, in memory. */
  readonly pki?: Pki;
  /** Binds ports for other processes, which accept the connections. Default: this process accepts them. */
  readonly bind?: (place: { readonly host: string; readonly port: number }) => BoundPort;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Rejects with a ListenError if it cannot listen there. */
export async function startApiServerPart(options: ApiServerOptions, context: ApiServerPartContext): Promise<ApiServerPart> {
  const { startCore, clock, log } = context;
  await using starting = new Disposables();
  const { serving } = options;
  const certificates = await ServingTls.open(options, context);
  const { pki } = certificates;
  const { clientAuthorities, authority: serverAuthority } = certificates;
  const identity = await clock.external(readIdentity(options.identity, { pki, clientAuthorities, serverAuthority, log }));
  const core = await startCore({ ...options, identity });
  starting.defer(() => core.close());
  const http = await clock.external(
    listenOnAll(serving, { tls: certificates.tls, core, log, ...(context.bind === undefined ? {} : { bind: context.bind }) }),
  );
  // HTTPS first, so that no request reaches a closed API server; both concurrently, because only the API server can close the watches.
  starting.defer(() => closeBoth(http, core, clock));
  const address = advertisedAddress(serving);
  const url = `https://${urlHost(reachedAt(serving.bindAddress))}:${http.port}`;
  // Without a network there is no address to publish; with a specific bind address that one is published, whatever was advertised.
  const reached = isUnspecified(serving.bindAddress) ? {} : { url };
  if (address !== undefined) await core.advertise?.({ address, port: http.port, ...reached });
  const kubeconfigs = useExternal(starting, clock, await clock.external(KubeconfigFiles.open(serving)));
  const writeKubeconfigs = () => clock.external(kubeconfigs.write({ server: url, authority: certificates.authority, pki, log }));
  await writeKubeconfigs();
  const onRenewed = async () => {
    http.useTls(certificates.tls);
    await writeKubeconfigs();
  };
  const renewal = startRenewal({ renew: () => certificates.renew(clock.now()), isShared: certificates.isShared, onRenewed, clock, log });
  starting.defer(() => renewal.stop());

  const running = starting.move();
  const close = () => running[Symbol.asyncDispose]();
  return {
    url,
    kubeconfig: kubeconfigs.admin,
    get authority() {
      return certificates.authority;
    },
    get admin() {
      return pki.pair("admin");
    },
    ...(address === undefined ? {} : { advertised: { address, port: http.port } }),
    pki,
    ...tokenSignerOf(identity),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** As the API server's own tokens, so that it accepts them. */
export function tokenSignerOf({ serviceAccounts }: Identity): { readonly tokenSigner?: TokenSigner } {
  if (serviceAccounts === undefined) return {};
  return { tokenSigner: { signer: serviceAccounts.signer, keyId: serviceAccounts.signerKeyId } };
}

async function closeBoth(http: HttpsServer, core: ApiServerCore, clock: Clock): Promise<void> {
  const stopped = http.close();
  await core.close();
  await clock.external(stopped);
}

/** Attempts to find a port that is free on all addresses, if any port will do. Two are normally enough. */
const ANY_PORT_ATTEMPTS = 5;

/** One server per address, with the same port and certificate. Rejects if one of them cannot listen. */
async function listenOnAll(serving: ServingConfig, served: Served): Promise<HttpsServer> {
  const { bindAddress, additionalBindAddresses = [], securePort } = serving;
  for (let attempt = 1; ; attempt++) {
    await using starting = new Disposables();
    const first = starting.use(await listen(serving, { host: bindAddress, port: securePort }, served));
    const servers = [first];
    try {
      for (const host of additionalBindAddresses) servers.push(starting.use(await listen(serving, { host, port: first.port }, served)));
    } catch (error) {
      if (securePort !== 0 || attempt === ANY_PORT_ATTEMPTS || !(error instanceof ListenError) || error.code !== "EADDRINUSE") throw error;
      continue;
    }
    starting.move();
    return servers.length === 1 ? first : asOne(first, servers);
  }
}

function asOne({ port }: HttpsServer, servers: readonly HttpsServer[]): HttpsServer {
  const close = async (options?: Parameters<HttpsServer["close"]>[0]): Promise<void> => {
    await Promise.all(servers.map((server) => server.close(options)));
  };
  return {
    port,
    useTls: (tls) => servers.forEach((server) => server.useTls(tls)),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

interface Served {
  readonly tls: HttpsServerTls;
  readonly core: ApiServerCore;
  readonly bind?: ApiServerPartContext["bind"];
  readonly log: Logger;
}

async function listen(
  { streamsPerConnectionMax }: ServingConfig,
  place: { readonly host: string; readonly port: number },
  { tls, core, bind, log }: Served,
): Promise<HttpsServer> {
  if (bind === undefined) return startHttpApi({ exchange: core.exchange, ...place, tls, limits: { streamsPerConnectionMax }, log });
  const bound = bind(place);
  // The processes that listen on it have certificates and connections of their own.
  const close = async (): Promise<void> => bound[Symbol.dispose]();
  return { port: bound.port, useTls: () => undefined, close, [Symbol.asyncDispose]: close };
}

/** Default address for Pods: the one it listens on. Undefined: this machine has no network. */
export function advertisedAddress({ advertiseAddress, bindAddress }: ServingConfig): string | undefined {
  if (advertiseAddress !== undefined) return advertiseAddress;
  return isUnspecified(bindAddress) || isLoopback(bindAddress) ? reachableAddress() : bindAddress;
}

/** A server on all addresses is reached locally on loopback. */
function reachedAt(bindAddress: string): string {
  if (!isUnspecified(bindAddress)) return bindAddress;
  return bindAddress === "::" ? "::1" : "127.0.0.1";
}

/** The unspecified addresses. */
function isUnspecified(bindAddress: string): boolean {
  return bindAddress === "0.0.0.0" || bindAddress === "::";
}

/** IPv6 addresses are bracketed in URLs. */
function urlHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
