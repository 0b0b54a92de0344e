/** Warnings about the volumes of a Pod: deprecated sources, and files that are written twice. */
import type { Warnings } from "../../../../machinery/findings.ts";
import { withoutTrailing } from "../../../../../base/text.ts";
import type { Volume, VolumeProjection } from "../../../../generated/core/v1.ts";
import { claimSpecWarnings } from "../../persistent-volume-claim/warnings.ts";

/** Deprecated or removed in-tree volume plugins. `as` is upstream's spelling of the field here. */
export const DEPRECATED_SOURCES = [
  { source: "photonPersistentDisk", message: "deprecated in v1.11, non-functional in v1.16+" },
  { source: "gitRepo", message: "deprecated in v1.11, and disabled by default in v1.33+" },
  { source: "scaleIO", message: "deprecated in v1.16, non-functional in v1.22+" },
  { source: "flocker", message: "deprecated in v1.22, non-functional in v1.25+" },
  { source: "storageos", as: "storageOS", message: "deprecated in v1.22, non-functional in v1.25+" },
  { source: "quobyte", message: "deprecated in v1.22, non-functional in v1.25+" },
  { source: "glusterfs", message: "deprecated in v1.25, non-functional in v1.26+" },
  { source: "cephfs", message: "deprecated in v1.28, non-functional in v1.31+" },
  { source: "rbd", message: "deprecated in v1.28, non-functional in v1.31+" },
] as const satisfies readonly { readonly source: keyof Volume; readonly as?: string; readonly message: string }[];

export function volumeWarnings(warnings: Warnings, volumes: readonly Volume[], at: string): void {
  for (const [index, volume] of volumes.entries()) {
    const here = `${at}[${index}]`;
    if (!isUsual(volume)) {
      for (const deprecated of DEPRECATED_SOURCES) {
        if (volume[deprecated.source] === undefined) continue;
        warnings.add(`${here}.${"as" in deprecated ? deprecated.as : deprecated.source}: ${deprecated.message}`);
      }
    }
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
    if (claim === undefined) continue;
    warnings.addAll(claimSpecWarnings(claim, `${here}.ephemeral.volumeClaimTemplate.spec`));
  }
  for (const volume of volumes) overlapWarnings(warnings, volume);
}

/** Fast path: volumes of nearly all Pods, none of which is deprecated. */
function isUsual({ configMap, secret, emptyDir, projected, hostPath, persistentVolumeClaim }: Volume): boolean {
  return (configMap ?? secret ?? emptyDir ?? projected ?? hostPath ?? persistentVolumeClaim) !== undefined;
}

interface WrittenPath {
  readonly path: string;
  /** Its source; "" where there is only one source. */
  readonly source: string;
}

/** Files of one volume that overwrite each other, or are nested below one another. */
function overlapWarnings(warnings: Warnings, { name, configMap, secret, downwardAPI, projected }: Volume): void {
  const title = (kind: string): string => `volume ${JSON.stringify(name)} (${kind}): overlapping paths`;
  if (configMap?.items !== undefined) {
    overlaps(warnings, pathsOf(configMap.items, ""), () => title(`ConfigMap ${JSON.stringify(configMap.name ?? "")}`));
  }
  if (secret?.items !== undefined) {
    overlaps(warnings, pathsOf(secret.items, ""), () => title(`Secret ${JSON.stringify(secret.secretName ?? "")}`));
  }
  if (downwardAPI?.items !== undefined) overlaps(warnings, pathsOf(downwardAPI.items, ""), () => title("DownwardAPI"));
  if (projected?.sources === undefined) return;
  for (const source of projected.sources) {
    if (Object.keys(source).length === 0) warnings.add(`volume ${JSON.stringify(name)} (Projected) has no sources provided`);
  }
  overlaps(warnings, projected.sources.flatMap(pathsOfProjection), () => title("Projected"));
}

function pathsOf(items: readonly { readonly path: string }[], source: string): readonly WrittenPath[] {
  return items.map(({ path }) => ({ path, source }));
}

function pathsOfProjection(projection: VolumeProjection): readonly WrittenPath[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  if (configMap?.items !== undefined) return pathsOf(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? "")}`);
  if (secret?.items !== undefined) return pathsOf(secret.items, `Secret ${JSON.stringify(secret.name ?? "")}`);
  if (downwardAPI?.items !== undefined) return pathsOf(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken !== undefined) return [{ path: serviceAccountToken.path, source: "ServiceAccountToken" }];
  if (clusterTrustBundle !== undefined) {
    const { name, signerName = "", path } = clusterTrustBundle;
    return [{ path, source: `ClusterTrustBundle ${JSON.stringify(name ?? signerName)}` }];
  }
  const { certificateChainPath = "", keyPath = "", credentialBundlePath = "" } = podCertificate ?? {};
  return [
    { path: certificateChainPath, source: "PodCertificate chain" },
    { path: keyPath, source: "PodCertificate key" },
    { path: credentialBundlePath, source: "PodCertificate credential bundle" },
  ];
}

/** Up to this many paths are compared with each other; more would take quadratic time. */
const COMPARED_MAX = 8;

/** Fast path: a few different names in one directory, as in nearly all volumes, cannot overlap. */
function areDistinctNames(paths: readonly WrittenPath[]): boolean {
  if (paths.length > COMPARED_MAX) return false;
  return paths.every(({ path }, index) => !path.includes("/") && paths.findIndex((other) => other.path === path) === index);
}

function overlaps(warnings: Warnings, paths: readonly WrittenPath[], titleOf: () => string): void {
  if (areDistinctNames(paths)) return;
  const title = titleOf();
  const root = new PathTree();
  for (const { path, source } of paths) {
    const written = { path: withoutTrailing(path, "/"), source };
    if (written.path === "") continue;
    for (const other of PathTree.add(root, written)) warnings.add(`${title}: ${shown(written)} with ${shown(other)}`);
  }
}

/** A tree of paths, so that only overlapping ones are compared: a client controls how many there are. */
class PathTree {
  readonly #children = new Map<string, PathTree>();
  /** In insertion order: the paths that end here, and those that end here or below. */
  readonly #here: PlacedPath[] = [];
  readonly #below: PlacedPath[] = [];
  #count = 0;

  /** Returns earlier ones that overlap, in insertion order. */
  static add(root: PathTree, written: WrittenPath): readonly WrittenPath[] {
    const added = { written, place: root.#count++ };
    const overlapping: PlacedPath[] = [];
    let node = root;
    const passed: PathTree[] = [];
    for (const step of written.path.split("/")) {
      for (const other of node.#here) overlapping.push(other);
      node = node.#child(step);
      passed.push(node);
    }
    for (const other of node.#below) overlapping.push(other);
    for (const each of passed) each.#below.push(added);
    node.#here.push(added);
    return overlapping.sort((a, b) => a.place - b.place).map((other) => other.written);
  }

  #child(step: string): PathTree {
    let child = this.#children.get(step);
    if (child === undefined) this.#children.set(step, (child = new PathTree()));
    return child;
  }
}

interface PlacedPath {
  readonly written: WrittenPath;
  readonly place: number;
}

function shown({ path, source }: WrittenPath): string {
  return source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
}
