/** Reclaims a volume that no claim needs any more, by its reclaim policy. */
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import type { PersistentVolume } from "../api/generated/core/v1.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Client } from "../client/client.ts";
import { LOCAL_PATH_FINALIZER } from "../api/local-path.ts";
import { reclaimOf } from "./persistent-volume.ts";
import type { OwnVolume, VolumePass } from "./volume-pass.ts";

/** "kept": it is in use, or its data is to be kept. */
export async function reclaim({ volume, storage, claim }: OwnVolume, { pass, volumes }: VolumePass): Promise<"done" | "kept"> {
  const decision = reclaimOf(volume, claim);
  if (decision === "wait") return "kept";
  if (decision === "retain") {
    await release(volume, pass.write);
    return "done";
  }
  const { name } = volume.metadata;
  const failed = (message: string): void => pass.events.record(volume, { type: "Warning", reason: "VolumeFailedDelete", message });
  if (storage === undefined) {
    failed(`path ${volume.spec?.local?.path ?? "(none)"} was not created by this provisioner; remove the data and the volume yourself`);
    return "kept";
  }
  if (await claimExists(volume, pass.write)) return "kept";
  try {
    await pass.clock.external(volumes.delete(name));
  } catch (error) {
    failed((error as Error).message);
    throw error;
  }
  await removeVolume(volume, pass.write);
  return "done";
}

/** The API server is asked, since the cache may be behind, and removed data does not come back. */
async function claimExists({ spec }: PersistentVolume, write: Client): Promise<boolean> {
  const { namespace, name = "", uid } = spec?.claimRef ?? {};
  if (name === "") return false;
  try {
    return (await write.get(persistentVolumeClaims, { namespace, name })).metadata.uid === uid;
  } catch (error) {
    if (isReason(error, "NotFound")) return false;
    throw error;
  }
}

async function removeVolume(volume: PersistentVolume, write: Client): Promise<void> {
  const { name, uid = "", deletionTimestamp } = volume.metadata;
  try {
    const terminating =
      deletionTimestamp === undefined ? await write.delete(persistentVolumes, { name }, { preconditions: { uid } }) : volume;
    if (terminating !== undefined) await release(terminating, write);
  } catch (error) {
    // Removed meanwhile, or another volume of this name.
    if (!isReason(error, "NotFound")) throw error;
  }
}

/** Removes the finalizer. */
async function release(volume: PersistentVolume, write: Client): Promise<void> {
  const { finalizers = [] } = volume.metadata;
  if (!finalizers.includes(LOCAL_PATH_FINALIZER)) return;
  const metadata = { ...volume.metadata, finalizers: finalizers.filter((finalizer) => finalizer !== LOCAL_PATH_FINALIZER) };
  try {
    await write.update(persistentVolumes, { ...volume, metadata });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
