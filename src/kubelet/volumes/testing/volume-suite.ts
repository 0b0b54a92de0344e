/** What every volume kind promises (framework/volume-plugin.ts), on a node in memory. Each plugin's test calls it once. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import type { VolumePlugin } from "../framework/volume-plugin.ts";
import { VolumeWorld, type VolumeSourceFields } from "./volume-world.ts";

export interface VolumeSuite {
  readonly plugin: VolumePlugin;
  /** A valid volume of this kind. */
  readonly source: VolumeSourceFields;
  /** Creates the objects and host files that `source` depends on. */
  prepare?(world: VolumeWorld): void;
  /** Changes them, so that the contents of the volume change. Required if the plugin has `refresh`. */
  change?(world: VolumeWorld): void;
  /** Volumes that cannot be mounted, with the message. */
  readonly invalid: readonly { readonly source: VolumeSourceFields; readonly message: string }[];
}

/** More changes of the node than any `mount` makes. */
const CHANGES_MAX = 50;

export function volumeSuite({ plugin, source, prepare, change, invalid }: VolumeSuite): void {
  const open = (): VolumeWorld => {
    const world = new VolumeWorld();
    prepare?.(world);
    return world;
  };

  describe(`volume kind ${plugin.source ?? plugin.persistentSource}`, () => {
    test("the directory is upstream's escaped plugin name", () => {
      match(plugin.directory, /^[a-z.]+~[a-z-]+$/);
    });

    test("resolve changes nothing on the node", async () => {
      const world = open();
      const before = world.mounter.lines();

      await plugin.resolve(world.volumeOf(plugin, source), world, new AbortController().signal);

      deepEqual(world.mounter.lines(), before);
    });

    test("mounting twice changes nothing the second time", async () => {
      const world = open();
      const first = await world.mount(plugin, source);
      const lines = world.mounter.lines();

      const second = await world.mount(plugin, source);

      deepEqual([second, world.mounter.lines()], [first, lines]);
    });

    test("a mount that is interrupted after any step is completed by the next one", async () => {
      const expected = open();
      await expected.mount(plugin, source);
      for (let steps = 0; ; steps++) {
        const world = open();
        world.mounter.killAfter(steps);
        const isCompleted = await world.mount(plugin, source).then(
          () => true,
          () => false,
        );
        world.mounter.killAfter(CHANGES_MAX);

        await world.mount(plugin, source);

        deepEqual(world.mounter.lines(), expected.mounter.lines());
        if (isCompleted) return;
      }
    });

    test("reconstruct finds a mounted volume after a restart, and no other", async () => {
      const world = open();
      const volume = world.volumeOf(plugin, source);
      equal(await plugin.reconstruct(volume, world), undefined);
      const mounted = await world.mount(plugin, source);
      const lines = world.mounter.lines();

      const reconstructed = await plugin.reconstruct(volume, world);

      deepEqual([reconstructed, world.mounter.lines()], [mounted.isExternal ? undefined : mounted, lines]);
    });

    test("reconstruct returns undefined for a volume whose mount was interrupted before it completed", async () => {
      for (let steps = 0; ; steps++) {
        const world = open();
        world.mounter.killAfter(steps);
        if (await world.mount(plugin, source).catch(() => undefined)) return;
        equal(await plugin.reconstruct(world.volumeOf(plugin, source), world), undefined);
      }
    });

    if (plugin.refresh !== undefined) refreshTests({ plugin, source, open, change: (world) => change?.(world) });

    test("unmount leaves no mount, can be repeated, and needs no earlier mount", async () => {
      const world = open();
      await world.unmount(plugin, source);
      await world.mount(plugin, source);
      await world.unmount(plugin, source);
      const lines = world.mounter.lines();

      await world.unmount(plugin, source);

      deepEqual([world.mounter.mounts(), world.mounter.lines()], [[], lines]);
    });

    for (const { source: wrong, message } of invalid) {
      test(`${JSON.stringify(wrong)} is rejected: ${message}`, async () => {
        const world = open();
        const before = world.mounter.lines();

        await rejects(world.mount(plugin, wrong), { message });

        deepEqual(world.mounter.lines(), before);
      });
    }
  });
}

interface RefreshTests extends Pick<VolumeSuite, "plugin" | "source"> {
  open(): VolumeWorld;
  change(world: VolumeWorld): void;
}

function refreshTests({ plugin, source, change, open }: RefreshTests): void {
  test("refresh yields what a new mount would, in the same mounts", async () => {
    const [world, expected] = [open(), open()];
    await world.mount(plugin, source);
    const mounts = world.mounter.mounts();
    const old = world.mounter.lines();
    change(world);
    change(expected);

    await world.refresh(plugin, source);
    await world.refresh(plugin, source);

    await expected.mount(plugin, source);
    deepEqual([world.mounter.lines(), world.mounter.mounts()], [expected.mounter.lines(), mounts]);
    equal(world.mounter.lines().join("\n") === old.join("\n"), false, "`change` changes the contents");
  });

  test("a refresh that is interrupted leaves the old contents or the new", async () => {
    const [old, fresh] = [open(), open()];
    change(fresh);
    await old.mount(plugin, source);
    await fresh.mount(plugin, source);
    const allowed = [old.mounter.lines().join("\n"), fresh.mounter.lines().join("\n")];
    for (let steps = 0; ; steps++) {
      const world = open();
      await world.mount(plugin, source);
      change(world);
      world.mounter.killAfter(steps);
      const outcome = await world.refresh(plugin, source).then(
        () => "completed",
        () => "interrupted",
      );
      equal(allowed.includes(world.mounter.lines().join("\n")), true);
      if (outcome === "completed") return;
    }
  });
}
