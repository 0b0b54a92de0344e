import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { containerId, createdAtOf, hashOf, sandboxId, withoutScheme } from "./identity.ts";

test("simulated ids are 64 hexadecimal digits derived from their input, and both halves differ", () => {
  const halves = new Set<string>();
  for (let index = 0; index < 20_000; index++) {
    const hash = hashOf(`0b5f7a2e-1111-4222-8333-${String(index).padStart(12, "0")}`);
    ok(/^[0-9a-f]{64}$/.test(hash));
    halves.add(hash.slice(0, 32)).add(hash.slice(32));
  }
  equal(halves.size, 40_000);
  equal(sandboxId("a"), sandboxId("a"));
});

test("a simulated container id contains its creation time, and differs by Pod, name and attempt", () => {
  const identity = { podUid: "a", name: "main", attempt: 0, createdAtMs: 1_700_000_000_987 };
  const id = containerId(identity);
  equal(createdAtOf(id), 1_700_000_000_987);
  equal(containerId({ ...identity }), id);
  const others = [{ podUid: "b" }, { name: "other" }, { attempt: 1 }].map((other) => containerId({ ...identity, ...other }));
  equal(new Set([id, ...others]).size, 4);
});

test("an id of another runtime has no creation time", () => {
  deepEqual(["abc", "f".repeat(64), ""].map(createdAtOf), [undefined, undefined, undefined]);
  deepEqual(["simulated://abc", "abc"].map(withoutScheme), ["abc", "abc"]);
});
