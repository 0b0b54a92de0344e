/**
 * hostPath: a file or directory of the node itself, which must have the type that the volume demands. Nothing is kept for the Pod, so
 * there is nothing to unmount or to reconstruct. Paths below /var/lib/kubelet are those of the kubelet's own root directory. Messages are
 * upstream's.
 */
import type { HostPathVolumeSource } from "../../../api/generated/core/v1.ts";
import { isReadOnlyClaim } from "../framework/claimed-volume.ts";
import type { FileKind, Mounter } from "../framework/mounter.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { VolumePlugin } from "../framework/volume-plugin.ts";

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;

interface HostPathType {
  readonly kind: FileKind;
  readonly description: string;
  create?(path: string, mounter: Mounter): Promise<void>;
}

const DIRECTORY = { kind: "directory", description: "a directory" } as const;
const FILE = { kind: "file", description: "a file" } as const;

const TYPES: Readonly<Record<string, HostPathType>> = {
  Directory: DIRECTORY,
  DirectoryOrCreate: { ...DIRECTORY, create: (path, mounter) => mounter.makeDirectories(path, DIRECTORY_MODE) },
  File: FILE,
  FileOrCreate: { ...FILE, create: (path, mounter) => mounter.touchFile(path, FILE_MODE) },
  Socket: { kind: "socket", description: "a socket file" },
  CharDevice: { kind: "character-device", description: "a character device" },
  BlockDevice: { kind: "block-device", description: "a block device" },
};

export const hostPath: VolumePlugin<HostPathVolumeSource> = {
  source: "hostPath",
  persistentSource: "hostPath",
  directory: "kubernetes.io~host-path",

  async resolve({ volume, persistent }, node) {
    const source = persistent?.volume.spec?.hostPath ?? volume.hostPath ?? { path: "" };
    if (source.path.split("/").includes("..")) throw new VolumeError(`invalid HostPath \`${source.path}\`: must not contain '..'`);
    return { ...source, path: node.hostPath(source.path) };
  },

  async mount({ volume, isBlockDevice }, { path, type = "" }, { mounter }) {
    if (isBlockDevice) throw new VolumeError("volumes of type hostPath cannot be block devices: use a local volume");
    if (type !== "") await ensureType(path, type, mounter);
    return { path, isReadOnly: isReadOnlyClaim(volume), isExternal: true, isEphemeral: false };
  },

  unmount: () => Promise.resolve(),
  reconstruct: () => Promise.resolve(undefined),
};

async function ensureType(path: string, name: string, mounter: Mounter): Promise<void> {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (type === undefined) throw new VolumeError(`${name} is an invalid volume type`);
  if (type.create !== undefined && (await mounter.fileKind(path)) === undefined) await type.create(path, mounter);
  // Also after creation: a container that can write to the parent directory may have placed something else meanwhile.
  if ((await mounter.fileKind(path)) !== type.kind) throw new VolumeError(`hostPath type check failed: ${path} is not ${type.description}`);
}
