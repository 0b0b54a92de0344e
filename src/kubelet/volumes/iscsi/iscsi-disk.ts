/** A logical unit of an iSCSI target, as a volume names it, with its portals and CHAP secrets. Values and messages are upstream's. */
import type { ISCSIPersistentVolumeSource, ISCSIVolumeSource } from "../../../api/generated/core/v1.ts";
import { decodeText } from "../../../api/core/v1/secret/contents.ts";
import { isReadOnlyClaim } from "../framework/claimed-volume.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { PodVolume, VolumeReferences } from "../framework/volume-plugin.ts";

/** What is needed to detach it, too. */
export interface IscsiDisk {
  readonly volumeName: string;
  /** "10.0.0.1:3260", the first is the one that names the disk. */
  readonly portals: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  readonly iface: string;
  /** The configured interface that `iface` is a copy of, if the volume names its initiator. */
  readonly initIface: string;
  /** "": that of the node. */
  readonly initiatorName: string;
}

export interface ResolvedDisk {
  readonly disk: IscsiDisk;
  readonly fileSystem: string | undefined;
  readonly isReadOnly: boolean;
  readonly options: readonly string[];
  readonly usesDiscoveryChap: boolean;
  readonly usesSessionChap: boolean;
  /** By upstream's keys: "node.session.auth.username". */
  readonly secret: Readonly<Record<string, string>>;
}

const PORT_DEFAULT = 3260;
const IFACE_DEFAULT = "default";

export async function resolveDisk(volume: PodVolume, references: VolumeReferences, signal: AbortSignal): Promise<ResolvedDisk> {
  const source = iscsiSource(volume);
  if (source === undefined) throw new VolumeError("Spec does not reference an ISCSI volume type");
  const { chapAuthDiscovery = false, chapAuthSession = false } = source;
  return {
    disk: diskOf(source, volume.volumeName),
    fileSystem: source.fsType,
    isReadOnly: source.readOnly === true || isReadOnlyClaim(volume.volume),
    options: volume.persistent?.volume.spec?.mountOptions ?? [],
    usesDiscoveryChap: chapAuthDiscovery,
    usesSessionChap: chapAuthSession,
    secret: chapAuthDiscovery || chapAuthSession ? await secretOf(volume, source, references, signal) : {},
  };
}

export function iscsiSource({ volume, persistent }: PodVolume): ISCSIPersistentVolumeSource | ISCSIVolumeSource | undefined {
  return persistent === undefined ? volume.iscsi : persistent.volume.spec?.iscsi;
}

/** Part of the name of its directory. */
export function diskName({ portals, iqn, lun }: IscsiDisk): string {
  return `${targetPrefix(portals[0] ?? "", iqn)}lun-${lun}`;
}

/** Directories of all disks of a target at a portal begin with it. */
export function targetPrefix(portal: string, iqn: string): string {
  return `${portal}-${iqn}-`;
}

function diskOf(source: ISCSIPersistentVolumeSource | ISCSIVolumeSource, volumeName: string): IscsiDisk {
  const { targetPortal, portals = [], iqn, lun, iscsiInterface = "", initiatorName = "" } = source;
  const all = [...new Set([targetPortal, ...portals].map(withPort))];
  // These are parts of paths; the API server refuses others.
  if ([...all, iqn].some((part) => part.includes("/"))) throw new VolumeError(`invalid portal or target: ${all.join(", ")} ${iqn}`);
  const initIface = iscsiInterface === "" ? IFACE_DEFAULT : iscsiInterface;
  const iface = initiatorName === "" ? initIface : `${all[0] ?? ""}:${volumeName}`;
  if (iface.includes("/")) throw new VolumeError(`invalid iscsiInterface: ${iface}`);
  return { volumeName, portals: all, iqn, lun, iface, initIface, initiatorName };
}

function withPort(portal: string): string {
  return portal.includes(":") ? portal : `${portal}:${PORT_DEFAULT}`;
}

async function secretOf(
  { pod }: PodVolume,
  { secretRef }: ISCSIPersistentVolumeSource | ISCSIVolumeSource,
  references: VolumeReferences,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const name = secretRef?.name ?? "";
  const named = secretRef !== undefined && "namespace" in secretRef ? secretRef.namespace : undefined;
  const namespace = named === undefined || named === "" ? (pod.metadata.namespace ?? "") : named;
  if (name === "") throw new VolumeError("CHAP authentication needs a Secret, and the volume names none in secretRef");
  const secret = await references.secret(namespace, name, signal);
  if (secret === undefined) throw new VolumeError(`couldn't get secret ${namespace}/${name} error: secrets "${name}" not found`);
  return Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, value]) => [key, decodeText(value)]));
}
