/**
 * The certificates and keys of a cluster: its authorities, what they have signed, and the key of service account tokens. Where they are
 * kept is the `PkiPlace`'s: in a directory that several API servers may share (pki-directory.ts), or in memory.
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
import { missingFiles, namingFiles, RENEW_BEFORE_MS, signingAuthority, type PkiFiles } from "./complete.ts";
import type { LeafName } from "./leaves.ts";

/** Where the files are. */
export interface PkiPlace {
  /** Whether others may change them. */
  readonly isShared: boolean;
  /** Where a person finds the file of this name. */
  pathOf(file: string): string;
  /** Writes what `missing` finds missing, after all that others have written; gives all files. Rejects with one sentence. */
  complete(missing: (files: PkiFiles) => PkiFiles): Promise<PkiFiles>;
}

export interface PkiOptions {
  readonly place: PkiPlace;
  readonly maker: CertificateMaker;
  /** DNS names and IP addresses under which clients reach the server. */
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

  /** PEM: who signs the certificates of the server and of clients. */
  get authority(): string {
    return this.#files["ca.crt"] ?? "";
  }

  /** PEM: who signs the certificates of proxies that say who the user is. */
  get frontProxyAuthority(): string {
    return this.#files["front-proxy-ca.crt"] ?? "";
  }

  /** Whether other servers may change it. */
  get isShared(): boolean {
    return this.#options.place.isShared;
  }

  pair(name: LeafName): CertificateWithKey {
    return { certificate: this.#files[`${name}.crt`] ?? "", key: this.#files[`${name}.key`] ?? "" };
  }

  /** A new one for a node's kubelet, which is kept nowhere: with it, it calls the API server. */
  makeNodeCertificate(nodeName: string, nowMs: number): CertificateWithKey {
    return this.#makeOfNode(nodeName, { purpose: "client", names: [] }, nowMs);
  }

  /** With it, it is called. */
  makeNodeServingCertificate(nodeName: string, addresses: readonly string[], nowMs: number): CertificateWithKey {
    return this.#makeOfNode(nodeName, { purpose: "server", names: [nodeName, ...addresses] }, nowMs);
  }

  #makeOfNode(nodeName: string, request: Omit<LeafRequest, "subject">, nowMs: number): CertificateWithKey {
    const { maker } = this.#options;
    const { name: commonName, groups: organizations } = nodeIdentity(nodeName);
    const authority = this.#signing(`the certificate of node ${nodeName}`);
    return makeLeaf({ ...request, subject: { commonName, organizations } }, authority, maker, nowMs);
  }

  /** Throws one sentence, with the file, if nothing can be signed. */
  #signing(what: string): SigningAuthority {
    const { place, maker } = this.#options;
    return namingFiles(place.pathOf, () => signingAuthority("ca", what, this.#files, maker));
  }

  /** The cluster's authority and its key, for signing what clients ask for; undefined if the key is kept elsewhere. Throws one sentence. */
  get certificateSigning(): { readonly certificate: string; readonly signer: Signer } | undefined {
    if (this.#files["ca.key"] === undefined) return undefined;
    const { signer } = this.#signing("certificates requested by clients");
    const currentAuthority = () => this.authority;
    return {
      /** It may be renewed; its key stays. */
      get certificate() {
        return currentAuthority();
      },
      signer,
    };
  }

  /** Makes anew what is about to end, and takes up what another server has. Whether anything is different now. */
  async renew(nowMs: number): Promise<boolean> {
    const { place, maker, servingNames } = this.#options;
    if (!place.isShared && nowMs < this.#dueMs) return false;
    const before = this.#files;
    this.#files = await place.complete((files) => missingFiles(files, { maker, servingNames, nowMs }));
    this.#knownDueMs = undefined;
    return Object.entries(this.#files).some(([name, text]) => before[name] !== text);
  }

  /** When the first of the certificates has to be made anew. */
  get #dueMs(): number {
    this.#knownDueMs ??= Math.min(...certificatesOf(this.#files).map(({ toMs }) => toMs)) - RENEW_BEFORE_MS;
    return this.#knownDueMs;
  }
}

function certificatesOf(files: PkiFiles): readonly Certificate[] {
  return Object.entries(files).flatMap(([name, text]) => (name.endsWith(".crt") ? (firstCertificate(text) ?? []) : []));
}

/** Gone with the process. */
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
