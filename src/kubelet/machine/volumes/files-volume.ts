/** configMap, secret, downwardAPI and projected volumes: their directory, and what is in it, brought to what it should be in one step. */
import type { Pod, Volume } from "../../../api/generated/core/v1.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { wasWritten, writeAtomically } from "../../../host/files/atomic-directory.ts";
import { joinPath } from "../../../host/files/files.ts";
import { makeDirectories } from "../../../host/files/shared-directory.ts";
import type { References } from "../../references/references.ts";
import type { ServiceAccountTokens } from "../../references/service-account-tokens.ts";
import { collectFiles } from "../../volumes/framework/collect-files.ts";
import { nestedMountPoints } from "../../volumes/framework/nested-mount-points.ts";
import { giveToPodGroup, makeMemoryPlaceIfAllowed, makePlace } from "./volume-place.ts";

const NESTED_MODE = 0o755;

export interface FileSources {
  readonly references: Pick<References, "configMap" | "secret">;
  readonly tokens: Pick<ServiceAccountTokens, "token">;
  readonly nodeAllocatable: ResourceList;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface FilesVolume {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly inMemory: boolean;
  readonly path: string;
}

/** Nothing is made before all that is to be in it is known. */
export async function setUpFilesVolume(filesVolume: FilesVolume, sources: FileSources, signal: AbortSignal): Promise<void> {
  const { pod, volume, inMemory, path } = filesVolume;
  const files = await collectFiles(volume, { ...sources, pod, signal });
  // Containers may have a place that was written to: another mounted over it would never be seen by them.
  if (!(await wasWritten(path))) {
    if (inMemory) await makeMemoryPlaceIfAllowed(path, { pod, nodeAllocatable: sources.nodeAllocatable }, sources.log);
    else await makePlace(path);
  }
  for (const nested of nestedMountPoints(pod, volume.name)) await makeDirectories(joinPath(path, nested), NESTED_MODE);
  const beforeShown = () => giveToPodGroup(path, pod, { isReadOnly: true });
  await writeAtomically(path, files, { nowMs: sources.clock.now(), beforeShown });
}
