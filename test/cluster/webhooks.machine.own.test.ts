/**
 * Webhooks of `k8ts up` that are served by a Pod, with real containers and the real kubectl: they mutate, deny, convert and misbehave. One that
 * fails closed on everything and does not exist stops neither nodes nor namespaces, nor its own removal, nor the start of the cluster.
 */
import { equal, match, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { PURPOSE } from "../../src/api/machinery/x509/extensions.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { aList, aService } from "../../src/testing/clients/manifests.ts";
import { testAuthority } from "../../src/testing/fixtures/certificates.ts";
import { aWebhookPod, WEBHOOK_PORT } from "../../src/testing/fixtures/webhook-pod.ts";
import { needs } from "../../src/testing/needs.ts";
import { REAL_CLUSTER_NEEDS, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 100_000;
const GROUP = "tabs.example.com";
const CRON_TABS = `crontabs.${GROUP}`;

const authority = testAuthority("webhooks");
const caBundle = btoa(authority.certificate);

function clientConfig(path: string, name = "hooks"): JsonObject {
  return { caBundle, service: { namespace: "default", name, path } };
}

function secret(): JsonObject {
  const pair = authority.sign("hooks", { alternativeNames: { dnsNames: ["hooks.default.svc"] }, extendedKeyUsages: [PURPOSE.server] });
  const stringData = { "tls.crt": pair.certificate, "tls.key": pair.key };
  return { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata: { name: "hooks" }, stringData };
}

function definition(conversionPath = "/convert"): JsonObject {
  const version = (name: string, field: string) => ({
    name,
    served: true,
    storage: name === "v1",
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { [field]: { type: "string" } } } },
      },
    },
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: CRON_TABS },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural: "crontabs", kind: "CronTab" },
      versions: [version("v1", "name"), version("v2", "title")],
      conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: clientConfig(conversionPath) } },
    },
  };
}

function configuration(kind: "Mutating" | "Validating", name: string, webhook: JsonObject): JsonObject {
  const rules = [{ apiGroups: [GROUP], apiVersions: ["*"], resources: ["*"], operations: ["CREATE"] }];
  const common = { name: `${name}.example.com`, rules, sideEffects: "None", admissionReviewVersions: ["v1"] };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [{ ...common, ...webhook }],
  };
}

function cronTab(name: string): JsonObject {
  return { apiVersion: `${GROUP}/v1`, kind: "CronTab", metadata: { name }, spec: { name: `the ${name}` } };
}

