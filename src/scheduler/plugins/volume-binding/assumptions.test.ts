import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { boundToClaim, SELECTED_NODE, withAnnotations } from "../../../api/core/v1/persistent-volume/binding.ts";
import { aClaim, aVolume, storageOf } from "../../framework/testing/volumes.ts";
import { Assumptions } from "./assumptions.ts";

const CLAIM = aClaim("c", { className: "local", version: "1" });
const VOLUME = aVolume("v", { className: "local", version: "1" });

function given() {
  const storage = storageOf(CLAIM, VOLUME);
  const assumptions = new Assumptions(storage);
  storage.onClaimChange((claimKey) => assumptions.changed(claimKey));
  const { volumes, claims } = assumptions;
  return {
    storage,
    assumptions,
    volume: volumes.add("v", VOLUME, boundToClaim(VOLUME, CLAIM), "pod"),
    claim: claims.add("default/c", CLAIM, withAnnotations(CLAIM, { [SELECTED_NODE]: "n" }), "pod"),
    sizes: () => [volumes.size, claims.size],
  };
}

test("an assumption that was written is forgotten when it is observed, without a Pod that asks for it", () => {
  const { storage, assumptions, volume, claim, sizes } = given();
  volume.writing = Promise.resolve(volume.object);
  claim.writing = Promise.resolve(claim.object);
  assumptions.volumes.release("v", volume, "pod");
  assumptions.claims.release("default/c", claim, "pod");
  const written = sizes();

  storage.put(aVolume("v", { className: "local", claim: "c", version: "2" }));
  const volumeObserved = sizes();
  storage.put(aClaim("c", { className: "local", version: "2" }));

  deepEqual(
    [written, volumeObserved, sizes()],
    [
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  );
});

test("an assumption lasts while events show the version that it is based on", () => {
  const { storage, assumptions, sizes } = given();

  storage.put(CLAIM);
  storage.put(VOLUME);

  deepEqual(sizes(), [1, 1]);
  equal(assumptions.volume("v")?.spec?.claimRef?.name, "c");
  deepEqual(
    assumptions.volumesFor(CLAIM).map(({ metadata }) => metadata.name),
    ["v"],
  );
});

test("an assumption replaces that of an earlier version, also for the claim that the earlier one concerned", () => {
  const { storage, assumptions } = given();
  const newer = aVolume("v", { className: "local", version: "2" });
  const other = aClaim("d", { className: "local" });
  storage.put(newer, other);

  assumptions.volumes.add("v", newer, boundToClaim(newer, other), "pod");

  const found = [CLAIM, other].map((claim) => assumptions.volumesFor(claim).map(({ metadata }) => metadata.name));
  deepEqual([found, assumptions.volumes.concerning("default/c")], [[[], ["v"]], []]);
});
