import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { deployments } from "../../api/apps/v1/deployment.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import type { Reader } from "../../client/informer/informer.ts";
import type { Change, WorkKey } from "./controller.ts";
import { controlledBy, controllerReference, itsController, itself, keyOf, keyText, kindName, objectText, parseKey } from "./keys.ts";
import { buildPod } from "../../api/testing/pod.ts";

/** None of these reads anything but the change. */
const NOTHING = {} as Reader;

function owner(name: string, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: `uid of ${name}`, controller: true, ...more };
}

function pod(...ownerReferences: readonly OwnerReference[]): KubeObject {
  return buildPod({ metadata: { namespace: "default", name: "p", ownerReferences } });
}

describe("a key is readable text", () => {
  for (const [key, text] of [
    [{ namespace: "default", name: "web" }, "default/web"],
    [{ name: "node-1" }, "node-1"],
    [{ kind: "deployments.apps", namespace: "default", name: "web" }, "deployments.apps default/web"],
    [{ kind: "nodes", name: "node-1" }, "nodes node-1"],
    [{ name: "system:my role" }, "system:my%20role"],
    [{ kind: "apps/v1/Deployment", namespace: "default", name: "web" }, "apps/v1/Deployment default/web"],
  ] as const) {
    test(text, () => {
      equal(keyText(key), text);
      deepEqual(parseKey(text), key);
    });
  }
});

test("every key round-trips, also for names with spaces", () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/);
  // As upstream: a path segment, so neither slashes nor percent signs.
  const name = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/[/%]/.test(text));
  const kind = fc.stringMatching(/^[a-z]{1,8}(\.[a-z]{1,8}){0,2}$/);
  const key = fc.record({ kind, namespace: label, name }, { requiredKeys: ["name"], noNullPrototype: true });
  fc.assert(fc.property(key, (given: WorkKey) => deepEqual(parseKey(keyText(given)), given)));
});

test("objects are named as in logs; a cluster-scoped one has no slash", () => {
  equal(objectText({ namespace: "default", name: "web" }), "default/web");
  equal(objectText({ namespace: "", name: "n" }), "n");
  equal(objectText({ namespace: undefined, name: "n" }), "n");
  deepEqual(keyOf({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } }), { name: "n" });
  deepEqual([kindName(deployments), kindName(pods)], ["deployments.apps", "pods"]);
});

describe("a dependent queues its controller, and its previous one", () => {
  const is = "updated" as const;
  const rows: readonly [string, Change, readonly string[]][] = [
    ["its controller", { is: "added", object: pod(owner("a")) }, ["default/a"]],
    ["an owner that does not control it", { is: "added", object: pod(owner("a", { controller: false })) }, []],
    ["nothing", { is: "added", object: pod() }, []],
    ["one of another kind", { is: "added", object: pod(owner("a", { kind: "Deployment" })) }, []],
    ["one of another group", { is: "added", object: pod(owner("a", { apiVersion: "example.com/v1" })) }, []],
    ["one of another version of the group", { is: "added", object: pod(owner("a", { apiVersion: "apps/v1beta1" })) }, ["default/a"]],
    ["one that it stays with, once", { is, object: pod(owner("a")), previous: pod(owner("a")) }, ["default/a"]],
    [
      "one that it was given to and one that it was taken from",
      { is, object: pod(owner("b")), previous: pod(owner("a")) },
      ["default/b", "default/a"],
    ],
    ["one that let it go", { is, object: pod(), previous: pod(owner("a")) }, ["default/a"]],
    ["the last that it had", { is: "deleted", object: pod(owner("a")) }, ["default/a"]],
  ];
  for (const [what, change, keys] of rows) {
    test(what, () => deepEqual([...itsController(replicaSets)(change, NOTHING)].map(keyText), keys));
  }

  test("a cluster-scoped owner has no namespace", () => {
    const object = pod(owner("n", { apiVersion: "v1", kind: "Node" }));
    deepEqual([...itsController(nodes)({ is: "added", object }, NOTHING)], [{ name: "n" }]);
  });
});

test("an object queues its own key, and references its controller", () => {
  const set: KubeObject = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { namespace: "default", name: "a", uid: "u" } };
  const reference = controlledBy(set);

  deepEqual([...itself({ is: "deleted", object: set })], [{ namespace: "default", name: "a" }]);
  deepEqual(reference, { apiVersion: "apps/v1", kind: "ReplicaSet", name: "a", uid: "u", controller: true, blockOwnerDeletion: true });
  equal(controllerReference(pod(owner("x", { controller: false }), reference)), reference);
});
