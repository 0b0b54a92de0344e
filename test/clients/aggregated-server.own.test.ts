/** The real kubectl uses an aggregated API server over HTTPS: up, down, slow, gone, with a wrong certificate, and with huge documents. */
import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:https";
import type { Duplex } from "node:stream";
import { after, test } from "node:test";
import { needs } from "../../src/testing/needs.ts";
import { AggregatedServer, FLUNDER_GROUP } from "./aggregated-server.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { sharedPki, testAuthority } from "../../src/testing/fixtures/certificates.ts";

const server = await startTestApiServer({ controllers: ["*"] });
after(() => server.close());

const { kubectl } = needs("kubectl").skip === false ? server : { kubectl: undefined as never };
const API_SERVICE = `v1alpha1.${FLUNDER_GROUP}`;
const FLUNDER = { apiVersion: `${FLUNDER_GROUP}/v1alpha1`, kind: "Flunder", metadata: { name: "nemo" }, spec: {} };

async function registered(remote: AggregatedServer, spec: object = {}): Promise<AsyncDisposable> {
  for (const manifest of remote.manifests(spec)) await kubectl("apply -f -", { input: JSON.stringify(manifest) });
  return {
    async [Symbol.asyncDispose]() {
      await kubectl(`delete apiservice ${API_SERVICE} --ignore-not-found`);
      await kubectl("delete service wardle --ignore-not-found");
    },
  };
}

async function condition(): Promise<string> {
  return kubectl(`get apiservice ${API_SERVICE} -o jsonpath={.status.conditions[0].reason}`);
}

test("kubectl creates, lists, watches, explains and deletes objects of an aggregated API server", needs("kubectl"), async () => {
  await using remote = await AggregatedServer.start();
  await using _registered = await registered(remote);
  await kubectl(`wait apiservice/${API_SERVICE} --for=condition=Available`);
  await becomes(async () => (await kubectl("api-resources --api-group=wardle.example.com -o name")).trim(), `flunders.${FLUNDER_GROUP}`);

  await using watch = kubectl.start("get flunders --watch-only -o name");
  await becomes(async () => remote.asked.some(({ path }) => path.endsWith("/flunders")), true);
  equal(await kubectl("create -f -", { input: JSON.stringify(FLUNDER) }), `flunder.${FLUNDER_GROUP}/nemo created\n`);

  equal(await watch.line(), `flunder.${FLUNDER_GROUP}/nemo`);
  equal(await kubectl("get fl -o name"), `flunder.${FLUNDER_GROUP}/nemo\n`);
  match(await kubectl("explain flunders"), /Flunder is a fish\./);
  match(await kubectl(`get apiservice ${API_SERVICE}`), /v1alpha1\.wardle\.example\.com +default\/wardle +True /);
  equal(await kubectl("delete flunder nemo --wait=false"), `flunder.${FLUNDER_GROUP} "nemo" deleted from default namespace\n`);
  const created = remote.asked.find(({ method }) => method === "POST");
  deepEqual([created?.user, created?.groups], ["kubernetes-admin", "system:masters, system:authenticated"]);
});

test("an aggregated API server that stops leaves all other groups usable, and a namespace names it", needs("kubectl"), async () => {
  await using remote = await AggregatedServer.start();
  await using registration = await registered(remote);
  await kubectl(`wait apiservice/${API_SERVICE} --for=condition=Available`);

  await remote[Symbol.asyncDispose]();
  // Any change of the Service triggers a check.
  await kubectl("label service wardle checked=again");
  await kubectl(`wait apiservice/${API_SERVICE} --for=condition=Available=false`);

  equal(await condition(), "FailedDiscoveryCheck");
  match(await kubectl.fails(`get --raw /apis/${FLUNDER_GROUP}/v1alpha1`), /ServiceUnavailable/);
  match(await kubectl("get namespaces -o name"), /namespace\/default/);
  await kubectl("create namespace leaving");
  await kubectl("create configmap kept --namespace=leaving");
  await kubectl("delete namespace leaving --wait=false");
  await kubectl("wait namespace/leaving --for=condition=NamespaceDeletionDiscoveryFailure");
  const message = await kubectl("get namespace leaving -o jsonpath={.status.conditions[0].message}");
  match(message, /wardle\.example\.com\/v1alpha1: the server is currently unable to handle the request/);
  equal(await kubectl("get configmaps --namespace=leaving -o name"), "");

  await registration[Symbol.asyncDispose]();
  await kubectl("wait namespace/leaving --for=delete");
});

for (const { title, name, spec, message } of [
  {
    title: "of an unknown CA",
    name: undefined,
    spec: { caBundle: Buffer.from(testAuthority("other").certificate).toString("base64") },
    message: /tls: failed to verify certificate: x509: certificate signed by unknown authority/,
  },
  {
    title: "of another name",
    name: "other.default.svc",
    spec: {},
    message: /tls: failed to verify certificate: x509: certificate is valid for other\.default\.svc, not wardle\.default\.svc/,
  },
]) {
  test(`an aggregated API server with a certificate ${title} is not used`, needs("kubectl"), async () => {
    await using remote = await AggregatedServer.start(name);
    await using _registered = await registered(remote, spec);

    await becomes(condition, "FailedDiscoveryCheck");

    match(await kubectl(`get apiservice ${API_SERVICE} -o jsonpath={.status.conditions[0].message}`), message);
    deepEqual(remote.asked, []);
  });
}

test("huge and endless documents of an aggregated API server are cut off, and its objects are usable", needs("kubectl"), async () => {
  await using remote = await AggregatedServer.start();
  const block = Buffer.alloc(1 << 20, " ");
  remote.intercept = ({ url = "" }, response) => {
    if (url !== "/apis" && !url.startsWith("/openapi")) return false;
    response.writeHead(200, { "content-type": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" });
    const more = (): void => void (!response.destroyed && response.write(block, () => setImmediate(more)));
    more();
    return true;
  };
  await using _registered = await registered(remote);
  await kubectl(`wait apiservice/${API_SERVICE} --for=condition=Available`);

  await becomes(async () => remote.asked.filter(({ path }) => path === "/apis").length > 0, true);

  match(await kubectl(`get --raw /apis/${FLUNDER_GROUP}/v1alpha1/namespaces/default/flunders`), /FlunderList/);
  match(await kubectl("api-resources --api-group=apps -o name"), /deployments\.apps/);
});

test("a connection to an aggregated API server is upgraded with the identity of its user", needs("kubectl"), async () => {
  await using remote = await AggregatedServer.start();
  await using _registered = await registered(remote);
  await kubectl(`wait apiservice/${API_SERVICE} --for=condition=Available`);
  const pki = await sharedPki();
  const { certificate: cert, key } = pki.pair("admin");
  const path = `/apis/${FLUNDER_GROUP}/v1alpha1/namespaces/default/flunders/nemo/echo`;

  const headers = { connection: "Upgrade", upgrade: "echo", "x-remote-user": "another-user" };
  const upgrading = request(new URL(path, server.url), { ca: pki.authority, cert, key, headers }).end();
  const [, socket] = (await once(upgrading, "upgrade")) as [unknown, Duplex];
  socket.write("ping;");
  let received = "";
  for await (const piece of socket) {
    received += String(piece);
    if (received.endsWith("ping;")) break;
  }
  socket.destroy();

  equal(received, "hello kubernetes-admin;ping;");
});
