import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { secret } from "./secret.ts";

function prepare({ secrets }: VolumeWorld): void {
  secrets.set("s", { password: "pw" });
}

volumeSuite({
  plugin: secret,
  source: { secret: { secretName: "s" } },
  prepare,
  change: ({ secrets }) => void secrets.set("s", { password: "new" }),
  invalid: [
    { source: { secret: { secretName: "none" } }, message: 'secret "none" not found' },
    {
      source: { secret: { secretName: "s", items: [{ key: "color", path: "color" }] } },
      message: "references non-existent secret key: color",
    },
  ],
});

test("a secret volume has the decoded values", async () => {
  const world = new VolumeWorld();
  prepare(world);

  deepEqual(await world.filesOf(secret, { secret: { secretName: "s", defaultMode: 0o400 } }), ["password 400 - pw"]);
});

test("a secret volume falls back to the disk where mounting is forbidden, and logs it", async () => {
  const world = new VolumeWorld();
  prepare(world);
  world.mounter.isMountAllowed = false;

  const { path } = await world.mount(secret, { secret: { secretName: "s" } });

  deepEqual(world.warnings, ["Cannot mount a tmpfs for a volume; its files are on disk"]);
  equal(world.mounter.lines().includes(`${path}/password 644 - pw`), true);
});
