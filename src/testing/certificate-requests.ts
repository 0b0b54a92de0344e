/** Requests for certificates (PKCS #10) for tests, signed with a key that everybody knows. */
import { encodeBase64 } from "../api/machinery/codec/base64.ts";
import { SUBJECT_ALTERNATIVE_NAME } from "../api/machinery/x509/alternative-names.ts";
import { extension } from "../api/machinery/x509/certificate-writer.ts";
import {
  asUtf8,
  bitString,
  explicit,
  implicit,
  objectIdentifier,
  sequence,
  set,
  unsignedInteger,
} from "../api/machinery/x509/der-writer.ts";
import { writeName } from "../api/machinery/x509/name-writer.ts";
import { p256Key } from "../api/machinery/x509/p256-signer.ts";
import { pemText } from "../api/machinery/x509/pem.ts";
import { COMMON_NAME, ORGANIZATION } from "../api/machinery/x509/subject.ts";

export interface RequestedCertificate {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly emailAddresses?: readonly string[];
  readonly ipAddresses?: readonly Uint8Array[];
  readonly uris?: readonly string[];
}

/** That of who asks. */
export const REQUESTER_KEY = p256Key(4_711n);

const ECDSA_WITH_SHA_256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";

/** PEM. */
export function certificateRequest(wanted: RequestedCertificate): string {
  const { signer } = REQUESTER_KEY;
  const parts = [
    ...(wanted.organizations ?? []).map((text) => ({ type: ORGANIZATION, text })),
    ...(wanted.commonName === undefined ? [] : [{ type: COMMON_NAME, text: wanted.commonName }]),
  ];
  const version = unsignedInteger(Uint8Array.of(0));
  const signed = sequence(version, writeName(parts), signer.publicKey, explicit(0, attributesOf(wanted)));
  const signature = signer.sign(signed);
  const numbers = sequence(unsignedInteger(signature.subarray(0, 32)), unsignedInteger(signature.subarray(32)));
  return pemText("CERTIFICATE REQUEST", sequence(signed, ECDSA_WITH_SHA_256, bitString(numbers)));
}

function attributesOf({ dnsNames = [], emailAddresses = [], ipAddresses = [], uris = [] }: RequestedCertificate): Uint8Array {
  const names = [
    ...emailAddresses.map((name) => implicit(1, asUtf8(name))),
    ...dnsNames.map((name) => implicit(2, asUtf8(name))),
    ...uris.map((name) => implicit(6, asUtf8(name))),
    ...ipAddresses.map((name) => implicit(7, name)),
  ];
  if (names.length === 0) return new Uint8Array(0);
  return sequence(objectIdentifier(EXTENSION_REQUEST), set(sequence(extension(SUBJECT_ALTERNATIVE_NAME, sequence(...names)))));
}

/** The object, as a client sends it. */
export function certificateSigningRequest(
  name: string,
  wanted: RequestedCertificate,
  spec: { readonly signerName: string; readonly usages: readonly string[]; readonly expirationSeconds?: number },
): object {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: { ...spec, request: encodeBase64(asUtf8(certificateRequest(wanted))) },
  };
}
