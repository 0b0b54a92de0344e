/** Volumes come from the cluster's own objects or from a driver; where others come from, the pod would say itself. */
import type { Volume } from "../../../../api/generated/core/v1.ts";
import { distinct, plural, quoted, type Check, type CheckedPod, type Violation } from "../check.ts";

export const restrictedVolumes: Check = {
  id: "restrictedVolumes",
  level: "restricted",
  versions: [{ since: 0, judge, replaces: "hostPathVolumes" }],
};

const ALLOWED = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
] as const;

/** Validation lets a volume have one of all kinds at most; whoever has another that is not here is of a kind yet to come. */
const FORBIDDEN = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "gitRepo",
  "nfs",
  "iscsi",
  "glusterfs",
  "rbd",
  "flexVolume",
  "cinder",
  "cephfs",
  "flocker",
  "fc",
  "azureFile",
  "vsphereVolume",
  "quobyte",
  "azureDisk",
  "photonPersistentDisk",
  "portworxVolume",
  "scaleIO",
  "storageos",
] as const;

function judge({ spec: { volumes = [] } }: CheckedPod): Violation | undefined {
  const bad = volumes.filter((volume) => !ALLOWED.some((type) => volume[type] !== undefined));
  if (bad.length === 0) return undefined;
  const types = distinct(bad.map(typeOf));
  const who = `${plural("volume", bad.length)} ${quoted(bad.map(({ name }) => name))} ${bad.length === 1 ? "uses" : "use"}`;
  return { reason: "restricted volume types", detail: `${who} ${plural("restricted volume type", types.length)} ${quoted(types)}` };
}

function typeOf(volume: Volume): string {
  return FORBIDDEN.find((type) => volume[type] !== undefined) ?? "unknown";
}
