/**
 * Determines whether a pod requests tokens for an audience: by a projected volume, or by a volume of a CSI driver that declares token
 * requests. In-tree volume types count as volumes of the CSI driver that they were migrated to.
 */
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../api/generated/core/v1.ts";
import type { CSIDriver } from "../../../api/generated/storage.k8s.io/v1.ts";
import { volumeClaimName } from "../../../api/core/v1/pod/references.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import type { Objects } from "../../framework/objects.ts";
import { missing } from "./errors.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";

const CLAIMS = { group: "", plural: "persistentvolumeclaims" };
const VOLUMES = { group: "", plural: "persistentvolumes" };
const DRIVERS = { group: "storage.k8s.io", plural: "csidrivers" };

const SUCCESSORS = [
  ["gcePersistentDisk", "pd.csi.storage.gke.io"],
  ["awsElasticBlockStore", "ebs.csi.aws.com"],
  ["cinder", "cinder.csi.openstack.org"],
  ["azureDisk", "disk.csi.azure.com"],
  ["azureFile", "file.csi.azure.com"],
  ["vsphereVolume", "csi.vsphere.vmware.com"],
  ["portworxVolume", "pxd.portworx.com"],
] as const;

export interface RequestedAudience {
  readonly found: boolean;
  /** Lookup error on the way, if the audience was not found. */
  readonly problem?: string;
}

export async function findRequestedAudience(objects: Objects, pod: Pod, audience: string): Promise<RequestedAudience> {
  const problems = new Set<string>();
  for (const volume of pod.spec?.volumes ?? []) {
    if (projects(volume, audience)) return { found: true };
    try {
      if (await driverAsks(objects, await driverOf(objects, pod, volume), audience)) return { found: true };
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
      problems.add(error.message);
    }
  }
  if (problems.size === 0) return { found: false };
  return { found: false, problem: joinedErrors(problems) };
}

function projects({ projected }: Volume, audience: string): boolean {
  return (projected?.sources ?? []).some(
    ({ serviceAccountToken }) => serviceAccountToken !== undefined && (serviceAccountToken.audience ?? "") === audience,
  );
}

async function driverAsks(objects: Objects, driver: string, audience: string): Promise<boolean> {
  if (driver === "") return false;
  const found = await objects.get<CSIDriver>(DRIVERS, { namespace: "", name: driver });
  if (found === undefined) throw missing({ singular: "csidriver", group: DRIVERS.group, name: driver });
  return (found.spec.tokenRequests ?? []).some((request) => request.audience === audience);
}

/** "" if none. */
async function driverOf(objects: Objects, { metadata }: Pod, volume: Volume): Promise<string> {
  const claim = volumeClaimName(metadata.name, volume);
  if (claim !== undefined) return driverOfClaim(objects, metadata.namespace ?? "", claim);
  return volume.csi?.driver ?? successorOf(volume);
}

async function driverOfClaim(objects: Objects, namespace: string, name: string): Promise<string> {
  const claim = await objects.get<PersistentVolumeClaim>(CLAIMS, { namespace, name });
  if (claim === undefined) throw missing({ singular: "persistentvolumeclaim", name });
  const volumeName = claim.spec?.volumeName ?? "";
  const volume = volumeName === "" ? undefined : await objects.get<PersistentVolume>(VOLUMES, { namespace: "", name: volumeName });
  if (volume === undefined) throw missing({ singular: "persistentvolume", name: volumeName });
  return volume.spec?.csi?.driver ?? successorOf(volume.spec ?? {});
}

function successorOf(source: Readonly<Partial<Record<(typeof SUCCESSORS)[number][0], unknown>>>): string {
  return SUCCESSORS.find(([member]) => source[member] !== undefined)?.[1] ?? "";
}
