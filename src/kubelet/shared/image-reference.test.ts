import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { withTag } from "./image-reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

for (const [given, expected] of [
  ["busybox", "busybox:latest"],
  ["busybox:1.36", "busybox:1.36"],
  [`busybox@${DIGEST}`, `busybox@${DIGEST}`],
  [`busybox:1@${DIGEST}`, `busybox:1@${DIGEST}`],
  ["localhost/web", "localhost/web:latest"],
  ["registry.example:5000/a/b-c__d", "registry.example:5000/a/b-c__d:latest"],
  ["[::1]:5000/web", "[::1]:5000/web:latest"],
] as const) {
  test(`${given} is pulled as ${expected}`, () => equal(withTag(given), expected));
}

for (const [given, why] of [
  ["No Image", "invalid reference format: repository name (library/No Image) must be lowercase"],
  ["web:a:b", "invalid reference format"],
  ["web@sha256:12", "invalid reference format"],
  ["registry.example/-x", "invalid reference format"],
  ["a".repeat(64), `invalid repository name (${"a".repeat(64)}), cannot specify 64-byte hexadecimal strings`],
  [`registry.example/${"b".repeat(250)}`, "repository name must not be more than 255 characters"],
] as const) {
  test(`${given} is an invalid image name: ${why}`, () => {
    const message = `Failed to apply default image tag "${given}": couldn't parse image name "${given}": ${why}`;
    throws(() => withTag(given), { reason: "InvalidImage", message });
  });
}
