import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { startServer, type StartedServer } from "../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };

function deployment(name: string, image = "nginx"): JsonObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  };
}

async function create(server: StartedServer, path: string, object: JsonObject): Promise<KubeObject & JsonObject> {
  const { code, text, body } = await server.call("POST", path, object);
  assert.equal(code, 201, text);
  return body;
}

/** The shared objects, as in-process components get them. */
async function shared(server: StartedServer, plural: string, name: string, group = "", version = "v1"): Promise<KubeObject & JsonObject> {
  const answer = await server.transport().request({ verb: "get", group, version, plural, namespace: "default", name });
  assert(answer.is === "object");
  return answer.object;
}

test("an update that changes nothing writes nothing, and keeps the identical object", async () => {
  await using server = await startServer();
  await create(server, DEPLOYMENTS, deployment("a"));
  const before = await shared(server, "deployments", "a", "apps");
  const revision = await server.store.currentRevision();
  const { text } = await server.call("GET", `${DEPLOYMENTS}/a`);

  const answers = [
    await server.call("PUT", `${DEPLOYMENTS}/a`, text),
    await server.call("PUT", `${DEPLOYMENTS}/a`, deployment("a")),
    await server.call("PATCH", `${DEPLOYMENTS}/a`, {}, MERGE),
    await server.call("PATCH", `${DEPLOYMENTS}/a`, { spec: { replicas: 1 } }, MERGE),
    await server.call("PUT", `${DEPLOYMENTS}/a/status`, text),
  ];

  assert.deepEqual(
    answers.map(({ code }) => code),
    [200, 200, 200, 200, 200],
  );
  assert.equal(await server.store.currentRevision(), revision);
  assert.equal(await shared(server, "deployments", "a", "apps"), before);
});

test("fields that an update does not change keep their identity", async () => {
  await using server = await startServer();
  await create(server, DEPLOYMENTS, deployment("a"));
  const before = await shared(server, "deployments", "a", "apps");
  const copy = JSON.parse(JSON.stringify(before)) as { metadata: object; spec: object };

  await server.call("PUT", `${DEPLOYMENTS}/a`, { ...copy, spec: { ...copy.spec, replicas: 5 } } as JsonObject);
  const scaled = await shared(server, "deployments", "a", "apps");
  await server.call("PATCH", `${DEPLOYMENTS}/a`, { metadata: { labels: { x: "y" } } }, MERGE);
  const labelled = await shared(server, "deployments", "a", "apps");

  const template = (object: JsonObject) => (object["spec"] as JsonObject)["template"];
  assert.notEqual(scaled, before);
  assert.equal(template(scaled), template(before));
  assert.equal(labelled["spec"], scaled["spec"]);
});

test("names, uids, timestamps and generations are set by the server, whatever is sent", async () => {
  await using server = await startServer();
  const sent = { ...deployment("a"), metadata: { name: "a", generation: 9, creationTimestamp: "2001-01-01T00:00:00Z", selfLink: "/x" } };

  const created = await create(server, DEPLOYMENTS, sent);
  const { metadata } = created;
  assert.match(metadata.uid ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual([metadata.creationTimestamp, metadata.generation, metadata.selfLink], ["2026-01-01T00:00:00Z", 1, undefined]);

  const scale = (replicas: number) => server.call("PATCH", `${DEPLOYMENTS}/a`, { spec: { replicas } }, MERGE);
  const generations = [
    (await scale(2)).body.metadata.generation,
    (await scale(2)).body.metadata.generation,
    (await server.call("PATCH", `${DEPLOYMENTS}/a`, { metadata: { labels: { x: "y" } } }, MERGE)).body.metadata.generation,
    (await server.call("PATCH", `${DEPLOYMENTS}/a/status`, { status: { replicas: 3 } }, MERGE)).body.metadata.generation,
    (await scale(3)).body.metadata.generation,
  ];
  assert.deepEqual(generations, [2, 2, 2, 2, 3]);
  const put = await server.call("PUT", `${DEPLOYMENTS}/a`, deployment("a"));
  assert.deepEqual([put.body.metadata.uid, put.body.metadata.creationTimestamp], [metadata.uid, metadata.creationTimestamp]);
});

test("create generates another name if one exists, up to a limit", async () => {
  await using server = await startServer();
  const names = new Set<string>();
  for (let index = 0; index < 30; index++) names.add((await create(server, MAPS, { metadata: { generateName: "x-" } })).metadata.name);
  assert.equal(names.size, 30);
  for (const name of names) assert.match(name, /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/);

  // Constant randomness generates the same name again and again.
  const stuck = { fraction: () => 0, below: () => 0, derive: () => stuck };
  await using unlucky = await startServer({ random: stuck });
  await create(unlucky, MAPS, { metadata: { generateName: "x-" } });
  const again = await unlucky.call("POST", MAPS, { metadata: { generateName: "x-" } });
  assert.deepEqual([again.code, again.body.reason], [409, "AlreadyExists"]);
});

test("concurrent patches all succeed, and none is lost", async () => {
  await using server = await startServer();
  await create(server, MAPS, { metadata: { name: "a" } });

  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
  const answers = await Promise.all(keys.map((key) => server.call("PATCH", `${MAPS}/a`, { data: { [key]: "v" } }, MERGE)));

  assert.deepEqual(new Set(answers.map(({ code }) => code)), new Set([200]));
  assert.deepEqual(Object.keys((await server.call("GET", `${MAPS}/a`)).body.data).toSorted(), keys.toSorted());
});

test("exactly one of several concurrent PUTs of one resourceVersion succeeds, the others get a conflict", async () => {
  await using server = await startServer();
  const made = await create(server, MAPS, { metadata: { name: "a" } });

  const answers = await Promise.all(["1", "2", "3", "4"].map((value) => server.call("PUT", `${MAPS}/a`, { ...made, data: { value } })));

  assert.deepEqual(
    answers.map(({ code }) => code).toSorted((a, b) => a - b),
    [200, 409, 409, 409],
  );
  const lost = answers.find(({ code }) => code === 409);
  assert.match(lost?.body.message, /^Operation cannot be fulfilled on configmaps "a": the object has been modified/);
  assert.equal((await server.call("GET", `${MAPS}/a`)).body.data.value, answers.find(({ code }) => code === 200)?.body.data.value);
});

test("a PUT creates where upstream does, and concurrent creating PUTs and applies become updates of the first", async () => {
  await using server = await startServer();
  const event = { apiVersion: "v1", kind: "Event", metadata: { name: "e" }, involvedObject: { namespace: "default" } };

  assert.equal((await server.call("PUT", `${MAPS}/none`, { metadata: { name: "none" } })).code, 404);
  const puts = await Promise.all(Array.from({ length: 3 }, () => server.call("PUT", "/api/v1/namespaces/default/events/e", event)));
  assert.deepEqual(
    puts.map(({ code }) => code).toSorted((a, b) => a - b),
    [200, 200, 201],
  );
  const apply = (manager: string) =>
    server.call(
      "PATCH",
      `${MAPS}/s?fieldManager=${manager}`,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "s" }, data: { [manager]: "v" } },
      APPLY,
    );
  const applies = await Promise.all(["a", "b", "c"].map(apply));
  assert.deepEqual(
    applies.map(({ code }) => code).toSorted((a, b) => a - b),
    [200, 200, 201],
  );
  assert.deepEqual((await server.call("GET", `${MAPS}/s`)).body.data, { a: "v", b: "v", c: "v" });
});

