/** Several API servers on one store: each follows the definitions, and what extends the API, for itself. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { onlyPlugins } from "../testing/admission.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { startServer, type StartedServer } from "../testing/server.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";
import { reviewReply } from "../testing/webhooks.ts";
import { aDefinition, CRDS, createDefinition, cronTab, CRON_TABS, settled } from "./testing/definitions.ts";

const REPLICAS = {
  type: "object",
  properties: { spec: { type: "object", properties: { replicas: { type: "integer", default: 1, maximum: 9 } } } },
};

interface Servers extends AsyncDisposable {
  readonly first: StartedServer;
  readonly second: StartedServer;
  /** What either of them does because of the other's writes is done. */
  settled(): Promise<void>;
}

/** Conversions between versions only rename them, by a webhook. */
async function twoServers(): Promise<Servers> {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const webhookTransport = { post: ({ body }: { readonly body: string }) => Promise.resolve(renamed(body)) };
  const config = { admission: onlyPlugins("ValidatingAdmissionPolicy") };
  const first = await startServer({ clock, store, config, webhookTransport });
  const second = await startServer({ clock, store, config, webhookTransport });
  return {
    first,
    second,
    async settled() {
      for (const server of [first, second, first, second]) await settled(server);
    },
    async [Symbol.asyncDispose]() {
      await second[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
    },
  };
}

function renamed(body: string) {
  const { request } = JSON.parse(body) as {
    readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly JsonObject[] };
  };
  const convertedObjects = request.objects.map((object) => ({ ...object, apiVersion: request.desiredAPIVersion }));
  const response = { uid: request.uid, result: { status: "Success" }, convertedObjects };
  return reviewReply({ kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1", response });
}

test("a definition that one API server accepts is served, defaulted, validated and removed by the other", async () => {
  await using servers = await twoServers();
  const { first, second } = servers;
  await createDefinition(first, { schema: REPLICAS });
  await servers.settled();

  const created = await second.call("POST", CRON_TABS, cronTab("a", {}));
  const refused = await second.call("POST", CRON_TABS, cronTab("b", { replicas: 10 }));
  const seen = await first.call("GET", `${CRON_TABS}/a`);

  deepEqual([created.code, created.body.spec, refused.code, seen.body.spec], [201, { replicas: 1 }, 422, { replicas: 1 }]);
  await second.call("DELETE", `${CRDS}/crontabs.example.com`);
  await servers.settled();
  deepEqual([(await first.call("GET", CRON_TABS)).code, (await second.call("GET", CRON_TABS)).code], [404, 404]);
});

test("two definitions of one kind, created at two API servers at once: one is accepted by both, the other by neither", async () => {
  await using servers = await twoServers();
  const { first, second } = servers;
  const [one, other] = ["crontabs", "othertabs"].map((plural) => aDefinition({ schema: REPLICAS, plural, shortNames: [] }));

  await Promise.all([first.call("POST", CRDS, one), second.call("POST", CRDS, other)]);
  await servers.settled();

  const statuses = async ({ call }: StartedServer) => {
    const { body } = await call("GET", CRDS);
    const conditions = body.items.flatMap(
      (item: { readonly status: { readonly conditions: readonly JsonObject[] } }) => item.status.conditions,
    );
    return conditions.filter(({ type }: JsonObject) => type === "NamesAccepted").map(({ status }: JsonObject) => status);
  };
  const atFirst = await statuses(first);
  deepEqual(atFirst.toSorted(), ["False", "True"]);
  deepEqual(await statuses(second), atFirst);
  const served = async ({ call }: StartedServer) =>
    Promise.all(["crontabs", "othertabs"].map(async (plural) => (await call("GET", `/apis/example.com/v1/${plural}`)).code));
  deepEqual(
    (await served(first)).toSorted((a, b) => a - b),
    [200, 404],
  );
  deepEqual(await served(second), await served(first));
});

test("an object that one API server stored is converted by the other, also after the storage version has changed", async () => {
  await using servers = await twoServers();
  const { first, second } = servers;
  const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema: { openAPIV3Schema: REPLICAS } });
  const webhook = { conversionReviewVersions: ["v1"], clientConfig: { url: "https://converter.example/convert" } };
  const spec = { versions: [version("v1", true), version("v2", false)], conversion: { strategy: "Webhook", webhook } };
  await createDefinition(first, { schema: REPLICAS, spec });
  await servers.settled();
  await first.call("POST", CRON_TABS, cronTab("a", { replicas: 3 }));

  const read = await second.call("GET", `${CRON_TABS.replace("/v1/", "/v2/")}/a`);
  const { body: definition } = await second.call("GET", `${CRDS}/crontabs.example.com`);
  const versions = [version("v1", false), version("v2", true)];
  const changed = await second.call("PUT", `${CRDS}/crontabs.example.com`, { ...definition, spec: { ...definition.spec, versions } });
  await servers.settled();
  const reread = await first.call("GET", `${CRON_TABS}/a`);

  deepEqual([read.body.apiVersion, read.body.spec], ["example.com/v2", { replicas: 3 }]);
  deepEqual([changed.code, changed.body.status.storedVersions], [200, ["v1", "v2"]]);
  deepEqual([reread.body.apiVersion, reread.body.spec], ["example.com/v1", { replicas: 3 }]);
});

test("a policy for a custom resource that is created at one API server denies at the other, and ends there, too", async () => {
  await using servers = await twoServers();
  const { first, second } = servers;
  await createDefinition(first, { schema: REPLICAS });
  const group = "/apis/admissionregistration.k8s.io/v1";
  const rule = { apiGroups: ["example.com"], apiVersions: ["*"], resources: ["crontabs"], operations: ["CREATE"] };
  const policy = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: "object.spec.replicas < 3", message: "too many" }],
  };
  await first.call("POST", `${group}/validatingadmissionpolicies`, { metadata: { name: "p" }, spec: policy });
  const binding = { policyName: "p", validationActions: ["Deny"] };
  await first.call("POST", `${group}/validatingadmissionpolicybindings`, { metadata: { name: "b" }, spec: binding });
  await servers.settled();

  const denied = await second.call("POST", CRON_TABS, cronTab("a", { replicas: 5 }));
  await first.call("DELETE", `${group}/validatingadmissionpolicybindings/b`);
  await servers.settled();
  const admitted = await second.call("POST", CRON_TABS, cronTab("a", { replicas: 5 }));

  equal(denied.code, 422);
  match(denied.body.message, /denied request: too many/);
  equal(admitted.code, 201);
});

test("deleting a definition deletes objects of another API server that the store's watch has not delivered yet", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const store = wrappedStore(memory, { close: () => Promise.resolve() });
  // Changes of custom resources arrive late, and, as with an old etcd, no progress is reported.
  const late = wrappedStore(store, {
    capabilities: { ...store.capabilities, shared: true, progress: false },
    watch: (prefix, options, listener) =>
      prefix.includes("example.com") ? { requestProgress() {}, close() {} } : store.watch(prefix, options, listener),
  });
  await using deleting = await startServer({ clock, store: late });
  await createDefinition(deleting, { schema: REPLICAS });
  await deleting.call("GET", `${CRON_TABS}?resourceVersion=0`);
  {
    await using writing = await startServer({ clock, store });
    equal((await writing.call("POST", CRON_TABS, cronTab("a", {}))).code, 201);
  }

  await deleting.call("DELETE", `${CRDS}/crontabs.example.com`);
  await settled(deleting);
  await createDefinition(deleting, { schema: REPLICAS });
  const { code, body } = await deleting.call("GET", CRON_TABS);

  deepEqual([code, body.items], [200, []]);
});
