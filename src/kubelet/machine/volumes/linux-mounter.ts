/** The mounter of volume plugins on this machine's file system and kernel. */
import type { Clock } from "../../../base/clock.ts";
import { wasWritten, writeAtomically } from "../../../host/files/atomic-directory.ts";
import { readTextIfAny, removeFile } from "../../../host/files/files.ts";
import { writePrivateText } from "../../../host/files/private-files.ts";
import {
  fileKind,
  giveToGroup,
  makeDirectories,
  namesIn,
  placeLink,
  removeEmpty,
  rightsOf,
  touchFile,
} from "../../../host/files/shared-directory.ts";
import { fileSystemOn, format, growFileSystem, growUnmounted, repair } from "../../../host/kernel/file-systems.ts";
import { beginsFileSystem, isMountedAt } from "../../../host/kernel/mount-table.ts";
import { bindMount, mountDevice, mountMemory, unmountUnder } from "../../../host/kernel/mounts.ts";
import type { Mounter } from "../../volumes/framework/mounter.ts";

export function linuxMounter(clock: Clock): Mounter {
  return {
    fileKind,
    namesIn,
    makeDirectories,
    touchFile,
    rightsOf,
    removeEmpty,
    async readText(path) {
      const text = await readTextIfAny(path);
      return text === "" ? undefined : text;
    },
    writeText: writePrivateText,
    removeFile,
    link: placeLink,
    isMountPoint: beginsFileSystem,
    isMountedAt,
    bindMount,
    mountDevice,
    fileSystemOn,
    format,
    repair,
    growFileSystem,
    growUnmounted,
    mountTmpfs: mountMemory,
    unmount: unmountUnder,
    changeGroup: giveToGroup,
    hasFiles: wasWritten,
    async writeFiles(path, files, { beforePublish }) {
      await writeAtomically(path, files, { nowMs: clock.now(), beforeShown: beforePublish });
    },
  };
}
