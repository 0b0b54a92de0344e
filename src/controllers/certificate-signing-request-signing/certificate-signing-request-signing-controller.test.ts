import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import type { CertificateSigningRequest } from "../../api/generated/certificates.k8s.io/v1.ts";
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { parsePemCertificates, type Certificate } from "../../api/machinery/x509/certificate.ts";
import { createLogger, silentLogger, type LogLine } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import { certificateSigningRequest, type RequestedCertificate } from "../../testing/fixtures/certificate-requests.ts";
import { TEST_SIGNING_AUTHORITY } from "../../testing/fixtures/controller-settings.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import type { ControllerContext } from "../runtime/controller.ts";
import { certificateSigningRequestSigningController } from "./certificate-signing-request-signing-controller.ts";

const SIGNER = "kubernetes.io/kube-apiserver-client";
const JANE: RequestedCertificate = { commonName: "jane", organizations: ["team"] };
const HOUR_MS = 3_600_000;

const signing = certificateSigningRequestSigningController({ signing: { ...TEST_SIGNING_AUTHORITY, durationMs: 24 * HOUR_MS } });

function request(
  name: string,
  spec: { readonly signerName?: string; readonly usages?: readonly string[]; readonly expirationSeconds?: number } = {},
) {
  return certificateSigningRequest(name, JANE, { signerName: SIGNER, usages: ["client auth"], ...spec });
}

async function decide(client: Client, name: string, type: "Approved" | "Denied"): Promise<void> {
  const found = await client.get(certificateSigningRequests, { name });
  const conditions = [...(found.status?.conditions ?? []), { type, status: "True", reason: "Tested" }];
  await client.update(certificateSigningRequests, { ...found, status: { conditions } }, { subresource: "approval" });
}

function certificateOf({ status }: CertificateSigningRequest): Certificate | undefined {
  return parsePemCertificates(new TextDecoder().decode(decodeBase64(status?.certificate ?? "")))[0];
}

test("an approved request is signed once, with the requested duration", async () => {
  await using cluster = await given(request("jane", { expirationSeconds: 3_600 }), request("long"));
  for (const name of ["jane", "long"]) {
    await decide(cluster.client, name, "Approved");
    await cluster.reconcile(signing, name);
    await cluster.reconcile(signing, name);
  }

  assert.deepEqual(
    cluster.actions.map((line) => line.replace(/\{.*/, "")),
    ["status certificatesigningrequests jane ", "status certificatesigningrequests long "],
  );
  const [jane, long] = (await cluster.list(certificateSigningRequests)).map(certificateOf);
  assert.ok(jane !== undefined && long !== undefined);
  assert.deepEqual(
    [jane.subject.commonName, jane.subject.organizations, jane.issuer.commonName],
    ["jane", ["team"], "the authority of this test"],
  );
  assert.deepEqual(
    [jane.toMs, long.toMs].map((toMs) => toMs - Date.UTC(2026, 0)),
    [HOUR_MS, 24 * HOUR_MS - 300_000],
  );
});

test("a request that the signer rejects gets the condition Failed with the reason", async () => {
  await using cluster = await given(request("jane", { usages: ["client auth", "server auth"] }));
  await decide(cluster.client, "jane", "Approved");

  await cluster.reconcile(signing, "jane");
  await cluster.reconcile(signing, "jane");

  assert.equal(cluster.actions.length, 1);
  const { status } = await cluster.client.get(certificateSigningRequests, { name: "jane" });
  assert.equal(status?.certificate, undefined);
  assert.deepEqual(status?.conditions?.[1], {
    type: "Failed",
    status: "True",
    reason: "SignerValidationFailure",
    message: "invalid usage for client certificate: server auth",
    lastUpdateTime: "2026-01-01T00:00:00Z",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
});

test("pending, denied and foreign requests are ignored", async () => {
  await using cluster = await given(request("waits"), request("denied"), request("other", { signerName: "example.com/own" }));
  await decide(cluster.client, "denied", "Denied");
  await decide(cluster.client, "other", "Approved");

  for (const name of ["waits", "denied", "other", "gone"]) await cluster.reconcile(signing, name);

  assert.deepEqual(cluster.actions, []);
});

test("without a CA nothing is signed, which is logged once", async () => {
  const controller = certificateSigningRequestSigningController({});
  const lines: LogLine[] = [];
  await using cluster = await given(request("jane"));
  await decide(cluster.client, "jane", "Approved");

  await cluster.reconcile(controller, "jane");
  controller.start({ log: createLogger({ sink: (line) => lines.push(line), clock: cluster.clock, level: "info" }) } as ControllerContext);

  assert.deepEqual(cluster.actions, []);
  assert.deepEqual(
    lines.map(({ level, sentence }) => [level, sentence]),
    [["info", "CertificateSigningRequests are not signed: no CA certificate and key are configured"]],
  );
});

test("a CA certificate renewed meanwhile is used for signing", async () => {
  let reads = 0;
  const renewed = {
    ...TEST_SIGNING_AUTHORITY,
    get certificate() {
      reads++;
      return TEST_SIGNING_AUTHORITY.certificate;
    },
  };
  const controller = certificateSigningRequestSigningController({ signing: renewed });
  controller.start({ log: silentLogger } as ControllerContext);
  const before = reads;
  await using cluster = await given(request("jane"));
  await decide(cluster.client, "jane", "Approved");

  await cluster.reconcile(controller, "jane");

  assert.ok(reads > before);
});

test("with a cluster's roles an approved kubelet serving request is signed", async () => {
  await using server = await startControlledServer(["certificatesigningrequest-signing-controller"]);
  const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const node = { organizations: ["system:nodes"], commonName: "system:node:a", dnsNames: ["a"] };
  const spec = { signerName: "kubernetes.io/kubelet-serving", usages: ["server auth", "digital signature"] };
  await server.call("POST", path, JSON.stringify(certificateSigningRequest("serving", node, spec)));
  const approval = { status: { conditions: [{ type: "Approved", status: "True", reason: "Tested" }] } };
  await server.call("PATCH", `${path}/serving/approval`, JSON.stringify(approval), { "content-type": "application/merge-patch+json" });
  await server.clock.settle();

  const { body } = await server.call("GET", `${path}/serving`);

  assert.deepEqual(certificateOf(body)?.dnsNames, ["a"]);
});

test("after a crash at any step an approved request ends signed or failed", async () => {
  const scenario = {
    objects: [request("jane"), request("bad", { usages: ["server auth"] }), request("waits")],
    controllers: () => [signing],
    restMs: 20_000,
    steps: [
      async ({ client }: { readonly client: Client }) => {
        for (const name of ["jane", "bad"]) await decide(client, name, "Approved");
      },
    ],
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: Infinity }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
});
