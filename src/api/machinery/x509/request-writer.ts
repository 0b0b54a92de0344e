/** Writes and signs certificate signing requests (PKCS #10, RFC 2986), which certificate-request.ts parses. */
import type { Signer } from "../../../base/crypto/signing.ts";
import { SUBJECT_ALTERNATIVE_NAME, type AlternativeNames } from "./alternative-names.ts";
import { algorithmOf, extension, nameOf, namesOf, signatureOf } from "./certificate-writer.ts";
import { bitString, element, explicit, objectIdentifier, sequence, set } from "./der-writer.ts";
import { TAG } from "./der.ts";
import { pemText } from "./pem.ts";
import type { Subject } from "./subject.ts";

export interface RequestContent {
  /** Absent: an empty name. */
  readonly subject?: Subject;
  readonly alternativeNames?: Partial<AlternativeNames>;
}

/** The only version. */
const VERSION_1 = element(TAG.integer, [0]);

/** Attribute that contains the requested extensions. */
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";

/** PEM. `signer` has the key that the certificate will be for. */
export function writeRequest({ subject, alternativeNames = {} }: RequestContent, signer: Signer): string {
  const names = namesOf(alternativeNames);
  const extensions = names.length === 0 ? [] : [extension(SUBJECT_ALTERNATIVE_NAME, sequence(...names))];
  const attributes = extensions.length === 0 ? [] : sequence(objectIdentifier(EXTENSION_REQUEST), set(sequence(...extensions)));
  const signed = sequence(VERSION_1, subject === undefined ? sequence() : nameOf(subject), signer.publicKey, explicit(0, attributes));
  return pemText("CERTIFICATE REQUEST", sequence(signed, algorithmOf(signer), bitString(signatureOf(signer, signed))));
}
