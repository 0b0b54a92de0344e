import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { PURPOSE } from "../../../api/machinery/x509/extensions.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import { extension } from "../../../api/machinery/x509/certificate-writer.ts";
import type { PeerCertificate } from "../../framework/exchange.ts";
import type { User } from "../../framework/request.ts";
import { certificateOf, contextOf, requestShowing } from "../testing/shown.ts";
import { clientCertificates } from "./client-certificate.ts";

const CLIENTS = "clients";
const IN_2026 = Date.UTC(2026, 5);

function authenticatorAt(nowMs: number) {
  const clock = virtualClock({ startMs: nowMs });
  const authenticator = clientCertificates(contextOf({ clientAuthority: CLIENTS }, { clock }));
  if (authenticator === undefined) throw new Error("An authority of clients was set");
  return {
    clock,
    userOf: (certificate?: PeerCertificate) =>
      authenticator.authenticate(requestShowing(certificate === undefined ? {} : { certificate })) as User | undefined,
  };
}

test("a client certificate's CN is the user name, each O a group, and its hash the credential id", () => {
  const user = authenticatorAt(IN_2026).userOf(
    certificateOf({ commonName: "ann", organizations: ["a", "b", "a"], authorities: [CLIENTS] }),
  );

  deepEqual([user?.name, user?.groups, user?.uid], ["ann", ["a", "b", "a"], undefined]);
  equal(user?.extra?.["authentication.kubernetes.io/credential-id"]?.[0]?.replace(/[0-9a-f]{64}$/, "…"), "X509SHA256=…");
});

test("a request without a client certificate is not authenticated by this authenticator", () => {
  equal(authenticatorAt(IN_2026).userOf(), undefined);
});

const UNKNOWN = extension("1.2.3.4", Uint8Array.of(5, 0), { critical: true });

