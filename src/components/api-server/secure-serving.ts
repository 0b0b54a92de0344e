/**
 * An API server as a part of a cluster: its core behind HTTPS, with the cluster's certificates and the kubeconfigs that hold them. Used by
 * `k8ts apiserver`, by `k8ts up` and by startCluster. The core is an argument, since it is pure and this is the machine.
 */
import type { Exchange } from "../../apiserver/framework/exchange.ts";
import { startHttpApi } from "../../apiserver/http/http-api.ts";
import type { Identity } from "../../apiserver/framework/identity.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import { ListenError, type HttpsServer, type HttpsServerTls } from "../../host/http/server.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { isLoopback, type ApiServerOptions, type ServingConfig } from "../../config/api-server-config.ts";
import { readIdentity } from "./identity.ts";
import { KubeconfigFiles } from "./kubeconfig-files.ts";
import type { CertificateWithKey } from "../../pki/certificates.ts";
import type { Pki } from "../../pki/pki.ts";
import { startRenewal } from "../../pki/renewal.ts";
import { ServingTls } from "./serving-tls.ts";

/** What answers the requests. */
export interface ApiServerCore {
  readonly exchange: Exchange;
  /** Tells the cluster where it is reached. */
  advertise?(self: { readonly address: string; readonly port: number; readonly url?: string }): Promise<void>;
  /** Ends all streams; what runs comes to its end. A second call waits for the same. */
  close(): Promise<void>;
}

export interface AdvertisedAddress {
  readonly address: string;
  readonly port: number;
}

/** Makes the core. */
export type StartCore = (
  options: Omit<ApiServerOptions, "identity" | "kubelets"> & { readonly identity: Identity },
) => Promise<ApiServerCore>;

export interface ApiServerPart extends AsyncDisposable {
  /** Such as https://127.0.0.1:6443. */
  readonly url: string;
  /** An absolute path. */
  readonly kubeconfig: string;
  /** What clients trust, PEM, and what the administrator shows. */
  readonly authority: string;
  readonly admin: CertificateWithKey;
  /** Where the Service "kubernetes" leads to. Absent: this machine is on no network. */
  readonly advertised?: AdvertisedAddress;
  /** Those of the cluster, for whoever needs others. */
  readonly pki: Pki;
  /** Takes no more requests, lets the running ones end, ends the watches. A second call waits for the same. */
  close(): Promise<void>;
}

export interface ApiServerPartContext {
  readonly startCore: StartCore;
  /** Default: kept in the directory of the serving configuration; without one, in memory. */
  readonly pki?: Pki;
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
  const http = await clock.external(listenOnAll(serving, certificates.tls, core, log));
  // The door first, so that no request meets a core that is closed; both at once, since only the core can end the watches.
  starting.defer(() => closeBoth(http, core, clock));
  const address = advertisedAddress(serving);
  const url = `https://${urlHost(reachedAt(serving.bindAddress))}:${http.port}`;
  // A machine that is on no network has nobody to tell; and who listens on one address is reached at that, whatever was advertised.
  const reached = isUnspecified(serving.bindAddress) ? {} : { url };
  if (address !== undefined) await core.advertise?.({ address, port: http.port, ...reached });
  const kubeconfigs = await clock.external(KubeconfigFiles.open(serving));
  starting.defer(() => clock.external(kubeconfigs[Symbol.asyncDispose]()));
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
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function closeBoth(http: HttpsServer, core: ApiServerCore, clock: Clock): Promise<void> {
  const stopped = http.close();
  await core.close();
  await clock.external(stopped);
}

/** Attempts to find a port that is free on all addresses, if any port will do. Two are enough unless something is wrong. */
const ANY_PORT_ATTEMPTS = 5;

/** One server per address, all at one port, with one certificate. Rejects if it cannot listen on one of them. */
async function listenOnAll(serving: ServingConfig, tls: HttpsServerTls, core: ApiServerCore, log: Logger): Promise<HttpsServer> {
  const { bindAddress, additionalBindAddresses = [], securePort } = serving;
  for (let attempt = 1; ; attempt++) {
    await using starting = new Disposables();
    const first = starting.use(await listen(serving, { host: bindAddress, port: securePort }, { tls, core, log }));
    const servers = [first];
    try {
      for (const host of additionalBindAddresses)
        servers.push(starting.use(await listen(serving, { host, port: first.port }, { tls, core, log })));
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
  readonly log: Logger;
}

function listen(
  { streamsPerConnectionMax }: ServingConfig,
  { host, port }: { readonly host: string; readonly port: number },
  { tls, core, log }: Served,
): Promise<HttpsServer> {
  return startHttpApi({ exchange: core.exchange, host, port, tls, limits: { streamsPerConnectionMax }, log });
}

/** Where Pods reach the server, if nothing else is said: at the address that it listens on. Undefined: this machine is on no network. */
export function advertisedAddress({ advertiseAddress, bindAddress }: ServingConfig): string | undefined {
  if (advertiseAddress !== undefined) return advertiseAddress;
  return isUnspecified(bindAddress) || isLoopback(bindAddress) ? reachableAddress() : bindAddress;
}

/** A server that listens on all addresses is reached from this machine at its own. */
function reachedAt(bindAddress: string): string {
  if (!isUnspecified(bindAddress)) return bindAddress;
  return bindAddress === "::" ? "::1" : "127.0.0.1";
}

/** All addresses of this machine. */
function isUnspecified(bindAddress: string): boolean {
  return bindAddress === "0.0.0.0" || bindAddress === "::";
}

/** IPv6 addresses stand in brackets in URLs. */
function urlHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
