import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { customResourceDefinitions } from "../../api/apiextensions.k8s.io/v1/custom-resource-definition.ts";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { CustomResourceDefinition } from "../../api/generated/apiextensions.k8s.io/v1.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { defineResource, type Resource } from "../../api/machinery/resource.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { Client, Draft, ResourceKind } from "../../client/client.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { driven } from "../../testing/driven.ts";
import { given } from "../../testing/given.ts";
import { onChange, watchEveryKind, defineController } from "./controller.ts";
import { EveryKind, isFollowed, type KindListener } from "./all-kinds.ts";
import { keyOf, keyText, kindName } from "./keys.ts";
import { withGroup } from "./testing/run-world.ts";

/** A new kind, in the form of a ConfigMap. */
function widgets(): Resource {
  return defineResource({
    kind: "Widget",
    plural: "widgets",
    singular: "widget",
    scope: "Namespaced",
    served: [{ group: "example.com", version: "v1", schema: "io.k8s.api.core.v1.ConfigMap" }],
    columns: [],
  });
}

/** Not served: it only triggers discovery. */
function definition(plural: string): Draft<CustomResourceDefinition> {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind: plural },
      versions: [{ name: "v1", served: false, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
}

/** A server, its kinds, and the recorded requests for documents; `broken` paths are not answered. */
async function world(named: readonly ResourceKind[] = []) {
  const cluster = await given();
  const { clock, client } = cluster;
  const asked: string[] = [];
  const broken = new Set<string>();
  const state = { edit: (_path: string, answer: JsonObject): JsonObject => answer };
  const document = async (...[path, options]: Parameters<Client["document"]>): Promise<JsonObject> => {
    asked.push(path);
    if (broken.has(path)) throw new StatusError("ServiceUnavailable", `${path} is down`);
    return state.edit(path, await client.document(path, options));
  };
  const random = seededRandom(1);
  const informers = createInformers({ transport: cluster.server.transport(), clock, random, log: silentLogger });
  const seeing: Client = Object.assign(Object.create(client) as Client, { document });
  const everyKind = new EveryKind({ client: seeing, informers, clock, random, log: silentLogger, named });
  return {
    ...{ cluster, clock, client, asked, broken, state, informers, everyKind },
    async [Symbol.asyncDispose]() {
      everyKind.close();
      await informers.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

function recordingTo(lines: string[]): KindListener {
  const nameOf = ({ storage: { group, version }, plural }: ResourceKind) => `${group}/${version}/${plural}`;
  return {
    followed: (kind) => void lines.push(`followed ${nameOf(kind)}`),
    left: (kind, { isServed }) => void lines.push(`left ${nameOf(kind)}${isServed ? ", which is served" : ""}`),
  };
}

test("kinds that can be listed and deleted are known; of those, events are not watched", async () => {
  await using given = await world();
  await driven(given.clock, given.everyKind.start());

  const deletable = given.everyKind.deletable.map(kindName);
  const followed = given.everyKind.followed.map(kindName);

  for (const kind of ["pods", "deployments.apps", "nodes", "customresourcedefinitions.apiextensions.k8s.io"])
    ok(followed.includes(kind), kind);
  deepEqual(deletable.filter((kind) => !followed.includes(kind)).toSorted(), ["events", "events.events.k8s.io"]);
  equal(deletable.includes("subjectaccessreviews.authorization.k8s.io"), false);
  equal(new Set(deletable).size, deletable.length, "each once, whatever versions it has");
  const [pods] = given.everyKind.deletable.filter(({ plural }) => plural === "pods");
  ok(pods !== undefined && isFollowed(pods) && !isFollowed({ ...pods, verbs: ["list", "delete"] }));
});

test("nothing is requested while nothing changes; a new definition triggers discovery, and a new kind is reported once", async () => {
  await using given = await world();
  const reported: string[] = [];
  await driven(given.clock, given.everyKind.start());
  given.everyKind.listen(recordingTo(reported));
  const known = reported.length;
  await given.clock.advance(10_000);
  given.asked.length = 0;
  await given.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "a" } });
  await given.clock.advance(24 * 3_600_000);
  deepEqual(given.asked, []);

  given.cluster.server.server.endpoints.add(widgets());
  await given.client.create(customResourceDefinitions, definition("widgets"));
  await given.client.create(customResourceDefinitions, definition("gadgets"));
  await given.clock.settle();

  deepEqual(reported.slice(known), ["followed example.com/v1/widgets"]);
  ok(given.everyKind.deletable.some((kind) => kindName(kind) === "widgets.example.com"));
});

test("a group that does not respond is retried, and does not affect the others", async () => {
  await using given = await world();
  given.broken.add("/apis/apps/v1");
  await driven(given.clock, given.everyKind.start());
  const hasDeployments = () => given.everyKind.followed.some((kind) => kindName(kind) === "deployments.apps");
  deepEqual([hasDeployments(), given.everyKind.followed.some(({ plural }) => plural === "pods")], [false, true]);

  given.broken.clear();
  await given.clock.advance(60_000);

  equal(hasDeployments(), true);
});

const SCALERS = {
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  scope: "Namespaced",
} as const;

function scalers(version: string): ResourceKind {
  return { ...SCALERS, storage: { group: "autoscaling", version } };
}

/** From here on the server reports this for the group "autoscaling", and a definition triggers discovery. */
async function change(given: Awaited<ReturnType<typeof world>>, preferred: string | undefined): Promise<void> {
  given.state.edit = (path, answer) => (path === "/apis" ? withGroup(answer, "autoscaling", preferred) : answer);
  await given.client.create(customResourceDefinitions, definition("widgets"));
  await given.clock.settle();
}

test("a kind whose group prefers another version is watched in that one; the other informer is stopped", async () => {
  await using given = await world();
  await driven(given.clock, given.everyKind.start());
  await given.clock.settle();
  const reported: string[] = [];
  given.everyKind.listen(recordingTo(reported));
  reported.length = 0;
  await change(given, "v1");

  deepEqual(reported, [
    "left autoscaling/v2/horizontalpodautoscalers, which is served",
    "followed autoscaling/v1/horizontalpodautoscalers",
  ]);
  deepEqual([given.informers.running(scalers("v2")), given.informers.running(scalers("v1"))?.isSynced], [undefined, true]);
  deepEqual(
    given.everyKind.followed.filter(({ plural }) => plural === SCALERS.plural).map(({ storage }) => storage.version),
    ["v1"],
  );
});

for (const [title, named, isEnded] of [
  ["its informer is ended", [], true],
  ["what is watched by name is not stopped", [scalers("v2")], false],
] as const) {
  test(`a removed kind is no longer watched: ${title}`, async () => {
    await using given = await world(named);
    await driven(given.clock, given.everyKind.start());
    const reported: string[] = [];
    given.everyKind.listen(recordingTo(reported));
    reported.length = 0;
    await change(given, undefined);

    deepEqual(reported, ["left autoscaling/v2/horizontalpodautoscalers"]);
    equal(given.informers.running(scalers("v2")) === undefined, isEnded);
    equal(
      given.everyKind.deletable.some(({ plural }) => plural === SCALERS.plural),
      false,
    );
  });
}

test("a group of which a version does not respond stays as it was", async () => {
  await using given = await world();
  await driven(given.clock, given.everyKind.start());
  const reported: string[] = [];
  given.everyKind.listen(recordingTo(reported));
  reported.length = 0;
  given.broken.add("/apis/autoscaling/v2");
  await change(given, "v2");

  deepEqual(reported, []);
  ok(given.everyKind.deletable.some(({ plural, storage }) => plural === SCALERS.plural && storage.version === "v2"));
});

test("a server that stops serving a kind only after its definition was deleted is queried once more", async () => {
  await using given = await world();
  await driven(given.clock, given.everyKind.start());
  await given.clock.advance(60_000);
  await given.client.create(customResourceDefinitions, definition("widgets"));
  await given.clock.settle();
  given.state.edit = (path, answer) => (path === "/apis" ? withGroup(answer, "autoscaling", undefined) : answer);
  await given.clock.advance(10_000);

  equal(
    given.everyKind.followed.some(({ plural }) => plural === SCALERS.plural),
    false,
  );
});

test("without any response it cannot start, and once closed it sends no requests", async () => {
  await using given = await world();
  given.broken.add("/apis");
  await rejects(driven(given.clock, given.everyKind.start()), /\/apis is down/);
  given.broken.clear();
  await driven(given.clock, given.everyKind.start());
  given.everyKind.close();
  given.asked.length = 0;
  await given.client.create(customResourceDefinitions, definition("widgets"));
  await given.clock.advance(100_000);

  deepEqual(given.asked, []);
});

test("a controller of all kinds watches one that appears while it runs, and receives its existing objects", async () => {
  await using cluster = await given();
  const woken: string[] = [];
  const controller = defineController({
    name: "every-controller",
    account: "every-controller",
    rules: [],
    watches: [
      watchEveryKind(function* ({ object }, _read, kind) {
        if (object.metadata.namespace === "default") yield { ...keyOf(object), kind: kindName(kind) };
      }),
    ],
    reconcile: async (key) => (woken.push(keyText(key)), onChange),
  });
  await cluster.run(controller);
  await cluster.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "a" } });
  await cluster.settled();
  deepEqual(
    woken.filter((key) => key.endsWith("/a")),
    ["configmaps default/a"],
  );

  const resource = widgets();
  cluster.server.server.endpoints.add(resource);
  const widget = (name: string) => ({ apiVersion: "example.com/v1", kind: "Widget", metadata: { namespace: "default", name } });
  await cluster.client.create(resource, widget("early"));
  await cluster.settled();
  equal(woken.includes("widgets.example.com default/early"), false, "the new kind was not announced");
  await cluster.client.create(customResourceDefinitions, definition("widgets"));
  await cluster.settled();
  await cluster.client.create(resource, widget("late"));
  await cluster.settled();

  deepEqual(
    woken.filter((key) => key.startsWith("widgets")),
    ["widgets.example.com default/early", "widgets.example.com default/late"],
  );
});
