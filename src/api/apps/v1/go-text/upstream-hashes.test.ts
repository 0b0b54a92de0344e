import { equal } from "node:assert/strict";
import { test } from "node:test";
import { podTemplateHash } from "../pod-template-hash.ts";
import { CONTAINER_HASHES } from "./testing/container-hashes.ts";
import { SCHEDULING_HASHES } from "./testing/scheduling-hashes.ts";
import { VOLUME_HASHES } from "./testing/volume-hashes.ts";

for (const { has, hash, template, collisionCount } of [...CONTAINER_HASHES, ...SCHEDULING_HASHES, ...VOLUME_HASHES]) {
  test(`a template with ${has} has upstream's hash`, () => {
    equal(podTemplateHash(template, collisionCount), hash);
  });
}
