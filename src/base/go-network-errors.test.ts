import { equal } from "node:assert/strict";
import { test } from "node:test";
import { goDialError, goRoundTripError } from "./go-network-errors.ts";

const ADDRESS = "10.0.0.1:80";

function failed(code: string, more: object = {}): Error {
  return Object.assign(new Error(`Node's words for ${code}`), { code, ...more });
}

const late = Object.assign(new Error("it took more than 30 s"), { name: "TimeoutError" });

for (const { error, says } of [
  { error: failed("ECONNREFUSED"), says: `dial tcp ${ADDRESS}: connect: connection refused` },
  { error: new Error("wrapped", { cause: failed("EHOSTUNREACH") }), says: `dial tcp ${ADDRESS}: connect: no route to host` },
  { error: new AggregateError([failed("ENETUNREACH")]), says: `dial tcp ${ADDRESS}: connect: network is unreachable` },
  { error: failed("ETIMEDOUT"), says: `dial tcp ${ADDRESS}: connect: connection timed out` },
  { error: new Error("wrapped", { cause: late }), says: `dial tcp ${ADDRESS}: i/o timeout` },
  { error: failed("ENOTFOUND", { hostname: "web" }), says: "dial tcp: lookup web: no such host" },
  { error: failed("ECONNRESET", { syscall: "read" }), says: `read tcp ->${ADDRESS}: read: connection reset by peer` },
  { error: failed("ECONNRESET"), says: "EOF" },
  { error: failed("ERR_SSL_WRONG_VERSION_NUMBER"), says: "tls: first record does not look like a TLS handshake" },
  { error: failed("SELF_SIGNED_CERT_IN_CHAIN"), says: "tls: failed to verify certificate: x509: certificate signed by unknown authority" },
  {
    error: failed("ERR_TLS_CERT_ALTNAME_INVALID", { host: "web.shop.svc", cert: { subjectaltname: "DNS:a.example, IP Address:10.0.0.1" } }),
    says: "tls: failed to verify certificate: x509: certificate is valid for a.example, 10.0.0.1, not web.shop.svc",
  },
  {
    error: failed("ERR_TLS_CERT_ALTNAME_INVALID", { host: "web.shop.svc", cert: {} }),
    says: "tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match web.shop.svc",
  },
  { error: failed("CERT_HAS_EXPIRED"), says: "tls: failed to verify certificate: x509: certificate has expired or is not yet valid" },
  { error: new Error("anything else", { cause: new Error("because") }), says: "anything else" },
]) {
  test(`${String(error)} is reported as ${says}`, () => equal(goRoundTripError(error, ADDRESS), says));
}

test("a connection reset before it is established is reported as a dial failure", () => {
  equal(goDialError(failed("ECONNRESET"), ADDRESS), `dial tcp ${ADDRESS}: connect: connection reset by peer`);
});
