/** Only volumes backed by API objects, ephemeral storage or a driver are allowed; other types let the pod choose the source itself. */
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

/** Validation allows one source per volume; a volume without any of these has a type that is not known here. */
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
