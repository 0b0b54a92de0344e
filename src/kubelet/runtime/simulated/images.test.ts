import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { imageOf } from "./images.ts";

test("a simulated image has the same digest and size on every node, and the default tag", () => {
  const image = imageOf("registry.test:5000/team/app");
  deepEqual(image, imageOf("registry.test:5000/team/app:latest"));
  equal(image?.names[1], "registry.test:5000/team/app:latest");
  ok(/^registry\.test:5000\/team\/app@sha256:[0-9a-f]{64}$/.test(image?.id ?? ""));
  ok(image !== undefined && Number.isInteger(image.sizeBytes) && image.sizeBytes >= 2 * 2 ** 20 && image.sizeBytes < 512 * 2 ** 20);
  deepEqual(imageOf(image?.id ?? ""), { ...image, names: [image?.id] });
});

test("an invalid reference is no simulated image", () => {
  for (const reference of ["", "No Image", "app:", "app:a b", "app@sha256:12", "app:1@", "/app"])
    equal(imageOf(reference), undefined, reference);
});
