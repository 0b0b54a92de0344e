/**
 * The generated serving certificate of a kubelet, signed by a throw-away CA and kept as kubelet.crt and kubelet.key, like upstream's.
 * Clients that do not verify it, such as upstream's API server by default, accept it. Renewed before it expires, or when the node's name or
 * address changes.
 */
import { joinPath, readWhole } from "../../host/files/files.ts";
import { keyProblem } from "../../host/crypto/keys.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { firstCertificate, makeAuthority, makeLeaf, namesOf, type CertificateWithKey } from "../../pki/certificates.ts";
import { RENEW_BEFORE_MS } from "../../pki/complete-pki.ts";
import { machineMaker } from "../../pki/certificate-issuer.ts";

export interface KubeletCertificateOptions {
  readonly directory: string;
  /** Name and addresses of the node. */
  readonly names: readonly string[];
  readonly nowMs: number;
}

export async function keptKubeletCertificate({ directory, names, nowMs }: KubeletCertificateOptions): Promise<CertificateWithKey> {
  const files = { certificate: joinPath(directory, "kubelet.crt"), key: joinPath(directory, "kubelet.key") };
  const kept = { certificate: await textOf(files.certificate), key: await textOf(files.key) };
  if (isGood(kept, names, nowMs)) return kept;
  const made = selfSigned(names, nowMs);
  // The key first: a certificate always has its key.
  await writePrivateText(files.key, made.key);
  await writePrivateText(files.certificate, made.certificate);
  return made;
}

/** "": missing. */
async function textOf(path: string): Promise<string> {
  return readWhole(path).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => "",
  );
}

function isGood(pair: CertificateWithKey, names: readonly string[], nowMs: number): boolean {
  const certificate = firstCertificate(pair.certificate);
  if (certificate === undefined || keyProblem(pair) !== undefined) return false;
  const has = namesOf(certificate);
  return certificate.fromMs <= nowMs && certificate.toMs - nowMs >= RENEW_BEFORE_MS && names.every((name) => has.includes(name));
}

/** The first name is the common name. */
export function selfSigned(names: readonly string[], nowMs: number): CertificateWithKey {
  const [name = ""] = names;
  const authorityKey = machineMaker.newKey();
  const authority = makeAuthority(`${name}-ca`, authorityKey, machineMaker, nowMs);
  const signing = firstCertificate(authority.certificate);
  if (signing === undefined) throw new Error(`Cannot issue a certificate for ${name}: the certificate of its CA cannot be read`);
  const subject = { commonName: name, organizations: [] };
  const leaf = makeLeaf({ subject, purpose: "server", names }, { certificate: signing, signer: authorityKey.signer }, machineMaker, nowMs);
  return { key: leaf.key, certificate: `${leaf.certificate.trimEnd()}\n${authority.certificate}` };
}