const bad: readonly [title: string, certificate: PeerCertificate][] = [
  ["that no CA signed", certificateOf({ commonName: "ann" })],
  ["of another CA", certificateOf({ commonName: "ann", authorities: ["front-proxy"] })],
  ["without a common name", certificateOf({ organizations: ["system:masters"], authorities: [CLIENTS] })],
  ["that is expired", certificateOf({ commonName: "ann", authorities: [CLIENTS], toMs: IN_2026 - 1_000 })],
  ["that is not yet valid", certificateOf({ commonName: "ann", authorities: [CLIENTS], fromMs: IN_2026 + 1_000 })],
  ["for servers only", certificateOf({ commonName: "ann", authorities: [CLIENTS], purposes: [PURPOSE.server] })],
  [
    "with an unknown critical extension",
    certificateOf({ commonName: "ann", authorities: [CLIENTS], purposes: [PURPOSE.any], otherExtensions: [UNKNOWN] }),
  ],
  ["that is malformed", { pem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", authorities: [CLIENTS] }],
  ["that is empty", { pem: "", authorities: [CLIENTS] }],
];

for (const [title, certificate] of bad) {
  test(`a client certificate ${title} is rejected in each request`, () => {
    const { userOf } = authenticatorAt(IN_2026);
    throws(() => userOf(certificate), AuthenticationError);
    throws(() => userOf(certificate), AuthenticationError);
  });
}

test("requests on a connection that outlives its client certificate are rejected", async () => {
  const { clock, userOf } = authenticatorAt(IN_2026);
  const certificate = certificateOf({ commonName: "ann", authorities: [CLIENTS], toMs: IN_2026 + 60_000 });

  const first = userOf(certificate);
  await clock.advance(60_000);
  equal(userOf(certificate), first, "the same object while it is good");
  await clock.advance(1_000);

  throws(() => userOf(certificate), AuthenticationError);
});

test("a certificate without extended key usages is accepted as a client certificate", () => {
  equal(authenticatorAt(IN_2026).userOf(certificateOf({ commonName: "ann", authorities: [CLIENTS], purposes: [] }))?.name, "ann");
});

/** Created by openssl: CN=withuid, O=g, and the Kubernetes UID attribute; valid from the end of 2026 on. */
const WITH_UID = `-----BEGIN CERTIFICATE-----
MIICBDCB7QIUF5bZUi/v7GpxzNsn++4V3PG7xzMwDQYJKoZIhvcNAQELBQAwFTET
MBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMTUxMjQyMTFaFw0zNjExMTIxMjQy
MTFaMDQxEDAOBgNVBAMMB3dpdGh1aWQxCjAIBgNVBAoMAWcxFDASBgkrBgEEAYPC
UwIMBXVpZC0xMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAESG8/Xj4Vs40UFn0d
1kPQDNLVN9DZF+6cl1gmQnrfijdUYaaRI5EH8K3i3JP7vT+bsUVmwmh4Iximywyz
U3xF1TANBgkqhkiG9w0BAQsFAAOCAQEAjIP1sdl6twlo7AEQN5nm4VJSy7Y7dWTl
pzUc6KuDbLb/CR+DKput+sz6cjTZ6Yf51hYNcDW+oB4mR3DZdLvWQbkEI8MozC3o
AWJqxN60d/RhmQ5wSJIPSewMVzhdM+BhAgB/MqMplKyxMAaUABObVX8NhLGauYKa
EazQr8clGWQVbJ0yQzaf3egVJcsEw2Ou/ECcK/LyVW+we/GijmsgqkM768EBuywD
gHB2ScU2miZcQzGEu+Iqra42ywLV0l2aCYZPJ46xMNggQZSxmMgkma8+Yjl7n3vx
D1LJHXH8oFqPa+VxHQr77g98xN+/K44unNbH+rmSoyMl6ObG92KL6w==
-----END CERTIFICATE-----
`;

/** The same with two UID attributes. */
const WITH_TWO_UIDS = `-----BEGIN CERTIFICATE-----
MIICDjCB9wIUF5bZUi/v7GpxzNsn++4V3PG7xzUwDQYJKoZIhvcNAQELBQAwFTET
MBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMTUxMjQyMTJaFw0zNjExMTIxMjQy
MTJaMD4xEDAOBgNVBAMMB3dpdGh1aWQxFDASBgkrBgEEAYPCUwIMBXVpZC0xMRQw
EgYJKwYBBAGDwlMCDAV1aWQtMjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGWH
QHKMoJJ3QNivXpjcfuTFy85cx7f51079CghyR8+jLRyQasz9tbvaXUkblE/kkGsM
KQRGt59C/vaOpNDRpD4wDQYJKoZIhvcNAQELBQADggEBAGkNstKIYMa8uc1C+DhT
+I9RwnqiP4aG8q1eIppzJxDsAGQAD74ZmVvpMbT+30wlCosx4By3A7+s9MQJDFQ1
mdVJCmYHu3ibdsn/UW4Q4KlENv1LlappM03ul5uWIvmIbyR/JKb4ScPq4j0jHNaZ
LZ3+pw/HY7+meYR3QvqcQaCo5lmI9PX/LztVbBgcImZsvSwjRZc1oc11F7X4hBcm
05TUzep7gdupO8PpznMON+HpLS37I87uWo0zQjOvHdHICLhMqrPucuOY1oJiFE3D
K7IBctC8l1KANUIbUkPGqgFSeQMaInbNaDs3FGvoAhMDekBoOu1SteW14YPsfJnK
TAY=
-----END CERTIFICATE-----
`;

test("a client certificate may carry the user's UID at most once", () => {
  const { userOf } = authenticatorAt(Date.UTC(2027, 0));

  deepEqual(userOf({ pem: WITH_UID, authorities: [CLIENTS] }), {
    name: "withuid",
    uid: "uid-1",
    groups: ["g"],
    extra: {
      "authentication.kubernetes.io/credential-id": ["X509SHA256=549cbb936a64e4bbf9786f6d19ee5f40b87465fc36fe29b518ec63a4741a5ede"],
    },
  });
  throws(() => userOf({ pem: WITH_TWO_UIDS, authorities: [CLIENTS] }), { message: "expected 1 UID, but found multiple: [uid-1 uid-2]" });
});
