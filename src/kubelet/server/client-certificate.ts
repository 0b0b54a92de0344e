/** The user of a client certificate: CN is the name, each O a group. Its signature was verified in the TLS handshake. */
import { parseCertificates, type Certificate } from "../../api/machinery/x509/certificate.ts";
import { X509Error } from "../../api/machinery/x509/error.ts";
import { PURPOSE } from "../../api/machinery/x509/extensions.ts";
import { pemBlocks } from "../../api/machinery/x509/pem.ts";
import { sha256Hex } from "../../base/crypto/hash.ts";
import type { HttpPeerCertificate } from "../../host/http/contract.ts";
import type { KubeletUser } from "./kubelet-user.ts";

/** A certificate without extended key usage is valid for any purpose. */
const CLIENT_USAGES: readonly string[] = [PURPOSE.client, PURPOSE.any];

/** Kubernetes' own attribute for the UID. */
const KUBERNETES_UID = "1.3.6.1.4.1.57683.2";

/** Validity is checked per request, since a connection may outlive its certificate; the rest is parsed once. */
const read = new WeakMap<HttpPeerCertificate, Reading | undefined>();

interface Reading {
  readonly user: KubeletUser;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Undefined: malformed, not for client authentication, or not currently valid. */
export function userOfCertificate(certificate: HttpPeerCertificate, nowMs: number): KubeletUser | undefined {
  if (!read.has(certificate)) read.set(certificate, readingOf(certificate.pem));
  const reading = read.get(certificate);
  return reading !== undefined && nowMs >= reading.fromMs && nowMs <= reading.toMs ? reading.user : undefined;
}

function readingOf(pem: string): Reading | undefined {
  const [block] = pemBlocks(new TextEncoder().encode(pem));
  try {
    const [certificate] = block === undefined ? [] : parseCertificates(block.bytes);
    if (block === undefined || certificate === undefined || !isForClients(certificate)) return undefined;
    const { subject, fromMs, toMs } = certificate;
    const uids = subject.parts.flatMap(({ type, text }) => (type === KUBERNETES_UID && text !== undefined ? [text] : []));
    if (subject.commonName === "" || uids.length > 1) return undefined;
    const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${sha256Hex(block.bytes)}`] };
    const [uid] = uids;
    const user = { name: subject.commonName, groups: subject.organizations, extra, ...(uid === undefined ? {} : { uid }) };
    return { user, fromMs, toMs };
  } catch (error) {
    if (error instanceof X509Error) return undefined;
    throw error;
  }
}

function isForClients({ extendedKeyUsages, unhandledCriticalExtensions }: Certificate): boolean {
  if (unhandledCriticalExtensions.length > 0) return false;
  return extendedKeyUsages === undefined || extendedKeyUsages.some((usage) => CLIENT_USAGES.includes(usage));
}
