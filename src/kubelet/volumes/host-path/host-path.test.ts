import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { hostPath } from "./host-path.ts";

volumeSuite({
  plugin: hostPath,
  source: { hostPath: { path: "/srv/data", type: "DirectoryOrCreate" } },
  prepare: ({ mounter }) => mounter.add("/file", "file"),
  invalid: [
    { source: { hostPath: { path: "/a/../b" } }, message: "invalid HostPath `/a/../b`: must not contain '..'" },
    { source: { hostPath: { path: "/none", type: "Directory" } }, message: "hostPath type check failed: /none is not a directory" },
    { source: { hostPath: { path: "/file", type: "DirectoryOrCreate" } }, message: "hostPath type check failed: /file is not a directory" },
    { source: { hostPath: { path: "/file", type: "Socket" } }, message: "hostPath type check failed: /file is not a socket file" },
    { source: { hostPath: { path: "/file", type: "Pipe" as never } }, message: "Pipe is an invalid volume type" },
  ],
});

test("a hostPath below /var/lib/kubelet is below the kubelet's own root directory", async () => {
  const world = new VolumeWorld();

  const { path } = await world.mount(hostPath, { hostPath: { path: "/var/lib/kubelet/plugins", type: "DirectoryOrCreate" } });

  equal(path, "/data/plugins");
});

test("a hostPath that another process replaces while the kubelet creates it is refused", async () => {
  const world = new VolumeWorld();
  const { mounter } = world;
  const create = mounter.touchFile.bind(mounter);
  mounter.touchFile = (path, mode) => {
    mounter.add(path, "other");
    return create(path, mode);
  };

  await rejects(world.mount(hostPath, { hostPath: { path: "/srv/file", type: "FileOrCreate" } }), {
    message: "hostPath type check failed: /srv/file is not a file",
  });
});

test("a hostPath without a type is the path itself, and nothing is created", async () => {
  const world = new VolumeWorld();

  const mounted = await world.mount(hostPath, { hostPath: { path: "/srv/any" } });

  deepEqual(mounted, { path: "/srv/any", isReadOnly: false, isExternal: true, isEphemeral: false });
  equal(world.mounter.lines().length, 0);
});
