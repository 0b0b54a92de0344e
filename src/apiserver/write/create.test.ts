import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom, type Random } from "../../base/random.ts";
import { startServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const OTHER_UID = "11111111-1111-1111-1111-111111111111";

test("create ignores metadata that only the server sets, and no manager owns it", async () => {
  await using server = await startServer();
  const times = { creationTimestamp: "2020-01-01T00:00:00Z", deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 4 };

  const { code, body } = await server.call("POST", CONFIG_MAPS, { metadata: { name: "a", uid: OTHER_UID, selfLink: "x", ...times } });

  const { uid, selfLink, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, managedFields } = body.metadata;
  assert.equal(code, 201);
  assert.notEqual(uid, OTHER_UID);
  assert.deepEqual(
    [creationTimestamp, selfLink, deletionTimestamp, deletionGracePeriodSeconds],
    ["2026-01-01T00:00:00Z", undefined, undefined, undefined],
  );
  assert.equal(managedFields, undefined);
});

test("create rejects a resourceVersion, with upstream's code", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("POST", CONFIG_MAPS, { metadata: { name: "a", resourceVersion: "5" } });

  assert.deepEqual([code, body.message], [500, "resourceVersion should not be set on objects to be created"]);
});

test("admission refuses a new object before its resourceVersion is rejected, as upstream", async () => {
  await using server = await startServer();
  await server.call("POST", "/api/v1/namespaces", {
    metadata: { name: "n", labels: { "pod-security.kubernetes.io/enforce": "baseline" } },
  });
  const spec = { hostNetwork: true, containers: [{ name: "c", image: "i:1" }] };

  const { code, body } = await server.call("POST", "/api/v1/namespaces/n/pods", { metadata: { name: "p", resourceVersion: "5" }, spec });

  assert.deepEqual([code, body.reason], [403, "Forbidden"]);
  assert.match(body.message, /violates PodSecurity/);
});

test("create treats an empty body as an object without a name", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("POST", CONFIG_MAPS, "null");

  assert.deepEqual([code, body.message], [422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required']);
});

test("errors name a kind that is served in two groups by its storage group", async () => {
  await using server = await startServer();
  const event = { eventTime: "2024-01-01T00:00:00.000000Z", reportingController: "a/b", reportingInstance: "i", action: "a", reason: "r" };
  const path = "/apis/events.k8s.io/v1/namespaces/default/events";

  const { code, body } = await server.call("POST", path, {
    metadata: { name: "e", labels: { "a b": "" } },
    ...event,
    type: "Normal",
    regarding: {},
  });

  assert.deepEqual([code, body.details.group, body.message.startsWith('Event "e" is invalid')], [422, undefined, true]);
});

/** All characters of each generated name are the one of this index; uids are random. */
function drawing(...characters: readonly number[]): Random {
  const random = seededRandom(1);
  let drawn = 0;
  const below = (limit: number) => (limit > 27 ? random.below(limit) : (characters[Math.floor(drawn++ / 5)] ?? 0));
  return { fraction: () => random.fraction(), below, derive: (name) => random.derive(name) };
}

test("create retries a generated name that already exists up to eight times", async () => {
  await using server = await startServer({ random: drawing(0, 0, 0, 1) });
  const create = async () => {
    const { code, body } = await server.call("POST", CONFIG_MAPS, { metadata: { generateName: "n-" } });
    return [code, body.metadata.name ?? body.message];
  };

  assert.deepEqual(await create(), [201, "n-bbbbb"]);
  assert.deepEqual(await create(), [201, "n-ccccc"]);
  assert.deepEqual(await create(), [409, 'configmaps "n-bbbbb" already exists'], "from here on randomness repeats itself");
});

test("create of an existing object returns AlreadyExists, also if the object is terminating", async () => {
  await using server = await startServer();
  const make = () => server.call("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  await make();

  const there = await make();
  await server.call("DELETE", "/api/v1/namespaces/n");
  const going = await make();

  const exists = 'namespaces "n" already exists';
  assert.deepEqual([there.code, there.body.message], [409, exists]);
  assert.deepEqual([going.code, going.body.message], [409, `object is being deleted: ${exists}`]);
});
