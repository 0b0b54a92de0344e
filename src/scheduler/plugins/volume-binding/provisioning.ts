/**
 * Whether a volume for an unbound claim could be provisioned for a node: the class has a provisioner, allows the node's topology, and, if
 * its CSI driver publishes capacities, one that the node can access is large enough.
 */
import { claimBytes, claimClass, NO_PROVISIONER } from "../../../api/core/v1/persistent-volume/binding.ts";
import { readQuantity } from "../../../api/core/v1/pod/resource-list.ts";
import type { PersistentVolumeClaim, TopologySelectorTerm } from "../../../api/generated/core/v1.ts";
import type { CSIStorageCapacity } from "../../../api/generated/storage.k8s.io/v1.ts";
import { scaledValue } from "../../../api/machinery/quantity.ts";
import { labelSelectorFromObject, type LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import { SelectorError } from "../../../api/machinery/selectors/label-requirement.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { StorageView } from "../../framework/storage-view.ts";

export type ProvisioningVerdict = "possible" | "impossible" | "too-little-space";

/** For one claim; called per node. */
export type Provisioning = (node: NodeInfo) => ProvisioningVerdict;

const IMPOSSIBLE: Provisioning = () => "impossible";

/** Throws if the claim has no class, or an unknown one. */
export function provisioningOf(claim: PersistentVolumeClaim, storage: StorageView): Provisioning {
  const className = claimClass(claim);
  const { namespace, name } = claim.metadata;
  if (className === "") throw new Error(`no class for claim ${JSON.stringify(`${namespace}/${name}`)}`);
  const storageClass = storage.storageClass(className);
  if (storageClass === undefined) throw new Error(`failed to find storage class ${JSON.stringify(className)}`);
  const { provisioner, allowedTopologies = [] } = storageClass;
  if (provisioner === "" || provisioner === NO_PROVISIONER) return IMPOSSIBLE;
  const capacities = largeEnough(claim, { className, provisioner, storage });
  return (node) => {
    if (!allows(allowedTopologies, node)) return "impossible";
    return capacities === undefined || capacities.hasAccess(node) ? "possible" : "too-little-space";
  };
}

/** The terms are ORed; none allows every node. */
function allows(terms: readonly TopologySelectorTerm[], { labels }: NodeInfo): boolean {
  if (terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions = [] }) => {
    if (matchLabelExpressions.length === 0) return false;
    return matchLabelExpressions.every(({ key, values }) => labels[key] !== undefined && values.includes(labels[key]));
  });
}

interface ProvisionedClass {
  readonly className: string;
  readonly provisioner: string;
  readonly storage: StorageView;
}

/** Undefined: the driver does not publish capacities, so that every node has enough. */
function largeEnough(
  claim: PersistentVolumeClaim,
  { className, provisioner, storage }: ProvisionedClass,
): AccessibleCapacities | undefined {
  if (claim.spec?.resources?.requests?.["storage"] === undefined) return undefined;
  if (storage.csiDriver(provisioner)?.spec.storageCapacity !== true) return undefined;
  const bytes = claimBytes(claim);
  const enough = storage.storageCapacities(className).filter((capacity) => (volumeLimit(capacity) ?? -1n) >= bytes);
  return new AccessibleCapacities(enough);
}

/** The greatest volume that can be created, in bytes; undefined if unknown. */
export function volumeLimit({ capacity, maximumVolumeSize }: CSIStorageCapacity): bigint | undefined {
  const limit = maximumVolumeSize ?? capacity;
  return limit === undefined ? undefined : scaledValue(readQuantity(limit), 0);
}

/** Segments of storage by the nodes that can access them. Drivers with local storage have one segment per node, found by its label. */
class AccessibleCapacities {
  readonly #byLabel = new Map<string, Set<string>>();
  readonly #selectors: LabelSelector[] = [];

  constructor(capacities: readonly CSIStorageCapacity[]) {
    for (const { nodeTopology } of capacities) {
      if (nodeTopology === undefined) continue;
      const [only, ...others] = Object.entries(nodeTopology.matchLabels ?? {});
      if (only !== undefined && others.length === 0 && (nodeTopology.matchExpressions ?? []).length === 0) this.#addLabel(only);
      else this.#addSelector(nodeTopology);
    }
  }

  #addLabel([key, value]: readonly [string, string]): void {
    const values = this.#byLabel.get(key) ?? new Set();
    this.#byLabel.set(key, values.add(value));
  }

  /** A malformed selector gives access to no node, as upstream. */
  #addSelector(topology: NonNullable<CSIStorageCapacity["nodeTopology"]>): void {
    try {
      this.#selectors.push(labelSelectorFromObject(topology));
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
    }
  }

  hasAccess({ labels }: NodeInfo): boolean {
    for (const [key, values] of this.#byLabel) {
      const value = labels[key];
      if (value !== undefined && values.has(value)) return true;
    }
    return this.#selectors.some((selector) => selector.matches(labels));
  }
}
