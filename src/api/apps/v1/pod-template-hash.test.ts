import assert from "node:assert/strict";
import test from "node:test";
import type { PodTemplateSpec } from "../../generated/core/v1.ts";
import { isSameTemplate, podTemplateHash, withoutHashLabel } from "./pod-template-hash.ts";

const TEMPLATE = {
  metadata: { labels: { app: "web" }, annotations: { note: "Grüße" } },
  spec: { containers: [{ name: "c", image: "i:1", resources: { limits: { memory: "1Gi" } } }], terminationGracePeriodSeconds: 30 },
} as const satisfies PodTemplateSpec;

const HASHED = { ...TEMPLATE, metadata: { ...TEMPLATE.metadata, labels: { app: "web", "pod-template-hash": "abc" } } };

const OTHER_WORDS = {
  ...TEMPLATE,
  spec: { ...TEMPLATE.spec, containers: [{ ...TEMPLATE.spec.containers[0], resources: { limits: { memory: "1024Mi" } } }] },
};

/** The same, with the members in reverse order. */
function reversed<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed) as T;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  ) as T;
}

test("the hash of a template is the one that upstream names ReplicaSets by", () => {
  assert.equal(podTemplateHash(TEMPLATE), "69c874db78");
  assert.equal(podTemplateHash(TEMPLATE, 0), "7b59548b46");
  assert.equal(podTemplateHash(TEMPLATE, 1), "ddbcffc7f");
});

test("the hash does not depend on member order, nor on the spelling of quantities", () => {
  assert.equal(podTemplateHash(reversed(TEMPLATE)), podTemplateHash(TEMPLATE));
  assert.equal(podTemplateHash(OTHER_WORDS), podTemplateHash(TEMPLATE));
});

test("hashes are encoded with upstream's alphabet", () => {
  const hashes = Array.from({ length: 500 }, (_, count) => podTemplateHash(TEMPLATE, count));

  assert.ok(new Set(hashes).size > 490);
  // The ten digits become these ten letters.
  for (const hash of hashes) assert.match(hash, /^[456789bcdf]{1,10}$/);
});

test("templates that differ only in the pod-template-hash label are equal", () => {
  const otherImage = { ...TEMPLATE, spec: { containers: [{ ...TEMPLATE.spec.containers[0], image: "i:2" }] } };

  assert.equal(isSameTemplate(TEMPLATE, reversed(HASHED)), true);
  assert.equal(isSameTemplate(TEMPLATE, OTHER_WORDS), true);
  assert.equal(isSameTemplate(TEMPLATE, otherImage), false);
  assert.equal(isSameTemplate(TEMPLATE, { ...TEMPLATE, metadata: { labels: { app: "web" } } }), false);
  assert.equal(isSameTemplate({ metadata: {} }, {}), true);
  assert.equal(isSameTemplate(TEMPLATE, { metadata: TEMPLATE.metadata }), false);
});

test("only the pod-template-hash label is removed from a template", () => {
  assert.deepEqual(withoutHashLabel(HASHED), TEMPLATE);
  assert.deepEqual(withoutHashLabel({ metadata: { labels: { "pod-template-hash": "abc" } } }), { metadata: {} });
  assert.equal(withoutHashLabel(TEMPLATE), TEMPLATE);
});
