/** TLS of the HTTPS server: serving certificate and client CAs, generated or from files, and their renewal. */
import { addToIp, cidrContains, formatIp, networkOf, parseCidr } from "../../api/machinery/ip/ip-address.ts";
import type { Clock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { HttpsServerTls } from "../../host/http/server.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { machineName } from "../../host/files/private-files.ts";
import type { ApiServerOptions, ServingConfig } from "../../config/api-server-config.ts";
import { readClientAuthorities, type ClientAuthorityBundles } from "./identity.ts";
import type { CertificateWithKey } from "../../pki/certificates.ts";
import { readServingFiles } from "../../config/certificate-files.ts";
import { machineMaker, timelessMaker } from "../../pki/certificate-issuer.ts";
import { pkiDirectory } from "../../pki/pki-directory.ts";
import { memoryPlace, openPki, type Pki } from "../../pki/pki.ts";

export interface ServingTlsContext {
  readonly clock: Clock;
  readonly pki?: Pki;
}

interface Read {
  readonly given: CertificateWithKey | undefined;
  readonly clientAuthorities: ClientAuthorityBundles;
}

export class ServingTls {
  readonly pki: Pki;
  readonly #options: ApiServerOptions;
  readonly #clock: Clock;
  #read: Read;

  static async open(options: ApiServerOptions, { clock, pki: shared }: ServingTlsContext): Promise<ServingTls> {
    const pki = shared ?? (await pkiFor(options, clock));
    return new ServingTls(pki, options, clock, await clock.external(readFiles(options, pki)));
  }

  private constructor(pki: Pki, options: ApiServerOptions, clock: Clock, read: Read) {
    this.pki = pki;
    this.#options = options;
    this.#clock = clock;
    this.#read = read;
  }

  get tls(): HttpsServerTls {
    const { certificate, key } = this.#read.given ?? this.pki.pair("apiserver");
    return { certificate, key, clientAuthorities: { ...this.clientAuthorities } };
  }

  get clientAuthorities(): ClientAuthorityBundles {
    return this.#read.clientAuthorities;
  }

  /** CA for clients, PEM. The CA of a configured certificate is in its file, or trusted by the clients anyway. */
  get authority(): string {
    return this.#read.given?.certificate ?? this.pki.authority;
  }

  /** True if other processes may change it: it comes from files. */
  get isShared(): boolean {
    const { serving, identity } = this.#options;
    const files = [serving.certificateFiles, identity.clientCaFile, identity.requestHeader.clientCaFile];
    return this.pki.isShared || files.some((file) => file !== undefined);
  }

  /** Renews what is about to expire and reloads files. Resolves with true if something changed. */
  async renew(nowMs: number): Promise<boolean> {
    const isRenewed = await this.pki.renew(nowMs);
    const before = JSON.stringify(this.#read);
    this.#read = await this.#clock.external(readFiles(this.#options, this.pki));
    return isRenewed || JSON.stringify(this.#read) !== before;
  }
}

/**
 * Randomly generated keys. External clients use the machine's time, so with virtual time, certificates that are not kept are valid at any
 * time. Those in a directory are issued and renewed by the cluster's clock.
 */
async function pkiFor({ serving, api }: ApiServerOptions, clock: Clock): Promise<Pki> {
  const servingNames = servingNamesOf(serving, api.serviceClusterIpRange);
  const { certificateDirectory } = serving;
  const nowMs = clock.now();
  if (certificateDirectory !== undefined)
    return openPki({ place: pkiDirectory(certificateDirectory, clock), maker: machineMaker, servingNames, nowMs });
  const maker = clock instanceof VirtualClock ? timelessMaker : machineMaker;
  return openPki({ place: memoryPlace(), maker, servingNames, nowMs });
}

async function readFiles({ serving, identity }: ApiServerOptions, pki: Pki): Promise<Read> {
  const { certificateFiles } = serving;
  return {
    given: certificateFiles === undefined ? undefined : await readServingFiles(certificateFiles),
    clientAuthorities: await readClientAuthorities(identity, pki),
  };
}

/** Names by which clients inside and outside of the cluster reach the server. */
export function servingNamesOf(
  { bindAddress, additionalBindAddresses = [], advertiseAddress = reachableAddress() }: ServingConfig,
  serviceClusterIpRange: string,
): string[] {
  const names = [
    ...["localhost", "127.0.0.1", "::1"],
    ...["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"],
    ...serviceClusterIpRange.split(",").flatMap(firstServiceAddress),
    machineName().toLowerCase(),
    bindAddress,
    ...additionalBindAddresses,
    ...(advertiseAddress === undefined ? [] : [advertiseAddress]),
  ];
  return [...new Set(names)];
}

/** IPv4 address of the Service "kubernetes". Undefined: none. */
export function kubernetesServiceIpv4(serviceClusterIpRange: string): string | undefined {
  return serviceClusterIpRange
    .split(",")
    .flatMap(firstServiceAddress)
    .find((address) => !address.includes(":"));
}

/** Cluster IPs of the Service kube-system/kube-dns, one per range: the tenth address, as upstream's tools choose it. None of a range that is too small. */
export function dnsServiceAddresses(serviceClusterIpRange: string): readonly string[] {
  return serviceClusterIpRange.split(",").flatMap((range) => serviceAddress(range, 10));
}

/** Address of the Service "kubernetes". */
function firstServiceAddress(range: string): string[] {
  return serviceAddress(range, 1);
}

function serviceAddress(range: string, index: number): string[] {
  const cidr = parseCidr(range);
  const address = cidr === undefined ? undefined : addToIp(networkOf(cidr).address, index);
  return cidr === undefined || address === undefined || !cidrContains(cidr, address) ? [] : [formatIp(address)];
}
