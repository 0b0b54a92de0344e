/**
 * The real kubectl and certificates: one signed by openssl with the cluster's CA authenticates its owner only; requests are approved by
 * authorized users; and the components' kubeconfigs have exactly the permissions of their roles.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { runProgram } from "../../src/host/processes/child-process.ts";
import { makeTemporaryDirectory } from "../../src/host/files/private-files.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { kubectlOf } from "./identities.ts";

const pki = await makeTemporaryDirectory("k8ts-pki-");
const server = await startTestApiServer({ serving: { certificateDirectory: pki.path } });
after(async () => {
  await server.close();
  await pki[Symbol.asyncDispose]();
});

function openssl(...words: readonly string[]): Promise<readonly string[]> {
  return runProgram({ command: toolPath("openssl"), arguments: words });
}

function file(name: string): string {
  return join(server.directory, name);
}

/** Generates a key and a certificate request; resolves with the path of the request. */
async function requestFor(name: string, subject: string): Promise<string> {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file(`${name}.key`)];
  await openssl("req", "-new", "-subj", subject, ...key, "-out", file(`${name}.csr`));
  return file(`${name}.csr`);
}

interface Issue {
  readonly subject: string;
  /** The signing .crt and .key. Default: the cluster's. */
  readonly authority?: string;
  readonly purpose?: "clientAuth" | "serverAuth";
  /** YYMMDDHHMMSSZ. Default: for a day from now. */
  readonly period?: { readonly from: string; readonly to: string };
}

/** Returns kubectl with a certificate signed by `openssl ca`, the only openssl command that can sign for a period in the past. */
async function kubectlWith(
  name: string,
  { subject, authority = join(pki.path, "ca"), purpose = "clientAuth", period }: Issue,
): Promise<ClientProgram> {
  const [request, certificate] = [await requestFor(name, subject), file(`${name}.crt`)];
  const settings = [
    ...["[ca]", "default_ca = test", "[test]", `database = ${file(`${name}.index`)}`, `new_certs_dir = ${server.directory}`],
    ...["rand_serial = yes", "default_md = sha256", "default_days = 1", "preserve = yes", "policy = any", "x509_extensions = leaf"],
    ...["[any]", "organizationName = optional", "commonName = supplied", "[leaf]", `extendedKeyUsage = ${purpose}`],
  ];
  await writeFile(file(`${name}.cnf`), `${settings.join("\n")}\n`);
  await writeFile(file(`${name}.index`), "");
  const signer = ["-config", file(`${name}.cnf`), "-cert", `${authority}.crt`, "-keyfile", `${authority}.key`];
  const dates = period === undefined ? [] : ["-startdate", period.from, "-enddate", period.to];
  await openssl("ca", "-batch", "-notext", ...signer, ...dates, "-in", request, "-out", certificate);
  return kubectlOf(server, name, { "client-certificate": certificate, "client-key": file(`${name}.key`) });
}

test("a certificate of the cluster's CA authenticates its subject", needs("kubectl", "openssl"), async () => {
  const jane = await kubectlWith("jane", { subject: "/O=team/O=ops/CN=jane" });

  const { status } = JSON.parse(await jane("auth whoami -o json"));

  const { username, groups } = status.userInfo;
  deepEqual([username, groups], ["jane", ["team", "ops", "system:authenticated"]]);
  equal(
    await jane.fails("get nodes"),
    `Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope\n`,
  );
  await server.kubectl("create clusterrolebinding team-views --clusterrole=view --group=team");
  equal(await jane("get pods --all-namespaces -o name"), "");
});

test("a certificate in the group system:masters has all permissions", needs("kubectl", "openssl"), async () => {
  const root = await kubectlWith("root", { subject: "/O=system:masters/CN=root" });

  equal(await root("create namespace of-root"), "namespace/of-root created\n");
});

