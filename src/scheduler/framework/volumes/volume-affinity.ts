/** Node affinity of volumes. Compiled once per version of a volume: every node is matched against it. */
import { NodeTerms } from "../../../api/core/v1/node/node-selector.ts";
import { translatedAffinity } from "../../../api/core/v1/persistent-volume/csi-migration.ts";
import type { Node, NodeSelector, PersistentVolume } from "../../../api/generated/core/v1.ts";
import type { CSINode } from "../../../api/generated/storage.k8s.io/v1.ts";
import { isMigratedOn, isTranslated, migratedVolume } from "./migration.ts";

interface Compiled {
  readonly terms: NodeTerms | undefined;
  /** On nodes where the volume's plugin is migrated. */
  readonly migrated: { readonly plugin: string; readonly terms: NodeTerms | undefined } | undefined;
}

const compiledOf = new WeakMap<PersistentVolume, Compiled>();

/** Whether the volume is accessible from the node. `csiNodeOf` is called for volumes of migrated plugins only. */
export function isAccessibleFrom(volume: PersistentVolume, node: Node, csiNodeOf: (nodeName: string) => CSINode | undefined): boolean {
  const { terms, migrated } = compiled(volume);
  if (migrated !== undefined && isMigratedOn(csiNodeOf(node.metadata.name), migrated.plugin)) return migrated.terms?.matches(node) ?? true;
  return terms === undefined || terms.matches(node);
}

/** A label requirement that every accessible node meets, if the affinity has one that names values: makes volumes findable by it. */
export function decisiveLabel({ spec }: PersistentVolume): { readonly key: string; readonly values: readonly string[] } | undefined {
  const [only, ...others] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  if (only === undefined || others.length > 0) return undefined;
  const found = only.matchExpressions?.find(({ operator, values }) => operator === "In" && values !== undefined);
  return found === undefined ? undefined : { key: found.key, values: found.values ?? [] };
}

function compiled(volume: PersistentVolume): Compiled {
  const known = compiledOf.get(volume);
  if (known !== undefined) return known;
  const inTree = migratedVolume(volume);
  const made: Compiled = {
    terms: termsOf(volume.spec?.nodeAffinity?.required),
    migrated:
      inTree === undefined || !isTranslated(inTree.plugin)
        ? undefined
        : { plugin: inTree.plugin, terms: termsOf(translatedAffinity(volume, inTree.plugin)) },
  };
  compiledOf.set(volume, made);
  return made;
}

function termsOf(selector: NodeSelector | undefined): NodeTerms | undefined {
  return selector === undefined ? undefined : new NodeTerms(selector);
}