test("a dry run answers as the write would, and changes nothing", async () => {
  await using server = await startServer();
  await create(server, MAPS, { metadata: { name: "a" }, data: { x: "1" } });
  const revision = await server.store.currentRevision();
  const dry = "dryRun=All";

  const answers = [
    await server.call("POST", `${MAPS}?${dry}`, { metadata: { name: "b" } }),
    await server.call("POST", `${MAPS}?${dry}`, { metadata: { name: "a" } }),
    await server.call("PATCH", `${MAPS}/a?${dry}`, { data: { x: "2" } }, MERGE),
    await server.call("DELETE", `${MAPS}/a?${dry}`),
    await server.call("DELETE", `${MAPS}?${dry}`),
    await server.call("DELETE", `${MAPS}/a`, { dryRun: ["All"] }),
    await server.call("POST", `${MAPS}?dryRun=Some`, { metadata: { name: "b" } }),
  ];

  assert.deepEqual(
    answers.map(({ code }) => code),
    [201, 409, 200, 200, 200, 200, 422],
  );
  assert.equal(answers[0]?.body.metadata.resourceVersion, undefined);
  assert.equal(answers[2]?.body.data.x, "2");
  assert.equal(await server.store.currentRevision(), revision);
});

test("a client that disconnects before the commit has written nothing; after it, everything", async () => {
  await using server = await startServer();
  await create(server, MAPS, { metadata: { name: "warm" } });
  let written = 0;
  for (let turns = 0; turns < 40; turns++) {
    const controller = new AbortController();
    const answer = server.call("POST", MAPS, { metadata: { name: `n${turns}` } }, {}, controller);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    const commits = (await server.store.statistics()).commits;
    controller.abort(new Error("gone"));
    await answer;
    await server.clock.settle();

    const found = (await server.call("GET", `${MAPS}/n${turns}`)).code === 200;
    if (turns === 0) assert.equal(found, false);
    // What was committed when the client disconnected stays; nothing is committed later.
    assert.equal((await server.store.statistics()).commits - commits <= 1, true);
    if (found) written++;
  }
  assert(written > 0 && written < 40, `${written} of 40 were written`);
});

test("a stale resourceVersion and a wrong uid are conflicts; a resourceVersion on create and an invalid one are bad requests", async () => {
  await using server = await startServer();
  const made = await create(server, MAPS, { metadata: { name: "a" } });
  await server.call("PATCH", `${MAPS}/a`, { data: { x: "1" } }, MERGE);
  const put = (metadata: JsonObject) => server.call("PUT", `${MAPS}/a`, { metadata: { name: "a", ...metadata } });

  const rows: readonly [number, Promise<{ code: number }>][] = [
    [409, put({ resourceVersion: made.metadata.resourceVersion })],
    [409, put({ uid: "00000000-0000-0000-0000-000000000000" })],
    [500, put({ resourceVersion: "x" })],
    [500, server.call("POST", MAPS, { metadata: { name: "b", resourceVersion: "5" } })],
    [409, server.call("DELETE", `${MAPS}/a`, { preconditions: { uid: "other" } })],
    [409, server.call("DELETE", `${MAPS}/a`, { preconditions: { resourceVersion: "1" } })],
  ];
  for (const [code, answer] of rows) assert.equal((await answer).code, code);
});

test("a change of field ownership alone is written", async () => {
  await using server = await startServer();
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shared" }, data: { key: "value" } };
  const apply = (manager: string) => server.call("PATCH", `${MAPS}/shared?fieldManager=${manager}`, object, APPLY);

  const versions = [];
  for (const manager of ["one", "two", "two"]) versions.push(Number((await apply(manager)).body.metadata.resourceVersion));

  const { metadata } = (await server.call("GET", `${MAPS}/shared`)).body;
  assert.deepEqual(metadata.managedFields.map(({ manager }: { manager: string }) => manager).toSorted(), ["one", "two"]);
  assert.deepEqual([versions[1]! > versions[0]!, versions[2] === versions[1]], [true, true], "repeating it changes nothing");
});
