/**
 * Unpacks the layers of an imported image into containerd's snapshots, as a pull does: a layer that other images have is unpacked only
 * once. Snapshots of an import that fails belong to its lease only, so containerd removes them.
 */
import { nothing } from "../../../base/protobuf/shared-messages.ts";
import { GrpcError } from "../../../host/grpc/channel.ts";
import { uniqueName } from "../../../host/unique-name.ts";
import { snapshotterAt } from "../../shared/snapshots.ts";
import * as messages from "./containerd-messages.ts";
import type { ContentStore } from "./content-store.ts";
import { NotAnImageError, type FoundImage, type FoundLayer } from "./image-contents.ts";
import { digestOf } from "./oci-image.ts";

/** A layer of some gigabytes on a slow disk. */
const APPLY_TIMEOUT_MS = 30 * 60_000;

export async function unpackLayers(store: ContentStore, { config, layers }: FoundImage): Promise<void> {
  const snapshotter = await snapshotterOf(store);
  if (snapshotter === undefined) return; // Another layout of its files than containerd's: the first container unpacks them.
  let chainId = "";
  for (const layer of layers) {
    const parent = chainId;
    chainId = nextChainId(parent, layer.diffId);
    if (!(await isUnpacked(store, { snapshotter, chainId }))) await unpackLayer(store, layer, { snapshotter, parent, chainId });
  }
  if (chainId !== "") await store.refer(config, { [`snapshot.${snapshotter}`]: chainId });
}

/** OCI's name of a layer on top of others. */
export function nextChainId(parent: string, diffId: string): string {
  return parent === "" ? diffId : digestOf(new TextEncoder().encode(`${parent} ${diffId}`));
}

async function snapshotterOf(store: ContentStore): Promise<string | undefined> {
  const { imageFilesystems } = await store.ask(`${messages.CRI_IMAGES}/ImageFsInfo`, {
    request: messages.IMAGE_FS_INFO_REQUEST,
    message: {},
    response: messages.IMAGE_FS_INFO_RESPONSE,
  });
  return snapshotterAt(imageFilesystems[0]?.id?.mountPoint ?? "");
}

interface Chain {
  readonly snapshotter: string;
  readonly chainId: string;
}

async function isUnpacked(store: ContentStore, { snapshotter, chainId: key }: Chain): Promise<boolean> {
  try {
    await store.ask(`${messages.SNAPSHOTS}/Stat`, {
      request: messages.SNAPSHOT_STAT,
      message: { snapshotter, key },
      response: nothing,
    });
    return true;
  } catch (error) {
    if (error instanceof GrpcError && error.code === "NOT_FOUND") return false;
    throw error;
  }
}

interface Place extends Chain {
  readonly parent: string;
}

async function unpackLayer(store: ContentStore, { diffId, ...diff }: FoundLayer, place: Place): Promise<void> {
  const { snapshotter, parent, chainId } = place;
  const key = uniqueName("k8ts-unpack-");
  const { mounts } = await store.ask(`${messages.SNAPSHOTS}/Prepare`, {
    request: messages.SNAPSHOT_PREPARE,
    message: { snapshotter, key, parent },
    response: messages.SNAPSHOT_PREPARED,
  });
  const { applied } = await store.ask(`${messages.DIFF}/Apply`, {
    request: messages.DIFF_APPLY,
    message: { diff, mounts },
    response: messages.DIFF_APPLIED,
    timeoutMs: APPLY_TIMEOUT_MS,
  });
  if (applied?.digest !== diffId) {
    throw new NotAnImageError(
      `Cannot use the image in the tar: its layer ${diff.digest} is damaged: it is ${applied?.digest ?? "not readable"}, ` +
        `and should be ${diffId}; save the image again`,
    );
  }
  await commit(store, { snapshotter, key, name: chainId });
}

/** Another client of containerd may have unpacked the same layer meanwhile. */
async function commit(store: ContentStore, message: { snapshotter: string; key: string; name: string }): Promise<void> {
  try {
    await store.ask(`${messages.SNAPSHOTS}/Commit`, { request: messages.SNAPSHOT_COMMIT, message, response: nothing });
  } catch (error) {
    if (!(error instanceof GrpcError) || error.code !== "ALREADY_EXISTS") throw error;
  }
}
