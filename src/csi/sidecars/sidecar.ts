/** What the built-in sidecars have in common: which objects are theirs, and the driver behind a name. */
import { BUILT_IN_SIDECARS } from "../../api/csi-sidecars.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { decodeText } from "../../api/core/v1/secret/contents.ts";
import type { PersistentVolume, SecretReference } from "../../api/generated/core/v1.ts";
import type { StorageClass } from "../../api/generated/storage.k8s.io/v1.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import type { Client } from "../../client/client.ts";
import { after, onChange, type Outcome, type Pass } from "../../controllers/runtime/controller.ts";
import { chooseNode, hasDriver, type NodeWish } from "./choose-node.ts";
import type { CsiAccessMode, CsiControllerDriver, CsiMap, CsiVolumeCapability } from "../contract.ts";

/** Controller services of drivers on the nodes of the cluster. */
export interface ControllerDrivers {
  /** Of the instance on this node; undefined if this process cannot call it now. */
  controller(name: string, nodeName: string): CsiControllerDriver | undefined;
  /** Calls back when a driver appears or disappears on the node of this process; those of other nodes are announced by their CSINodes. */
  listen(listener: () => void): Disposable;
}

/** Delay of a volume whose driver is on no node that is ready. Nodes announce their return in many ways; one more look is enough. */
const NO_NODE_RETRY_MS = 15_000;

/** The instance to call for a volume, or the outcome of the pass if none can be called now. */
export function driverFor(wish: NodeWish, { read }: Pick<Pass, "read">, drivers: ControllerDrivers): CsiControllerDriver | Outcome {
  const csiNodeList = read.list(csiNodes);
  const node = chooseNode(wish, { nodes: read.list(nodes), csiNodes: csiNodeList });
  if (node === undefined) return csiNodeList.some((one) => hasDriver(one, wish.driver)) ? after(NO_NODE_RETRY_MS) : onChange;
  return drivers.controller(wish.driver, node) ?? onChange;
}

export function isOutcome(found: CsiControllerDriver | Outcome): found is Outcome {
  return "again" in found;
}

export function usesBuiltInSidecars({ metadata, parameters }: StorageClass): boolean {
  return metadata.annotations?.[BUILT_IN_SIDECARS] === "true" || parameters?.[BUILT_IN_SIDECARS] === "true";
}

/** The provisioner marks its volumes, so that they are attached and deleted when their class is gone. */
export function isBuiltIn({ metadata }: PersistentVolume): boolean {
  return metadata.annotations?.[BUILT_IN_SIDECARS] === "true";
}

const ACCESS_MODES: Readonly<Record<string, CsiAccessMode>> = {
  ReadWriteOnce: "SINGLE_NODE_WRITER",
  ReadWriteOncePod: "SINGLE_NODE_WRITER",
  ReadOnlyMany: "MULTI_NODE_READER_ONLY",
  ReadWriteMany: "MULTI_NODE_MULTI_WRITER",
};

export interface CapabilityFields {
  readonly volumeMode: string | undefined;
  readonly accessModes: readonly string[] | undefined;
  readonly fsType: string;
  readonly mountFlags: readonly string[];
}

/** One per access mode, as the official provisioner sends them. */
export function capabilitiesOf({ volumeMode, accessModes = [], fsType, mountFlags }: CapabilityFields): readonly CsiVolumeCapability[] {
  const access = volumeMode === "Block" ? "block" : { fsType, mountFlags, volumeMountGroup: "" };
  return accessModes.map((mode) => ({ access, accessMode: ACCESS_MODES[mode] ?? "SINGLE_NODE_WRITER" }));
}

/** The capability of a volume that exists. */
export function capabilityOfVolume({ spec }: PersistentVolume): CsiVolumeCapability {
  const { volumeMode, accessModes, mountOptions = [], csi } = spec ?? {};
  const [first] = capabilitiesOf({ volumeMode, accessModes, fsType: csi?.fsType ?? "", mountFlags: mountOptions });
  return first ?? { access: { fsType: "", mountFlags: [], volumeMountGroup: "" }, accessMode: "SINGLE_NODE_WRITER" };
}

/** Contents of a Secret as credentials; none without a reference. Rejects if it does not exist. */
export async function credentials(ref: SecretReference | undefined, client: Client): Promise<CsiMap> {
  if (ref?.name === undefined) return {};
  const { data = {} } = await client.get(secrets, { namespace: ref.namespace, name: ref.name });
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decodeText(value)]));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
