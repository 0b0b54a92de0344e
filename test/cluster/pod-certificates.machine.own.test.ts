/**
 * Trust bundles and certificates in files of real containers, with a signer that answers as one in a cluster would: by watching requests and
 * writing their status. The feature gates are on.
 */
import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { PodCertificateRequest } from "../../src/api/generated/certificates.k8s.io/v1beta1.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { formatTime } from "../../src/api/machinery/time.ts";
import { anAuthority, issuedStatus } from "../../src/api/testing/certificates.ts";
import { becomes } from "../../src/testing/becomes.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, lineOf, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const GATES = "ClusterTrustBundle=true,ClusterTrustBundleProjection=true,PodCertificateRequest=true";
const READY = "--for=condition=Ready --timeout=180s";
const SIGNER = "example.com/workloads";
const AUTHORITY = 11n;
const [ONE, TWO] = [anAuthority(1n), anAuthority(2n)];

function aBundle(name: string, trustBundle: string, more: { signerName?: string } = {}): JsonObject {
  return {
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "ClusterTrustBundle",
    metadata: { name },
    spec: { trustBundle, ...more },
  };
}

function aPodWith(name: string, sources: readonly JsonObject[]): JsonObject {
  return aRealPod(name, SLEEP, {
    container: { volumeMounts: [{ name: "identity", mountPath: "/identity" }] },
    volumes: [{ name: "identity", projected: { sources } }],
    terminationGracePeriodSeconds: 0,
  });
}

describe("trust bundles and certificates of Pods", needs(...REAL_CLUSTER_NEEDS), () => {
  let cluster: RealCluster;
  let kubectl: ClientProgram;

  before(async () => {
    cluster = await startRealCluster({ flags: [`--feature-gates=${GATES}`] });
    kubectl = await cluster.inNamespace("identities");
  });

  after(() => cluster[Symbol.asyncDispose]());

  const fileIn = (pod: string, path: string) => kubectl(`exec ${pod} -- cat /identity/${path}`);
  const requests = async () =>
    (JSON.parse(await kubectl("get podcertificaterequests -o json")) as { readonly items: readonly PodCertificateRequest[] }).items;
  const setStatus = async (name: string, statusOf: (request: PodCertificateRequest) => object) => {
    const request = (await requests()).find(({ metadata }) => metadata.name === name);
    ok(request !== undefined, `${name} exists`);
    await kubectl("replace --subresource=status -f -", { input: { ...request, status: statusOf(request) } });
  };

  /** Answers the next pending request, as the signer. */
  async function sign(): Promise<void> {
    const line = await lineOf(kubectl, "get podcertificaterequests --watch --no-headers", /\sPending\s*$/);
    const [name = ""] = line.split(/\s+/);
    await setStatus(name, (request) => issuedStatus(request, AUTHORITY, { nowMs: Date.now() }));
  }

  /** Fails unless the certificate is for the key. */
  function checkPair(key: string, chain: string): X509Certificate {
    const certificate = new X509Certificate(chain);
    ok(certificate.checkPrivateKey(createPrivateKey(key)), "the certificate is for another key");
    return certificate;
  }

  test("a Pod has trust bundles by name and by signer, and its certificates once they are issued", async () => {
    await kubectl("apply -f -", { input: aBundle("public", `a comment\n${ONE}`) });
    await kubectl("apply -f -", { input: aBundle("example.com:workloads:v1", ONE + TWO, { signerName: SIGNER }) });
    const sources = [
      { clusterTrustBundle: { name: "public", path: "public.pem" } },
      { clusterTrustBundle: { signerName: SIGNER, labelSelector: {}, path: "signer.pem" } },
      { clusterTrustBundle: { name: "none", optional: true, path: "none.pem" } },
      { podCertificate: { signerName: SIGNER, keyType: "ECDSAP384", credentialBundlePath: "bundle.pem" } },
      { podCertificate: { signerName: SIGNER, keyType: "ED25519", keyPath: "key.pem", certificateChainPath: "chain.pem" } },
    ];
    await kubectl("apply -f -", { input: aPodWith("web", sources) });

    await sign();
    await sign();
    await kubectl(`wait pod web ${READY}`);

    equal(await fileIn("web", "public.pem"), ONE);
    const bySigner = await fileIn("web", "signer.pem");
    deepEqual([bySigner.length, bySigner.includes(ONE), bySigner.includes(TWO)], [ONE.length + TWO.length, true, true]);
    equal(await fileIn("web", "none.pem"), "");
    const bundle = await fileIn("web", "bundle.pem");
    const { issuer } = checkPair(bundle, bundle.slice(bundle.indexOf("-----BEGIN CERTIFICATE")));
    equal(issuer, `CN=authority ${AUTHORITY}`);
    checkPair(await fileIn("web", "key.pem"), await fileIn("web", "chain.pem"));
  });

  test("a changed trust bundle appears in the running container", async () => {
    await kubectl("apply -f -", { input: aBundle("public", TWO) });
    await becomes(() => fileIn("web", "public.pem"), TWO);
  });

  test("after kill -9 the Pod keeps its certificate until a new one is issued", async () => {
    const before = await fileIn("web", "bundle.pem");
    await cluster.kill();
    await cluster.up(`--feature-gates=${GATES}`);
    equal(await fileIn("web", "bundle.pem"), before);

    await sign();
    await sign();
    await becomes(async () => (await fileIn("web", "bundle.pem")) === before, false);
    const bundle = await fileIn("web", "bundle.pem");
    notEqual(bundle, before);
    checkPair(bundle, bundle.slice(bundle.indexOf("-----BEGIN CERTIFICATE")));
  });

  test("a denied certificate keeps the Pod from starting, and its events say why", async () => {
    const certificate = { signerName: SIGNER, keyType: "RSA3072", keyPath: "key.pem" };
    await kubectl("apply -f -", { input: aPodWith("refused", [{ podCertificate: certificate }]) });
    const line = await lineOf(kubectl, "get podcertificaterequests --watch --no-headers", /\srefused\s.*\sPending\s*$/);
    const lastTransitionTime = formatTime(Date.now());
    const condition = { type: "Denied", status: "True", reason: "UnsupportedKeyType", message: "use ECDSAP256", lastTransitionTime };
    await setStatus(line.split(/\s+/)[0] ?? "", () => ({ conditions: [condition] }));

    const events = "get events --watch --no-headers --field-selector involvedObject.name=refused";
    match(await lineOf(kubectl, events, /\sDenied\s/), /was denied, reason="UnsupportedKeyType", message="use ECDSAP256"/);
    await lineOf(kubectl, events, /FailedMount.*PodCertificateRequest was permanently denied: reason="UnsupportedKeyType"/);
  });

  test("requests are deleted with their Pod", async () => {
    await kubectl("delete pod web refused");
    await becomes(async () => (await requests()).length, 0);
  });
});
