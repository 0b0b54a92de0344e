import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld, type VolumeSourceFields } from "../testing/volume-world.ts";
import { nfs } from "./nfs.ts";

const INLINE = { nfs: { server: "s", path: "/data" } };
const CLAIMED = { persistent: { nfs: { server: "s", path: "/data" }, mountOptions: ["nfsvers=4.2"] } };

for (const [title, source] of Object.entries({ inline: INLINE, claimed: CLAIMED })) {
  describe(title, () => volumeSuite({ plugin: nfs, source, invalid: [] }));
}

const rows: readonly (readonly [title: string, source: VolumeSourceFields, mount: string])[] = [
  ["an export", INLINE, "nfs s:/data"],
  ["a read-only export", { nfs: { server: "s", path: "/", readOnly: true } }, "nfs s:/ ro"],
  ["the server's IPv6 address in brackets", { nfs: { server: "fd00::1", path: "/" } }, "nfs [fd00::1]:/"],
  ["mount options of a PersistentVolume", CLAIMED, "nfs s:/data nfsvers=4.2"],
  ["a claim that is used read-only", { ...CLAIMED, readOnly: true }, "nfs s:/data ro,nfsvers=4.2"],
];

for (const [title, source, mount] of rows) {
  test(`nfs mounts ${title}`, async () => {
    const world = new VolumeWorld();

    const { path } = await world.mount(nfs, source);

    deepEqual(
      world.mounter.lines().filter((line) => line.startsWith(`${path} nfs`)),
      [`${path} ${mount}`],
    );
  });
}
