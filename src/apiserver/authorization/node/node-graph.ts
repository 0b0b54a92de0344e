/**
 * The objects that a node needs: its pods, and through them Secrets, ConfigMaps, ServiceAccounts, claims, the volumes of the claims and the
 * Secrets of the volumes. A terminated pod counts until it is deleted, as upstream: its volumes are still to be unmounted. A mirror pod
 * gives no access, because nodes create them at will.
 */
import type { PersistentVolume, Pod } from "../../../api/generated/core/v1.ts";
import { mountSecrets } from "../../../api/core/v1/persistent-volume/secrets.ts";
import { configMapNames, isMirror, resourceClaimNames, secretNames, volumeClaimNames } from "../../../api/core/v1/pod/references.ts";
import { Reach } from "./reach.ts";

/** Referenced objects, keyed by the plural of their resource. */
export type RelatedKind =
  | "pods"
  | "secrets"
  | "configmaps"
  | "serviceaccounts"
  | "persistentvolumeclaims"
  | "persistentvolumes"
  | "resourceclaims"
  | "volumeattachments"
  | "resourceslices";

/** Resources whose objects name their node themselves. */
export type OwnedKind = "volumeattachments" | "resourceslices";

export interface RelatedName {
  readonly namespace: string;
  readonly name: string;
}

interface PlacedPod {
  readonly node: string;
  readonly things: readonly string[];
}

interface BoundVolume {
  readonly claim: string;
  readonly secrets: readonly string[];
}

export class NodeGraph {
  readonly #pods = new Map<string, PlacedPod>();
  readonly #volumes = new Map<string, BoundVolume>();
  /** Names of volumes. A claim has one, unless two controllers disagree. */
  readonly #volumesOfClaim = new Map<string, Set<string>>();
  readonly #owned: Readonly<Record<OwnedKind, Map<string, string>>> = { volumeattachments: new Map(), resourceslices: new Map() };
  readonly #reach = new Reach();

  /** True if the node may access this object. */
  reaches(node: string, kind: RelatedKind, { namespace, name }: RelatedName): boolean {
    switch (kind) {
      case "pods":
        return this.#pods.get(thing(kind, namespace, name))?.node === node;
      case "persistentvolumes": {
        const volume = this.#volumes.get(name);
        return volume !== undefined && namespace === "" && this.#reach.has(volume.claim, node);
      }
      case "volumeattachments":
      case "resourceslices":
        return namespace === "" && this.#owned[kind].get(name) === node;
      default:
        return this.#reach.has(thing(kind, namespace, name), node);
    }
  }

  putPod(pod: Pod): void {
    this.removePod(pod);
    const node = pod.spec?.nodeName ?? "";
    if (node === "") return;
    const things = isMirror(pod) ? [] : thingsOf(pod);
    this.#pods.set(keyOf(pod), { node, things });
    for (const used of things) this.#add(used, node);
  }

  removePod(pod: Pod): void {
    const key = keyOf(pod);
    const placed = this.#pods.get(key);
    if (placed === undefined) return;
    this.#pods.delete(key);
    for (const used of placed.things) this.#remove(used, placed.node);
  }

  clearPods(): void {
    for (const { node, things } of this.#pods.values()) for (const used of things) this.#remove(used, node);
    this.#pods.clear();
  }

  putVolume(volume: PersistentVolume): void {
    const { name } = volume.metadata;
    this.removeVolume(name);
    const { claimRef } = volume.spec ?? {};
    if (claimRef === undefined) return;
    const claim = thing("persistentvolumeclaims", claimRef.namespace ?? "", claimRef.name ?? "");
    const secrets = mountSecrets(volume).map((secret) => thing("secrets", secret.namespace, secret.name));
    this.#volumes.set(name, { claim, secrets });
    const others = this.#volumesOfClaim.get(claim);
    if (others === undefined) this.#volumesOfClaim.set(claim, new Set([name]));
    else others.add(name);
    for (const node of this.#reach.nodesOf(claim)) for (const secret of secrets) this.#reach.add(secret, node);
  }

  removeVolume(name: string): void {
    const volume = this.#volumes.get(name);
    if (volume === undefined) return;
    const { claim, secrets } = volume;
    this.#volumes.delete(name);
    const others = this.#volumesOfClaim.get(claim);
    others?.delete(name);
    if (others?.size === 0) this.#volumesOfClaim.delete(claim);
    for (const node of this.#reach.nodesOf(claim)) for (const secret of secrets) this.#reach.remove(secret, node);
  }

  clearVolumes(): void {
    for (const name of [...this.#volumes.keys()]) this.removeVolume(name);
  }

  /** `node` is "" if unbound. */
  putOwned(kind: OwnedKind, { name, node }: { readonly name: string; readonly node: string }): void {
    if (node === "") this.#owned[kind].delete(name);
    else this.#owned[kind].set(name, node);
  }

  removeOwned(kind: OwnedKind, name: string): void {
    this.#owned[kind].delete(name);
  }

  clearOwned(kind: OwnedKind): void {
    this.#owned[kind].clear();
  }

  /** Number of objects reachable from any node. */
  get size(): number {
    return this.#reach.size;
  }

  /** A claim includes its volumes and their Secrets. */
  #add(used: string, node: string): void {
    if (!this.#reach.add(used, node)) return;
    for (const secret of this.#secretsBehind(used)) this.#reach.add(secret, node);
  }

  #remove(used: string, node: string): void {
    if (!this.#reach.remove(used, node)) return;
    for (const secret of this.#secretsBehind(used)) this.#reach.remove(secret, node);
  }

  *#secretsBehind(claim: string): Iterable<string> {
    for (const name of this.#volumesOfClaim.get(claim) ?? []) yield* this.#volumes.get(name)?.secrets ?? [];
  }
}

function thingsOf(pod: Pod): readonly string[] {
  const { namespace = "" } = pod.metadata;
  const { serviceAccountName = "" } = pod.spec ?? {};
  const all = (kind: RelatedKind, names: Iterable<string>) => [...names].map((name) => thing(kind, namespace, name));
  return [
    ...(serviceAccountName === "" ? [] : [thing("serviceaccounts", namespace, serviceAccountName)]),
    ...(pod.spec === undefined ? [] : all("secrets", secretNames(pod.spec))),
    ...(pod.spec === undefined ? [] : all("configmaps", configMapNames(pod.spec))),
    ...all("persistentvolumeclaims", volumeClaimNames(pod)),
    ...all("resourceclaims", resourceClaimNames(pod)),
  ];
}

function keyOf({ metadata: { namespace = "", name } }: Pod): string {
  return thing("pods", namespace, name);
}

function thing(kind: RelatedKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
