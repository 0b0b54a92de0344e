import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { buildPod } from "../../../api/testing/pod.ts";
import { given } from "../../../testing/given.ts";
import { Republishing } from "./republishing.ts";

function csiDriver(name: string, requiresRepublish: boolean) {
  return { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name }, spec: { requiresRepublish } };
}

function podWith(uid: string, volumes: object[]) {
  return buildPod({ metadata: { name: uid, uid }, spec: { volumes: volumes.map((source, index) => ({ name: `v${index}`, ...source })) } });
}

test("volumes of Pods are renewed every minute while a registered driver requires it", async () => {
  await using cluster = await given(csiDriver("a", true), csiDriver("b", false));
  const { client, clock } = cluster;
  let drivers = ["b", "missing"];
  const pods = [
    podWith("inline", [{ csi: { driver: "a" } }]),
    podWith("claim", [{ persistentVolumeClaim: { claimName: "c" } }]),
    podWith("none", [{ emptyDir: {} }]),
  ];
  const renewed: string[] = [];
  await using republishing = new Republishing({ drivers: () => drivers, client, clock, kubelet: () => ({ pods: () => pods }) });
  using _listening = republishing.listen((podUid) => void renewed.push(podUid));
  await clock.advance(150_000);
  deepEqual(renewed, []);
  drivers = ["a"];

  await clock.advance(60_000);

  deepEqual(renewed, ["inline", "claim"]);
});
