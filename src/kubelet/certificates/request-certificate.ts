/**
 * Requests a certificate from the cluster: creates a CertificateSigningRequest and waits until it is approved and signed, by controllers or
 * by an administrator. Not here: when to request (certificate-rotation.ts), and storing the result, which is the caller's.
 */
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import type { CertificateSigningRequest } from "../../api/generated/certificates.k8s.io/v1.ts";
import type { ClusterSigner } from "../../api/certificates.k8s.io/v1/cluster-signers.ts";
import { isFailed, isIssued, hasCondition } from "../../api/certificates.k8s.io/v1/certificate-signing-request/decision.ts";
import { decodeBase64, encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { isStatusError } from "../../api/machinery/status-error.ts";
import { writeRequest, type RequestContent } from "../../api/machinery/x509/request-writer.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Signer } from "../../base/crypto/signing.ts";
import type { Client } from "../../client/client.ts";

/** Automatic approval takes milliseconds, an administrator minutes. */
const POLL_DELAY = { minMs: 100, maxMs: 5_000 };

export interface PrivateKey {
  /** PKCS #8. */
  readonly pem: string;
  readonly signer: Signer;
}

/** PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequestOptions {
  readonly client: Client;
  readonly signerName: ClusterSigner;
  readonly purpose: "client auth" | "server auth";
  readonly content: RequestContent;
  newKey(): PrivateKey;
  /** Time until it must be issued. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Called with the request's name when it was created and is not approved yet. */
  onCreated?(name: string): void;
}

/** Rejects if the request is denied, fails, is deleted, or is not issued in time; and with the signal's reason. */
export async function requestCertificate(options: CertificateRequestOptions): Promise<IssuedCertificate> {
  const { client, signerName, purpose, content, clock, signal } = options;
  const key = options.newKey();
  const request = encodeBase64(new TextEncoder().encode(writeRequest(content, key.signer)));
  const created = await client.create(certificateSigningRequests, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { generateName: "csr-" },
    // The keys are of an elliptic curve, for which key encipherment does not apply.
    spec: { request, signerName, usages: ["digital signature", purpose] },
  });
  const { name } = created.metadata;
  options.onCreated?.(name);
  const giveUpAtMs = clock.monotonic() + options.timeoutMs;
  for (let attempt = 0; ; attempt++) {
    const found = await newest(options, name);
    const certificate = found === undefined ? undefined : certificateOf(found);
    if (certificate !== undefined) return { certificate, key: key.pem };
    if (clock.monotonic() >= giveUpAtMs)
      throw new Error(
        `Cannot get a certificate: CertificateSigningRequest ${name} was not issued within ${options.timeoutMs / 1_000} s; ` +
          `approve it with "kubectl certificate approve ${name}", or check that the controllers of the cluster run`,
      );
    await clock.sleep(exponentialDelayMs(POLL_DELAY, attempt), signal);
  }
}

/** Undefined: the server does not respond; retried until the timeout. */
async function newest({ client, signal }: CertificateRequestOptions, name: string): Promise<CertificateSigningRequest | undefined> {
  try {
    return await client.get(certificateSigningRequests, { name }, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (isStatusError(error) && (error.code === 404 || error.code === 401 || error.code === 403))
      throw new Error(`Cannot get a certificate: reading CertificateSigningRequest ${name} failed: ${error.message}`, { cause: error });
    return undefined;
  }
}

/** PEM. Undefined: pending. Throws if it will never be issued. */
function certificateOf(found: CertificateSigningRequest): string | undefined {
  const { name } = found.metadata;
  if (isIssued(found)) return new TextDecoder().decode(decodeBase64(found.status?.certificate ?? ""));
  if (!hasCondition(found, "Denied") && !isFailed(found)) return undefined;
  const condition = found.status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
  throw new Error(
    `Cannot get a certificate: CertificateSigningRequest ${name} was ${condition?.type === "Denied" ? "denied" : "not signed"}: ` +
      `${condition?.message ?? condition?.reason ?? "no reason was given"}`,
  );
}
