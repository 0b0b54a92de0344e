import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { isBelowDefaultRoot, toDefaultRoot, toOwnRoot } from "./default-root.ts";

const ROOT = "/home/u/k8ts/kubelet";

test("paths below /var/lib/kubelet are mapped to the kubelet's own root directory and back", () => {
  const rows = [
    ["/var/lib/kubelet", ROOT],
    ["/var/lib/kubelet/plugins/a/csi.sock", `${ROOT}/plugins/a/csi.sock`],
  ] as const;
  for (const [named, own] of rows) deepEqual([toOwnRoot(named, ROOT), toDefaultRoot(own, ROOT)], [own, named]);
});

test("paths with surplus slashes are mapped, and paths elsewhere stay as they are", () => {
  deepEqual(toOwnRoot("/var//lib/kubelet//pods/", ROOT), `${ROOT}/pods`);
  for (const path of ["/var/lib", "/var/lib/kubelet2", "/run/csi.sock", "/", ""])
    deepEqual([toOwnRoot(path, ROOT), toDefaultRoot(path, ROOT), isBelowDefaultRoot(path)], [path, path, false]);
});
