/**
 * Certificates and keys of a cluster: its CAs, leaf certificates, and the signing key of service account tokens. Storage is abstracted by
 * `PkiPlace`: a directory that several API servers can share (pki-directory.ts), or memory.
 */
import { keyIdOf, verifierOfSigner } from "../host/crypto/keys.ts";
import { nodeIdentity } from "../api/identities.ts";
import type { Certificate } from "../api/machinery/x509/certificate.ts";
import type { Signer, Verifier } from "../base/crypto/signing.ts";
import {
  firstCertificate,
  makeLeaf,
  trackLocation,
  type CertificateMaker,
  type CertificateWithKey,
  type LeafRequest,
  type SigningAuthority,
} from "./certificates.ts";
import { missingFiles, namingFiles, RENEW_BEFORE_MS, signingAuthority, type PkiFiles } from "./complete-pki.ts";
import type { LeafName } from "./leaf-certificates.ts";

/** Storage of the files. */
export interface PkiPlace {
  /** True if other processes may change them. */
  readonly isShared: boolean;
  /** Path of a file, for messages. */
  pathOf(file: string): string;
  /**
   * Writes the files that `missing` returns, given those that others have written; resolves with all files. Rejects with a message for the
   * user.
   */
  complete(missing: (files: PkiFiles) => PkiFiles): Promise<PkiFiles>;
}

export interface PkiOptions {
  readonly place: PkiPlace;
  readonly maker: CertificateMaker;
  /** DNS names and IP addresses by which clients reach the server. */
  readonly servingNames: readonly string[];
  readonly nowMs: number;
}

export async function openPki({ place, servingNames, nowMs, ...options }: PkiOptions): Promise<Pki> {
  const maker = trackLocation(options.maker);
  return new Pki({ place, maker, servingNames }, await place.complete((files) => missingFiles(files, { maker, servingNames, nowMs })));
}

export class Pki {
  readonly #options: Omit<PkiOptions, "nowMs">;
  #files: PkiFiles;
  #knownDueMs: number | undefined;
  readonly serviceAccounts: { readonly signer: Signer; readonly keyId: string; readonly verifier: Verifier };

  constructor(options: Omit<PkiOptions, "nowMs">, files: PkiFiles) {
    this.#options = options;
    this.#files = files;
    const signer = options.maker.readKey(files["sa.key"] ?? "");
    this.serviceAccounts = { signer, keyId: keyIdOf(signer.publicKey), verifier: verifierOfSigner(signer) };
  }

  /** CA (PEM) of server and client certificates. */
  get authority(): string {
    return this.#files["ca.crt"] ?? "";
  }

  /** CA (PEM) of authenticating proxies. */
  get frontProxyAuthority(): string {
    return this.#files["front-proxy-ca.crt"] ?? "";
  }

  /** True if other servers may change it. */
  get isShared(): boolean {
    return this.#options.place.isShared;
  }

  pair(name: LeafName): CertificateWithKey {
    return { certificate: this.#files[`${name}.crt`] ?? "", key: this.#files[`${name}.key`] ?? "" };
  }

  /** Issues a client certificate for a node's kubelet, which is not kept. */
  makeNodeCertificate(nodeName: string, nowMs: number): CertificateWithKey {
    return this.#makeOfNode(nodeName, { purpose: "client", names: [] }, nowMs);
  }

  /** Issues its serving certificate. */
  makeNodeServingCertificate(nodeName: string, addresses: readonly string[], nowMs: number): CertificateWithKey {
    return this.#makeOfNode(nodeName, { purpose: "server", names: [nodeName, ...addresses] }, nowMs);
  }

  #makeOfNode(nodeName: string, request: Omit<LeafRequest, "subject">, nowMs: number): CertificateWithKey {
    const { maker } = this.#options;
    const { name: commonName, groups: organizations } = nodeIdentity(nodeName);
    const authority = this.#signing(`the certificate of node ${nodeName}`);
    return makeLeaf({ ...request, subject: { commonName, organizations } }, authority, maker, nowMs);
  }

  /** Throws an error with the file if signing is not possible. */
  #signing(what: string): SigningAuthority {
    const { place, maker } = this.#options;
    return namingFiles(place.pathOf, () => signingAuthority("ca", what, this.#files, maker));
  }

  /** The cluster's CA and its key, for signing CertificateSigningRequests; undefined if the key is kept elsewhere. */
  get certificateSigning(): { readonly certificate: string; readonly signer: Signer } | undefined {
    if (this.#files["ca.key"] === undefined) return undefined;
    const { signer } = this.#signing("certificates requested by clients");
    const currentAuthority = () => this.authority;
    return {
      /** The certificate may be renewed; its key stays. */
      get certificate() {
        return currentAuthority();
      },
      signer,
    };
  }

  /** Renews what is about to expire and loads what another server renewed. Resolves with true if something changed. */
  async renew(nowMs: number): Promise<boolean> {
    const { place, maker, servingNames } = this.#options;
    if (!place.isShared && nowMs < this.#dueMs) return false;
    const before = this.#files;
    this.#files = await place.complete((files) => missingFiles(files, { maker, servingNames, nowMs }));
    this.#knownDueMs = undefined;
    return Object.entries(this.#files).some(([name, text]) => before[name] !== text);
  }

  /** Time of the next renewal. */
  get #dueMs(): number {
    this.#knownDueMs ??= Math.min(...certificatesOf(this.#files).map(({ toMs }) => toMs)) - RENEW_BEFORE_MS;
    return this.#knownDueMs;
  }
}

function certificatesOf(files: PkiFiles): readonly Certificate[] {
  return Object.entries(files).flatMap(([name, text]) => (name.endsWith(".crt") ? (firstCertificate(text) ?? []) : []));
}

/** Lost when the process exits. */
export function memoryPlace(start: PkiFiles = {}): PkiPlace {
  let files = start;
  return {
    isShared: false,
    pathOf: (file) => file,
    complete(missing) {
      files = { ...files, ...missing(files) };
      return Promise.resolve(files);
    },
  };
}