describe("Webhooks of a cluster with real containers", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;

  before(async () => {
    cluster = await startRealCluster();
    await cluster.kubectl("wait --for=create serviceaccount/default", { timeoutMs: READY_WITHIN_MS });
    const service = aService("hooks", { ports: [{ port: 443, targetPort: WEBHOOK_PORT }] });
    await cluster.kubectl("apply -f -", { input: aList(secret(), aWebhookPod("hooks"), service, definition()) });
    await cluster.kubectl("wait --for=condition=Ready pod/hooks", { timeoutMs: READY_WITHIN_MS });
    await cluster.kubectl(`wait --for=condition=Established crd/${CRON_TABS}`, { timeoutMs: READY_WITHIN_MS });
  });
  after(() => cluster[Symbol.asyncDispose]());

  const create = (object: JsonObject) => cluster.kubectl("create -f -", { input: object });

  test("a Pod mutates, denies and converts custom resources", async () => {
    await create(configuration("Mutating", "mutating", { clientConfig: clientConfig("/mutate") }));
    await create(configuration("Validating", "validating", { clientConfig: clientConfig("/validate") }));
    // The endpoint of the Pod may be published a little after its readiness.
    await becomes(
      () =>
        create(cronTab("good")).then(
          () => true,
          (error: unknown) => /AlreadyExists/.test(String(error)),
        ),
      true,
    );

    match(
      await cluster.kubectl.fails("create -f -", { input: cronTab("bad-one") }),
      /"validating\.example\.com" denied the request: a bad name/,
    );
    const shown = "-o jsonpath={.metadata.labels.mutated},{.spec}";
    equal(await cluster.kubectl(`get crontabs.v2.${GROUP} good ${shown}`), 'true,{"title":"the good"}');
  });

  test("a Pod that misbehaves fails requests with upstream's messages, and none is slower than its timeout allows", async () => {
    const misbehave = { timeoutSeconds: 1, clientConfig: clientConfig("/misbehave") };
    await create(configuration("Validating", "misbehaving", misbehave));
    const prefix = 'Internal error occurred: failed calling webhook "misbehaving.example.com": ';
    const post = 'failed to call webhook: Post "https://hooks.default.svc:443/misbehave?timeout=1s": ';
    const messages: Readonly<Record<string, string>> = {
      hang: `${post}context deadline exceeded`,
      late: `${post}context deadline exceeded`,
      huge: `${post}the response exceeds the limit of 16777216 bytes`,
      redirect: "failed to call webhook: the server responded with the status code 307 but did not return more information",
      error: 'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
      lie: "failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
    };
    for (const [name, message] of Object.entries(messages)) {
      const printed = await cluster.kubectl.fails("create -f -", { input: cronTab(name) });
      ok(printed.includes(`${prefix}${message}`), `${name}: ${printed}`);
    }
    match(
      await cluster.kubectl.fails("create -f -", { input: cronTab("another-uid") }),
      /received invalid webhook response: expected response\.uid="[0-9a-f-]{36}", got "other"/,
    );

    // The same Pod under a name that its certificate does not have.
    const other = aService("other", { selector: { app: "hooks" }, ports: [{ port: 443, targetPort: WEBHOOK_PORT }] });
    const named = configuration("Validating", "misbehaving", { ...misbehave, clientConfig: clientConfig("/misbehave", "other") });
    await cluster.kubectl("apply -f -", { input: aList(other, named) });
    const refusal = /x509: certificate is valid for hooks\.default\.svc, not other\.default\.svc/;
    // The endpoint of the new Service is published a little later.
    await becomes(async () => refusal.test(await cluster.kubectl.fails("create -f -", { input: cronTab("fine") })), true);
    await cluster.kubectl("delete validatingwebhookconfiguration misbehaving");
    await create(cronTab("fine"));
  });

  test("a Pod that returns an object twice converts nothing, and the other versions stay readable", async () => {
    await create(cronTab("twice"));
    const convertAt = (path: string) => cluster.kubectl("apply -f -", { input: definition(path) });
    await convertAt("/convert-twice");

    const failure = /conversion webhook for tabs\.example\.com\/v1, Kind=CronTab returned 2 objects, expected 1/;
    const read = `get crontabs.v2.${GROUP} twice -o jsonpath={.spec}`;
    await becomes(async () => failure.test(await cluster.kubectl.fails(read)), true);
    equal(await cluster.kubectl(`get crontabs.v1.${GROUP} twice -o jsonpath={.spec}`), '{"name":"the twice"}');

    await convertAt("/convert");
    await becomes(() => cluster.kubectl(read).catch(String), '{"title":"the twice"}');
  });

  test("a dead webhook that fails closed on everything stops neither leases, namespaces, its removal nor the start of the cluster", async () => {
    const rules = [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] }];
    const dead = { clientConfig: clientConfig("/", "missing"), rules, failurePolicy: "Fail", timeoutSeconds: 1 };
    await create(configuration("Validating", "dead", dead));
    match(await cluster.kubectl.fails("create configmap blocked"), /failed calling webhook "dead\.example\.com"/);

    await cluster.kubectl("create namespace passing");
    await cluster.kubectl("delete namespace passing", { timeoutMs: READY_WITHIN_MS });
    await cluster.kill();
    await cluster.up();

    const renewed = () => cluster.kubectl("get leases --namespace=kube-node-lease -o jsonpath={.items[0].spec.renewTime}");
    const before = await renewed();
    await becomes(async () => (await renewed()) !== before, true);
    await cluster.kubectl("wait --for=condition=Ready node --all", { timeoutMs: READY_WITHIN_MS });
    match(await cluster.kubectl.fails("create configmap blocked"), /failed calling webhook "dead\.example\.com"/);
    await cluster.kubectl("delete validatingwebhookconfiguration dead");
    await cluster.kubectl("create configmap blocked");
    // The Pod has kept running, and its endpoint is known to the new API server.
    await becomes(
      () =>
        create(cronTab("again")).then(
          () => true,
          (error: unknown) => /AlreadyExists/.test(String(error)),
        ),
      true,
    );
  });
});
