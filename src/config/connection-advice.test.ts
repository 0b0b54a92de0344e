import { equal, match } from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../api/machinery/status-error.ts";
import { connectionAdvice } from "./connection-advice.ts";

const away = (words: string) => new StatusError("ServiceUnavailable", `Cannot ask https://192.0.2.1:6443: ${words}`);

const CREDENTIALS = /^check the credentials in the current context of admin\.conf: the server rejects them/;
const AUTHORITY = /^check the certificate authority in the current context of admin\.conf: it did not sign/;
const CLOCKS = /^compare the clocks .* of the server in the current context of admin\.conf/;

for (const [error, advice] of [
  [new StatusError("Unauthorized", "Unauthorized"), CREDENTIALS],
  [new StatusError("Unauthorized", "getting credentials: exec: executable get-token not found"), CREDENTIALS],
  [away("C0:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:SSL alert number 42"), CREDENTIALS],
  [away("C0:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:SSL alert number 116"), CREDENTIALS],
  [away("C0:error:0A000418:SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca:SSL alert number 48"), CREDENTIALS],
  [away("self-signed certificate in certificate chain"), AUTHORITY],
  [away("self-signed certificate"), AUTHORITY],
  [away("unable to verify the first certificate"), AUTHORITY],
  [away("unable to get local issuer certificate"), AUTHORITY],
  [
    away("Hostname/IP does not match certificate's altnames: IP: 192.0.2.1 is not in the cert's list"),
    /valid neither for it nor for its tls-/,
  ],
  [away("certificate is not yet valid"), CLOCKS],
  [away("certificate has expired"), CLOCKS],
] as const) {
  test(`advice for "${error.message}" names the remedy`, () =>
    match(connectionAdvice(error, "the current context of admin.conf") ?? "", advice));
}

for (const error of [
  away("connect ECONNREFUSED 192.0.2.1:6443"),
  away("socket hang up"),
  new StatusError("Forbidden", "nodes is forbidden"),
  new StatusError("Timeout", "The server took too long"),
]) {
  test(`there is no advice for "${error.message}"`, () => equal(connectionAdvice(error, "any"), undefined));
}
