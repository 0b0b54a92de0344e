import assert from "node:assert/strict";
import { test } from "node:test";
import { AvailableVolumes } from "./available-volumes.ts";
import { aClaim, aVolume } from "./testing/storage.ts";

test("candidates are large enough, smallest first, with fewer access modes before more", () => {
  const available = new AvailableVolumes();
  available.put(aVolume("big", { size: "10Gi" }));
  available.put(aVolume("small", { size: "1Gi" }));
  available.put(aVolume("b", { size: "5Gi" }));
  available.put(aVolume("a", { size: "5Gi" }));
  available.put(aVolume("many", { size: "2Gi", accessModes: ["ReadOnlyMany", "ReadWriteOnce"] }));
  available.put(aVolume("read", { size: "2Gi", accessModes: ["ReadOnlyMany"] }));

  assert.deepEqual([...available.candidates(aClaim("c", { size: "2Gi" }))], ["a", "b", "big", "many"]);
  assert.deepEqual([...available.candidates(aClaim("c", { size: "11Gi" }))], []);
});

test("volumes of another class, mode or VolumeAttributesClass are not candidates", () => {
  const available = new AvailableVolumes();
  available.put(aVolume("class", { storageClassName: "fast" }));
  available.put(aVolume("legacy", { annotations: { "volume.beta.kubernetes.io/storage-class": "fast" } }));
  available.put(aVolume("block", { volumeMode: "Block" }));
  available.put(aVolume("gold", { volumeAttributesClassName: "gold" }));

  assert.deepEqual([...available.candidates(aClaim("c"))], []);
  assert.deepEqual([...available.candidates(aClaim("c", { storageClassName: "fast" }))], ["class", "legacy"]);
  assert.deepEqual([...available.candidates(aClaim("c", { volumeMode: "Block" }))], ["block"]);
  assert.deepEqual([...available.candidates(aClaim("c", { volumeAttributesClassName: "gold" }))], ["gold"]);
});

test("a changed volume moves and a deleted one is removed", () => {
  const available = new AvailableVolumes();
  available.put(aVolume("a", { size: "1Gi" }));
  available.put(aVolume("a", { size: "3Gi" }));
  available.put(aVolume("b", { size: "2Gi" }));
  assert.deepEqual([...available.candidates(aClaim("c"))], ["b", "a"]);

  available.delete("b");
  available.delete("never");
  assert.deepEqual([...available.candidates(aClaim("c"))], ["a"]);
  available.delete("a");
  assert.equal(available.size, 0);
});

test("ten thousand claims take ten thousand volumes of ascending sizes in order", () => {
  const available = new AvailableVolumes();
  const count = 10_000;
  for (let index = 0; index < count; index++)
    available.put(aVolume(`v${(index * 7_919) % count}`, { size: `${((index * 7_919) % count) + 1}Mi` }));
  let looked = 0;
  for (let size = 1; size <= count; size++) {
    for (const name of available.candidates(aClaim("c", { size: `${size}Mi` }))) {
      looked++;
      assert.equal(name, `v${size - 1}`);
      available.delete(name);
      break;
    }
  }
  assert.equal(looked, count);
  assert.equal(available.size, 0);
});
