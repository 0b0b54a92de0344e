import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import type { CertificateSigningRequest, CertificateSigningRequestStatus } from "../../api/generated/certificates.k8s.io/v1.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { parsePemCertificates } from "../../api/machinery/x509/certificate.ts";
import { issuerOf, writeCertificate } from "../../api/machinery/x509/certificate-writer.ts";
import { pemText } from "../../api/machinery/x509/pem.ts";
import { certificateSigningRequest } from "../../testing/fixtures/certificate-requests.ts";
import { TEST_SIGNING_AUTHORITY } from "../../testing/fixtures/controller-settings.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { certificateSigningRequestCleanerController } from "./certificate-signing-request-cleaner-controller.ts";
import { cleanUpAtMs } from "./clean-up-time.ts";

const NOW_MS = Date.UTC(2026, 0);
const NOW = "2026-01-01T00:00:00Z";
const HOUR_MS = 3_600_000;

const REQUEST = certificateSigningRequest("one", { commonName: "jane" }, { signerName: "example.com/own", usages: ["client auth"] });

function certificateUntil(toMs: number): string {
  const { certificate, signer } = TEST_SIGNING_AUTHORITY;
  const [issuer] = parsePemCertificates(certificate);
  assert.ok(issuer !== undefined);
  const subject = { commonName: "jane", organizations: [] };
  const validity = { fromMs: NOW_MS - HOUR_MS, toMs };
  const content = { subject, publicKey: signer.publicKey, validity, serialNumber: Uint8Array.of(2), keyUsages: [] };
  return encodeBase64(new TextEncoder().encode(pemText("CERTIFICATE", writeCertificate(content, issuerOf(issuer, signer)))));
}

const condition = (type: string, lastUpdateTime?: string) => ({
  type,
  status: "True",
  ...(lastUpdateTime === undefined ? {} : { lastUpdateTime }),
});

const TIMES: readonly [title: string, status: CertificateSigningRequestStatus, hours: number][] = [
  ["is pending", {}, 24],
  ["was denied", { conditions: [condition("Denied", NOW)] }, 1],
  ["failed", { conditions: [condition("Approved", NOW), condition("Failed", NOW)] }, 1],
  ["was approved and not signed", { conditions: [condition("Approved", NOW)] }, 24],
  ["was signed", { conditions: [condition("Approved", NOW)], certificate: certificateUntil(NOW_MS + 9 * HOUR_MS) }, 1],
  [
    "got a certificate that ends soon",
    { conditions: [condition("Approved", NOW)], certificate: certificateUntil(NOW_MS + HOUR_MS / 2) },
    0.5,
  ],
  ["got what is no certificate", { conditions: [condition("Approved", NOW)], certificate: "bm90aGluZw==" }, 1],
  ["was decided at no time", { conditions: [condition("Denied")] }, Infinity],
  ["has a foreign condition", { conditions: [condition("Noted", NOW)] }, Infinity],
];

for (const [title, status, hours] of TIMES) {
  test(`a request that ${title} is kept for ${hours} h`, () => {
    const metadata = { name: "one", creationTimestamp: NOW };

    assert.equal(cleanUpAtMs({ ...(REQUEST as CertificateSigningRequest), metadata, status }) - NOW_MS, hours * HOUR_MS);
  });
}

test("a request is requeued for its expiry, and deleted then", async () => {
  await using cluster = await given(REQUEST);

  assert.deepEqual(await cluster.reconcile(certificateSigningRequestCleanerController, "one"), { again: "after", delayMs: 24 * HOUR_MS });
  await cluster.clock.advance(24 * HOUR_MS - 1_000);
  assert.deepEqual(await cluster.reconcile(certificateSigningRequestCleanerController, "one"), { again: "after", delayMs: 1_000 });
  assert.deepEqual(cluster.actions, []);
  await cluster.clock.advance(1_000);
  await cluster.reconcile(certificateSigningRequestCleanerController, "one");

  assert.deepEqual(cluster.actions, ["delete certificatesigningrequests one"]);
});

test("with a cluster's roles a denied request is kept for an hour, and a pending one for a day", async () => {
  await using server = await startControlledServer(["certificatesigningrequest-cleaner-controller"]);
  const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const names = async () => (await server.call("GET", path)).body.items.map(({ metadata }: CertificateSigningRequest) => metadata.name);
  for (const name of ["denied", "waits"]) await server.call("POST", path, JSON.stringify({ ...REQUEST, metadata: { name } }));
  const denial = { status: { conditions: [{ type: "Denied", status: "True", reason: "Tested" }] } };
  await server.call("PATCH", `${path}/denied/approval`, JSON.stringify(denial), { "content-type": "application/merge-patch+json" });

  await server.clock.advance(HOUR_MS - 1_000);
  assert.deepEqual(await names(), ["denied", "waits"]);
  await server.clock.advance(2_000);
  assert.deepEqual(await names(), ["waits"]);
  await server.clock.advance(23 * HOUR_MS);
  assert.deepEqual(await names(), []);
});

test("after a crash at any step expired requests are deleted and others stay", async () => {
  const ended = { conditions: [condition("Denied", "2025-12-31T22:00:00Z")] };
  const named = (name: string) => ({ ...REQUEST, metadata: { name } });
  const scenario = {
    objects: [named("a"), named("b"), named("c")],
    controllers: () => [certificateSigningRequestCleanerController],
    restMs: 20_000,
    steps: [
      async ({ client }: Parameters<NonNullable<Parameters<typeof everyStepMayBeTheLast>[0]["steps"]>[number]>[0]) => {
        for (const name of ["a", "b"]) {
          const found = await client.get(certificateSigningRequests, { name });
          await client.update(certificateSigningRequests, { ...found, status: ended }, { subresource: "approval" });
        }
      },
    ],
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: Infinity }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
});
