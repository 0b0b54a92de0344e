import { test } from "node:test";
import { equal } from "node:assert/strict";
import { GrpcError, type GrpcCode } from "../../host/grpc/channel.ts";
import { explain, failureOf, mustBeMended } from "./etcd-failure.ts";

const rows: readonly (readonly [code: GrpcCode, details: string, means: string, sent?: boolean])[] = [
  ["OUT_OF_RANGE", "etcdserver: mvcc: required revision has been compacted", "Compacted"],
  ["OUT_OF_RANGE", "etcdserver: mvcc: required revision is a future revision", "FutureRevision"],
  ["RESOURCE_EXHAUSTED", "etcdserver: mvcc: database space exceeded", "Full"],
  ["INVALID_ARGUMENT", "etcdserver: request is too large", "TooLarge"],
  ["RESOURCE_EXHAUSTED", "grpc: received message larger than max (2098177 vs. 2097152)", "TooLarge"],
  ["RESOURCE_EXHAUSTED", "Received message larger than max (5 vs 4)", "TooLarge"],
  ["DATA_LOSS", "etcdserver: corrupt cluster", "Damaged"],
  ["PERMISSION_DENIED", "etcdserver: permission denied", "Unusable"],
  ["INVALID_ARGUMENT", "etcdserver: user name is empty", "Unusable"],
  ["UNAUTHENTICATED", "etcdserver: invalid auth token", "Unusable"],
  ["UNIMPLEMENTED", "unknown service etcdserverpb.KV", "Unsupported"],
  ["UNAVAILABLE", "etcdserver: no leader", "not carried out"],
  ["RESOURCE_EXHAUSTED", "etcdserver: too many requests", "not carried out"],
  ["UNAVAILABLE", "etcdserver: not capable", "not carried out"],
  ["UNAVAILABLE", "etcdserver: rpc not supported for learner", "not carried out"],
  ["UNAVAILABLE", "No connection established", "not carried out", false],
  ["DEADLINE_EXCEEDED", "Deadline exceeded after 5.000s, Waiting for LB pick", "not carried out", false],
  ["UNAVAILABLE", "Connection dropped", "perhaps carried out"],
  ["CANCELLED", "Call cancelled", "perhaps carried out"],
  ["DEADLINE_EXCEEDED", "Deadline exceeded", "perhaps carried out"],
  ["UNAVAILABLE", "etcdserver: request timed out", "perhaps carried out"],
  ["UNAVAILABLE", "etcdserver: request timed out, possibly due to previous leader failure", "perhaps carried out"],
  ["UNAVAILABLE", "etcdserver: leader changed", "perhaps carried out"],
  ["UNAVAILABLE", "etcdserver: server stopped", "perhaps carried out"],
  ["UNKNOWN", "raft proposal dropped", "perhaps carried out"],
  ["INTERNAL", "Received RST_STREAM with code 2", "perhaps carried out"],
];

for (const [code, details, means, sent = true] of rows) {
  test(`${code} "${details}" means: ${means}`, () => {
    const failure = failureOf(new GrpcError(code, details, { sent }));
    equal(failure.kind === "refused" ? failure.reason : failure.carriedOut === "no" ? "not carried out" : "perhaps carried out", means);
  });
}

test("an unreadable response leaves the outcome unknown", () => {
  const failure = failureOf(new Error("Cannot decode"));
  equal(failure.kind === "lost" && failure.carriedOut, "perhaps");
});

for (const [details, says] of [
  [
    "No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1 (2026-01-01T00:00:00.000Z). Resolution note: ",
    "connect ECONNREFUSED 127.0.0.1:1",
  ],
  [
    "No connection established. Last error: Error: unable to verify the first certificate. Resolution note: ",
    "its certificate is not from the given CA (unable to verify the first certificate)",
  ],
  [
    "No connection established. Last error: 80DC:error:0A000412:sslv3 alert bad certificate:a.c:1601:SSL alert number 42\n. Resolution note: ",
    "it does not accept our client certificate (80DC:error:0A000412:sslv3 alert bad certificate:a.c:1601:SSL alert number 42)",
  ],
  ["etcdserver: no leader", "etcdserver: no leader"],
] as const) {
  test(`"${details.slice(0, 90)}" is explained in one line`, () => {
    equal(explain(new GrpcError("UNAVAILABLE", details, { sent: false })), says);
  });
}

for (const { text, says } of [
  { text: "self-signed certificate in certificate chain", says: true },
  { text: "certificate has expired", says: true },
  { text: "Hostname/IP does not match certificate's altnames", says: true },
  { text: "Client network socket disconnected before secure TLS connection was established", says: true },
  { text: "connect ECONNREFUSED 127.0.0.1:2379", says: false },
  { text: "etcdserver: no leader", says: false },
]) {
  test(`"${text}" ${says ? "needs an operator" : "may resolve itself"}`, () => equal(mustBeMended(new Error(text)), says));
}