test("a certificate of another CA, expired, not yet valid or for servers is rejected", needs("kubectl", "openssl"), async () => {
  const other = file("other");
  // The same name as the cluster's CA, and another key.
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${other}.key`];
  await openssl("req", "-x509", "-subj", "/CN=kubernetes", ...key, "-days", "1", "-out", `${other}.crt`);
  const subject = "/O=system:masters/CN=root";

  for (const [name, issue] of Object.entries<Omit<Issue, "subject">>({
    foreign: { authority: other },
    over: { period: { from: "200101000000Z", to: "210101000000Z" } },
    "not-yet": { period: { from: "480101000000Z", to: "490101000000Z" } },
    "for-servers": { purpose: "serverAuth" },
    "front-proxy": { authority: join(pki.path, "front-proxy-ca") },
  })) {
    const kubectl = await kubectlWith(name, { subject, ...issue });
    // Not even public endpoints, since invalid credentials are not anonymous.
    for (const line of ["get nodes", "auth whoami", "get --raw /version"])
      equal(await kubectl.fails(line), "error: You must be logged in to the server (Unauthorized)\n", `${name}: ${line}`);
  }
});

async function requestCertificate(kubectl: ClientProgram, name: string, signerName: string, csr: string): Promise<string> {
  const request = (await readFile(csr)).toString("base64");
  const spec = { request, signerName, usages: ["client auth"] };
  const input = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata: { name }, spec };
  const { stdout, stderr } = await kubectl.run("create -f -", { input });
  return stdout + stderr;
}

const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
const CSR = "certificatesigningrequest.certificates.k8s.io";

test("kubectl certificate approve and deny decide a request once", needs("kubectl", "openssl"), async () => {
  const { kubectl } = server;
  const csr = await requestFor("ann", "/O=team/CN=ann");
  for (const name of ["good", "bad"]) equal(await requestCertificate(kubectl, name, CLIENT_SIGNER, csr), `${CSR}/${name} created\n`);

  equal(await kubectl("certificate approve good"), `${CSR}/good approved\n`);
  equal(await kubectl("certificate deny bad"), `${CSR}/bad denied\n`);

  equal(await kubectl("certificate approve good"), `${CSR}/good approved\n`);
  equal(await kubectl.fails("certificate approve bad"), `error: certificate signing request "bad" is already Denied\n`);
  equal(await kubectl.fails("certificate deny good"), `error: certificate signing request "good" is already Approved\n`);
  const columns = "N:.metadata.name,T:.status.conditions[*].type,R:.status.conditions[*].reason,U:.spec.username";
  equal(
    (await kubectl(`get csr good bad --no-headers -o custom-columns=${columns}`)).replace(/ +/g, " "),
    "good Approved KubectlApprove kubernetes-admin\nbad Denied KubectlDeny kubernetes-admin\n",
  );
});

test("a certificate request for system:masters is rejected", needs("kubectl", "openssl"), async () => {
  const csr = await requestFor("evil", "/O=system:masters/CN=evil");

  equal(
    await requestCertificate(server.kubectl, "evil", CLIENT_SIGNER, csr),
    `Error from server (Forbidden): error when creating "STDIN": certificatesigningrequests.certificates.k8s.io "evil" is forbidden: use of ${CLIENT_SIGNER} signer with system:masters group is not allowed\n`,
  );
});

test("approving a certificate request requires permission for the request and for its signer", needs("kubectl", "openssl"), async () => {
  const { kubectl } = server;
  const jo = kubectl.with("--as=jo");
  const csr = await requestFor("jo", "/CN=jo");
  await kubectl("create clusterrole ask --verb=create,get --resource=certificatesigningrequests");
  await kubectl("create clusterrolebinding ask --clusterrole=ask --user=jo");
  const refused = (name: string) =>
    `Error from server (Forbidden): certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: `;

  equal(await requestCertificate(jo, "own", "example.com/own", csr), `${CSR}/own created\n`);
  equal(await requestCertificate(jo, "client", CLIENT_SIGNER, csr), `${CSR}/client created\n`);
  equal(await kubectl("get csr own -o 'jsonpath={.spec.username} {.spec.groups}'"), `jo ["system:authenticated"]`);
  for (const verb of ["approve", "deny"])
    equal(
      await jo.fails(`certificate ${verb} own`),
      `${refused("own")}User "jo" cannot update resource "certificatesigningrequests/approval" in API group "certificates.k8s.io" at the cluster scope\n`,
    );

  await kubectl("create clusterrole settle --verb=update --resource=certificatesigningrequests/approval");
  await kubectl("create clusterrolebinding settle --clusterrole=settle --user=jo");
  const unsigned = (signer: string) => `user not permitted to approve requests with signerName "${signer}"\n`;
  equal(await jo.fails("certificate approve own"), refused("own") + unsigned("example.com/own"));

  const rules = [{ apiGroups: ["certificates.k8s.io"], resources: ["signers"], resourceNames: ["example.com/*"], verbs: ["approve"] }];
  await kubectl("create -f -", {
    input: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "sign-own" }, rules },
  });
  await kubectl("create clusterrolebinding sign-own --clusterrole=sign-own --user=jo");
  equal(await jo("certificate approve own"), `${CSR}/own approved\n`);
  equal(await jo.fails("certificate approve client"), refused("client") + unsigned(CLIENT_SIGNER));
});

/** What each component may do, and a similar request that it may not. */
const COMPONENTS: Readonly<Record<string, { readonly user: string; readonly may: readonly string[]; readonly mayNot: readonly string[] }>> =
  {
    "controller-manager": {
      user: "system:kube-controller-manager",
      may: [
        "list secrets -A",
        "list endpointslices.discovery.k8s.io -A",
        "update leases.coordination.k8s.io -n kube-system",
        "create serviceaccounts --subresource=token -n kube-system",
        "create tokenreviews.authentication.k8s.io -A",
      ],
      // Reserved for its controllers, each under its own name.
      mayNot: ["create pods -n default", "delete nodes -A", "update endpoints -n default", "update configmaps -n kube-system"],
    },
    scheduler: {
      user: "system:kube-scheduler",
      may: ["list pods -A", "create pods --subresource=binding -n default", "list nodes -A", "create events -n default"],
      mayNot: [
        "create pods -n default",
        "get secrets -n default",
        "patch nodes -A",
        "create serviceaccounts --subresource=token -n default",
      ],
    },
    "kube-proxy": {
      user: "system:kube-proxy",
      may: ["list services -A", "watch endpointslices.discovery.k8s.io -A", "get nodes -A", "create events -n default"],
      mayNot: ["list pods -A", "list secrets -A", "update services -n default", "create tokenreviews.authentication.k8s.io -A"],
    },
  };

for (const [name, { user, may, mayNot }] of Object.entries(COMPONENTS)) {
  test(`the kubeconfig of ${name} authenticates as ${user}, with the permissions of its role only`, needs("kubectl"), async () => {
    const kubectl = server.kubectl.with(`--kubeconfig=${join(pki.path, "kubeconfigs", `${name}.conf`)}`);

    match(await kubectl("auth whoami"), new RegExp(`^Username +${user}\nGroups +\\[system:authenticated\\]$`, "m"));
    for (const [lines, answer] of [
      [may, "yes\n"],
      [mayNot, "no\n"],
    ] as const)
      for (const line of lines) equal((await kubectl.run(`auth can-i ${line}`)).stdout, answer, line);
    equal(
      await kubectl.fails("create namespace mine"),
      `Error from server (Forbidden): namespaces is forbidden: User "${user}" cannot create resource "namespaces" in API group "" at the cluster scope\n`,
    );
  });
}
