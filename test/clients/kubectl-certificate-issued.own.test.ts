/** The real kubectl approves a CertificateSigningRequest, the cluster signs it, and the requester authenticates with the certificate. */
import { deepEqual, equal, match } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { runProgram } from "../../src/host/processes/child-process.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { kubectlOf } from "./identities.ts";

const server = await startTestApiServer({
  controllers: [
    "certificatesigningrequest-signing-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "bootstrap-signer-controller",
  ],
});
after(() => server.close());

const file = (name: string) => join(server.directory, name);

async function openssl(...words: readonly string[]): Promise<string> {
  return (await runProgram({ command: toolPath("openssl"), arguments: words })).join("\n");
}

/** Generates a key and requests a certificate. */
async function request(name: string, subject: string, spec: object): Promise<void> {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file(`${name}.key`)];
  await openssl("req", "-new", "-subj", subject, ...key, "-out", file(`${name}.csr`));
  const wanted = { request: (await readFile(file(`${name}.csr`))).toString("base64"), ...spec };
  const input = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata: { name }, spec: wanted };
  await server.kubectl("create -f -", { input });
}

async function conditionOf(name: string): Promise<string | undefined> {
  return (await server.kubectl(`get csr ${name} --no-headers`)).trim().split(/ +/).at(-1);
}

test("kubectl certificate approve gets a certificate issued that authenticates its owner", needs("kubectl", "openssl"), async () => {
  const { kubectl } = server;
  const spec = { signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"], expirationSeconds: 3_600 };
  await request("jane", "/O=team/O=ops/CN=jane", spec);
  equal(await conditionOf("jane"), "Pending");

  await kubectl("certificate approve jane");
  await kubectl("wait --for=jsonpath={.status.certificate} csr/jane --timeout=30s");

  equal(await conditionOf("jane"), "Approved,Issued");
  const certificate = Buffer.from(await kubectl("get csr jane -o jsonpath={.status.certificate}"), "base64").toString();
  await writeFile(file("jane.crt"), certificate);
  const jane = await kubectlOf(server, "jane", { "client-certificate": file("jane.crt"), "client-key": file("jane.key") });
  const { username, groups } = JSON.parse(await jane("auth whoami -o json")).status.userInfo;
  deepEqual([username, groups], ["jane", ["ops", "team", "system:authenticated"]]);
  const { validFrom, validTo } = new X509Certificate(certificate);
  equal(Date.parse(validTo) - Date.parse(validFrom), (60 + 5) * 60_000);
});

test("a request that the signer rejects fails, and kubectl shows it", needs("kubectl", "openssl"), async () => {
  const { kubectl } = server;
  await request("serving", "/O=system:nodes/CN=system:node:a", { signerName: "kubernetes.io/kubelet-serving", usages: ["server auth"] });

  await kubectl("certificate approve serving");
  await kubectl("wait --for=condition=Failed csr/serving --timeout=30s");

  equal(await conditionOf("serving"), "Approved,Failed");
  match(await kubectl("describe csr serving"), /Failed/);
  const message = `get csr serving -o jsonpath={.status.conditions[1].message}`;
  equal(await kubectl(message), "DNS or IP subjectAltName is required");
});

test("a kubelet's client certificate request is approved and signed automatically", needs("kubectl", "openssl"), async () => {
  const { kubectl } = server;
  const usages = ["client auth", "digital signature"];
  await request("node", "/O=system:nodes/CN=system:node:a", { signerName: "kubernetes.io/kube-apiserver-client-kubelet", usages });

  await kubectl("wait --for=jsonpath={.status.certificate} csr/node --timeout=30s");

  equal(await conditionOf("node"), "Approved,Issued");
});

test("the public cluster-info ConfigMap is signed with a bootstrap token", needs("kubectl", "openssl"), async () => {
  const { kubectl } = server;
  const stringData = { "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true" };
  const metadata = { name: "bootstrap-token-abcdef", namespace: "kube-system" };
  const input = { apiVersion: "v1", kind: "Secret", type: "bootstrap.kubernetes.io/token", metadata, stringData };
  await kubectl("create -f -", { input });

  const info = "configmap/cluster-info -n kube-public";
  await kubectl(`wait --for=jsonpath={.data.jws-kubeconfig-abcdef} ${info} --timeout=30s`);

  const { data } = JSON.parse(await kubectl(`get ${info} -o json`));
  const [header = "", , signature = ""] = data["jws-kubeconfig-abcdef"].split(".");
  await writeFile(file("signed"), `${header}.${Buffer.from(data.kubeconfig).toString("base64url")}`);
  const computed = await openssl("dgst", "-sha256", "-hmac", stringData["token-secret"], "-r", file("signed"));
  equal(Buffer.from(signature, "base64url").toString("hex"), computed.split(" ")[0]);
});
