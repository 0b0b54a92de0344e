import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { checkRequestSignature, parsePemRequest } from "./certificate-request.ts";
import { p256Key } from "./p256-signer.ts";
import { writeRequest } from "./request-writer.ts";

const SUBJECT = { commonName: "system:node:worker-1", organizations: ["system:nodes"] };

function parse(pem: string) {
  return parsePemRequest(new TextEncoder().encode(pem));
}

test("a written request is signed with its own key and has subject and public key", () => {
  const { signer } = p256Key(7n);
  const request = parse(writeRequest({ subject: SUBJECT }, signer));
  checkRequestSignature(request);
  deepEqual(request.subject, SUBJECT);
  deepEqual([...request.publicKeyInfo], [...signer.publicKey]);
  deepEqual([request.dnsNames, request.ipAddresses, request.emailAddresses, request.uris], [[], [], [], []]);
});

test("a written request has the alternative names", () => {
  const alternativeNames = { dnsNames: ["worker-1"], ipAddresses: [Uint8Array.of(192, 0, 2, 7)] };
  const request = parse(writeRequest({ subject: SUBJECT, alternativeNames }, p256Key(7n).signer));
  checkRequestSignature(request);
  deepEqual(request.dnsNames, ["worker-1"]);
  deepEqual(request.ipAddresses.map(String), ["192,0,2,7"]);
});

test("a request whose content was changed after signing is rejected", () => {
  const request = parse(writeRequest({ subject: SUBJECT }, p256Key(7n).signer));
  const { signature } = parse(writeRequest({ subject: { ...SUBJECT, commonName: "system:node:other" } }, p256Key(7n).signer));
  let message = "";
  try {
    checkRequestSignature({ ...request, signature });
  } catch (error) {
    message = (error as Error).message;
  }
  equal(message === "", false);
});
