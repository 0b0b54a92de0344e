/**
 * Certificates of hosts from Secrets. Only Secrets that an Ingress names are read: one watch for each, none for others. A Secret that is
 * missing or unusable is reported on its Ingresses, and the host keeps the self-signed certificate.
 */
import { secrets } from "../api/core/v1/secret.ts";
import type { Secret } from "../api/generated/core/v1.ts";
import type { Informer, Informers } from "../client/informer/informer.ts";
import { certificateProblem, type ProxyCertificate } from "../host/http/proxy/proxy-server.ts";
import type { RoutingTable, SecretReference } from "./model.ts";

/** Watches at most. More hosts than one process serves with certificates of their own; further ones get the self-signed certificate. */
const SECRETS_MAX = 5_000;

export interface HostCertificates {
  readonly usable: ReadonlyMap<string, ProxyCertificate>;
  /** Why a Secret cannot be used, by "namespace/name". */
  readonly problems: ReadonlyMap<string, string>;
}

export class CertificateSecrets {
  readonly #informers: Informers;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, { readonly reference: SecretReference; readonly informer: Informer<Secret> }>();
  /** Checking a certificate takes milliseconds; the same Secret is checked once. */
  #checked = new WeakMap<Secret, ProxyCertificate | string>();

  constructor(informers: Informers, onChange: () => void) {
    this.#informers = informers;
    this.#onChange = onChange;
  }

  /** Starts and ends watches. */
  follow({ secrets: references }: RoutingTable): void {
    const wanted = new Map([...references.values()].map((reference) => [keyOf(reference), reference]));
    for (const [key, { reference }] of this.#watched) {
      if (wanted.has(key)) continue;
      this.#watched.delete(key);
      void this.#informers.end(secrets, scopeOf(reference));
    }
    for (const [key, reference] of wanted) {
      if (this.#watched.has(key) || this.#watched.size >= SECRETS_MAX) continue;
      const informer = this.#informers.of(secrets, scopeOf(reference));
      this.#watched.set(key, { reference, informer });
      informer.listen({ added: this.#onChange, updated: this.#onChange, deleted: this.#onChange });
      // A Secret that does not exist changes nothing but that.
      informer.synced().then(this.#onChange, () => undefined);
    }
  }

  /** Resolves when all watches know whether their Secret exists. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ informer }) => informer.synced(signal)));
  }

  compute({ secrets: references }: RoutingTable): HostCertificates {
    const usable = new Map<string, ProxyCertificate>();
    const problems = new Map<string, string>();
    for (const [host, reference] of references) {
      const key = keyOf(reference);
      const found = this.#of(key, reference);
      if (typeof found === "string") problems.set(key, found);
      else if (found !== undefined) usable.set(host, found);
    }
    return { usable, problems };
  }

  /** Undefined: not known yet. */
  #of(key: string, reference: SecretReference): ProxyCertificate | string | undefined {
    const informer = this.#watched.get(key)?.informer;
    if (informer === undefined) return `Secret ${key} is not read: at most ${SECRETS_MAX} are`;
    const secret = informer.get(reference);
    if (secret === undefined) return informer.isSynced ? `Secret ${key} does not exist` : undefined;
    let checked = this.#checked.get(secret);
    if (checked === undefined) this.#checked.set(secret, (checked = certificateOf(key, secret)));
    return checked;
  }
}

function certificateOf(key: string, { data = {} }: Secret): ProxyCertificate | string {
  const { "tls.crt": certificate, "tls.key": privateKey } = data;
  if (certificate === undefined || privateKey === undefined) return `Secret ${key} has no tls.crt and tls.key`;
  const pair = { certificate: textOf(certificate), key: textOf(privateKey) };
  const problem = certificateProblem(pair);
  return problem === undefined ? pair : `Secret ${key} has no usable certificate: ${problem}`;
}

function textOf(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}

function scopeOf({ namespace, name }: SecretReference) {
  return { namespace, fieldSelector: `metadata.name=${name}` };
}

export function keyOf({ namespace, name }: SecretReference): string {
  return `${namespace}/${name}`;
}
