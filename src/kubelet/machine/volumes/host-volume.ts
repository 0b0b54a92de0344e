/** hostPath volumes: a place of the machine itself, which must be what the volume says that it is. The words are upstream's. */
import type { HostPathVolumeSource } from "../../../api/generated/core/v1.ts";
import { fileKind, makeDirectories, touchFile, type FileKind } from "../../../host/files/shared-directory.ts";
import { VolumeError } from "../../volumes/framework/volume-file.ts";

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;

interface Demand {
  readonly kind: FileKind;
  readonly words: string;
  make?(path: string): Promise<void>;
}

const DIRECTORY = { kind: "directory", words: "a directory" } as const;
const FILE = { kind: "file", words: "a file" } as const;

const DEMANDS: Readonly<Record<string, Demand>> = {
  Directory: DIRECTORY,
  DirectoryOrCreate: { ...DIRECTORY, make: (path) => makeDirectories(path, DIRECTORY_MODE) },
  File: FILE,
  FileOrCreate: { ...FILE, make: (path) => touchFile(path, FILE_MODE) },
  Socket: { kind: "socket", words: "a socket file" },
  CharDevice: { kind: "character-device", words: "a character device" },
  BlockDevice: { kind: "block-device", words: "a block device" },
};

export async function checkHostPath({ path, type = "" }: HostPathVolumeSource): Promise<void> {
  if (path.split("/").includes("..")) throw new VolumeError(`invalid HostPath \`${path}\`: must not contain '..'`);
  if (type === "") return;
  const demand = Object.hasOwn(DEMANDS, type) ? DEMANDS[type] : undefined;
  if (demand === undefined) throw new VolumeError(`${type} is an invalid volume type`);
  const kind = await fileKind(path);
  if (kind === undefined && demand.make !== undefined) await demand.make(path);
  else if (kind !== demand.kind) throw new VolumeError(`hostPath type check failed: ${path} is not ${demand.words}`);
}
