/**
 * The certificate of a kubelet's HTTPS server that nobody has given: it is made, signed by an authority that is nobody's, and kept as
 * kubelet.crt and kubelet.key, as upstream's. Whoever asks a kubelet without knowing that certificate takes it unseen, as upstream's API
 * server does. It is made anew when it is about to end, or when the node has another name or address.
 */
import { joinPath, readWhole } from "../../host/files/files.ts";
import { keyProblem } from "../../host/crypto/keys.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { firstCertificate, makeAuthority, makeLeaf, namesOf, type CertificateWithKey } from "../../pki/certificates.ts";
import { RENEW_BEFORE_MS } from "../../pki/complete.ts";
import { machineMaker } from "../../pki/machine-maker.ts";

export interface KubeletCertificateOptions {
  readonly directory: string;
  /** The node's name and addresses. */
  readonly names: readonly string[];
  readonly nowMs: number;
}

export async function keptKubeletCertificate({ directory, names, nowMs }: KubeletCertificateOptions): Promise<CertificateWithKey> {
  const files = { certificate: joinPath(directory, "kubelet.crt"), key: joinPath(directory, "kubelet.key") };
  const kept = { certificate: await textOf(files.certificate), key: await textOf(files.key) };
  if (isGood(kept, names, nowMs)) return kept;
  const made = selfSigned(names, nowMs);
  // The key first: a certificate that has appeared has its key beside it.
  await writePrivateText(files.key, made.key);
  await writePrivateText(files.certificate, made.certificate);
  return made;
}

/** "": there is none. */
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

/** The first of the names is the subject's. */
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
