import assert from "node:assert/strict";
import { test } from "node:test";
import { imageTag } from "./image-tag.ts";

const DIGEST = `sha256:${"0".repeat(64)}`;

const ROWS: readonly (readonly [string, string | undefined])[] = [
  ["nginx", "latest"],
  ["nginx:latest", "latest"],
  ["nginx:1.29", "1.29"],
  ["registry:5000/team/app", "latest"],
  ["registry:5000/team/app:v1", "v1"],
  ["[fd00::1]:5000/app", "latest"],
  [`nginx@${DIGEST}`, undefined],
  [`nginx:latest@${DIGEST}`, "latest"],
  ["a_b.c--d/e__f", "latest"],
  ["Upper/app", "latest"],
  ["Nginx", undefined],
  ["team/App", undefined],
  ["", undefined],
  ["a".repeat(64), undefined],
];

test("a reference without tag and digest has the tag latest, and a malformed reference has none", () => {
  for (const [image, tag] of ROWS) assert.equal(imageTag(image), tag, image);
});
