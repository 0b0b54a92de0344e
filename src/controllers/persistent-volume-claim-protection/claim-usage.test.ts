import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaim, Pod, PodStatus, Volume } from "../../api/generated/core/v1.ts";
import { podUsesClaim } from "./claim-usage.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NAMED: Volume = { name: "v", persistentVolumeClaim: { claimName: "web-data" } };
const OWN: Volume = { name: "data", ephemeral: { volumeClaimTemplate: { spec: {} } } };
const GOING = "2026-01-01T00:00:00Z";

interface PodFields {
  readonly volume: Volume;
  readonly nodeName?: string;
  readonly phase?: NonNullable<PodStatus["phase"]>;
  /** Grace period in seconds, of a terminating one. */
  readonly grace?: number;
}

function aPod({ volume, nodeName = "n", phase = "Running", grace }: PodFields): Pod {
  const going = grace === undefined ? {} : { deletionTimestamp: GOING, deletionGracePeriodSeconds: grace };
  const metadata = { namespace: "default", name: "web", uid: "1", ...going };
  const spec = { nodeName, containers: [], volumes: [{ name: "other", emptyDir: {} }, volume] };
  return buildPod({ metadata, spec, status: { phase } });
}

function aClaim(ownerUid?: string): PersistentVolumeClaim {
  const owner = { apiVersion: "v1", kind: "Pod", name: "web", uid: ownerUid ?? "", controller: true };
  const metadata = { namespace: "default", name: "web-data", ...(ownerUid === undefined ? {} : { ownerReferences: [owner] }) };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata };
}

for (const [what, pod, claim, uses] of [
  ["that names it", aPod({ volume: NAMED }), aClaim(), true],
  ["that names another", aPod({ volume: { name: "v", persistentVolumeClaim: { claimName: "x" } } }), aClaim(), false],
  ["that has no node", aPod({ volume: NAMED, nodeName: "" }), aClaim(), false],
  ["that names it and has ended", aPod({ volume: NAMED, phase: "Succeeded" }), aClaim(), true],
  ["that names it and is terminating", aPod({ volume: NAMED, grace: 30 }), aClaim(), true],
  ["that names it and is shut down", aPod({ volume: NAMED, grace: 0 }), aClaim(), true],
  ["that it was made for", aPod({ volume: OWN }), aClaim("1"), true],
  ["that it was made for and has no node", aPod({ volume: OWN, nodeName: "" }), aClaim("1"), false],
  ["that it was made for and has ended", aPod({ volume: OWN, phase: "Failed" }), aClaim("1"), true],
  ["that it was made for and is terminating", aPod({ volume: OWN, grace: 30 }), aClaim("1"), true],
  ["that it was made for and is shut down", aPod({ volume: OWN, grace: 0 }), aClaim("1"), false],
  ["whose own has its name, though it is an earlier Pod's", aPod({ volume: OWN }), aClaim("0"), false],
  ["whose own has its name, though it has no owner", aPod({ volume: OWN }), aClaim(), false],
] as const) {
  test(`a Pod ${what} ${uses ? "uses" : "does not use"} a claim`, () => assert.equal(podUsesClaim(pod, claim), uses));
}
