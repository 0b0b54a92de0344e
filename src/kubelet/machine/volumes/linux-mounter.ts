/** The mounter of volume plugins on this machine's file system and kernel. */
import type { Clock } from "../../../base/clock.ts";
import { wasWritten, writeAtomically } from "../../../host/files/atomic-directory.ts";
import { fileKind, giveToGroup, makeDirectories, touchFile } from "../../../host/files/shared-directory.ts";
import { beginsFileSystem } from "../../../host/kernel/mount-table.ts";
import { mountMemory, unmountUnder } from "../../../host/kernel/mounts.ts";
import type { Mounter } from "../../volumes/framework/mounter.ts";

export function linuxMounter(clock: Clock): Mounter {
  return {
    fileKind,
    makeDirectories,
    touchFile,
    isMountPoint: beginsFileSystem,
    mountTmpfs: mountMemory,
    unmount: unmountUnder,
    changeGroup: giveToGroup,
    hasFiles: wasWritten,
    async writeFiles(path, files, { beforePublish }) {
      await writeAtomically(path, files, { nowMs: clock.now(), beforeShown: beforePublish });
    },
  };
}
