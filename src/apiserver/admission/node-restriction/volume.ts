/**
 * A node may write only PersistentVolumes on its own disk that its provisioner creates (localpath/): for claims that the scheduler placed on
 * it, of type local, with affinity to this node alone. Later only capacity and finalizers change. So a node cannot direct Pods of other
 * nodes to a volume, nor name secrets that it could then read.
 */
import {
  HOSTNAME_LABEL,
  LOCAL_PATH_PROVISIONER,
  NODE_ANNOTATION,
  PROVISIONED_BY,
  SELECTED_NODE,
  volumeNameOf,
} from "../../../api/local-path.ts";
import { persistentVolumes } from "../../../api/core/v1/persistent-volume.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf } from "../../shared/admission-request.ts";
import { refuse } from "./errors.ts";

const CLAIMS = { group: "", plural: "persistentvolumeclaims" };
const NODES = { group: "", plural: "nodes" };

const NOT_OWN = "can only access local PersistentVolumes that the requesting node provisioned";

export async function checkVolume(request: AdmissionRequest, node: string, dependencies: AdmissionDependencies): Promise<void> {
  if (isCreateOf(request, persistentVolumes)) return checkCreate(request, request.object, { node, dependencies });
  const previous = request.oldObject as PersistentVolume | undefined;
  if (previous === undefined || !isProvisionedBy(previous, node)) refuse(request, NOT_OWN);
  if (request.operation === "DELETE") return;
  if (!isUpdateOf(request, persistentVolumes)) refuse(request, "may not update PersistentVolume status");
  else if (!deepEqual(fixedPartOf(request.object), fixedPartOf(request.oldObject)))
    refuse(request, "may only update capacity and finalizers of a PersistentVolume");
}

interface NodeAndDependencies {
  readonly node: string;
  readonly dependencies: AdmissionDependencies;
}

async function checkCreate(
  request: AdmissionRequest,
  volume: PersistentVolume,
  { node, dependencies }: NodeAndDependencies,
): Promise<void> {
  if (!isProvisionedBy(volume, node)) refuse(request, NOT_OWN);
  const { objects } = dependencies;
  const { namespace = "", name = "", uid = "" } = volume.spec?.claimRef ?? {};
  const claim = await objects.get<PersistentVolumeClaim>(CLAIMS, { namespace, name });
  const isPlaced = claim?.metadata.uid === uid && claim.metadata.annotations?.[SELECTED_NODE] === node;
  if (!isPlaced || volume.metadata.name !== volumeNameOf(uid)) {
    refuse(request, "can only create PersistentVolumes for claims that were placed on the requesting node");
  }
  const labels = (await objects.get<Node>(NODES, { namespace: "", name: node }))?.metadata.labels ?? {};
  if (!isOnlyOn(volume, labels[HOSTNAME_LABEL] ?? node))
    refuse(request, "can only create PersistentVolumes with affinity to the requesting node");
}

function isProvisionedBy({ metadata, spec }: PersistentVolume, node: string): boolean {
  const { annotations = {} } = metadata;
  const isLocal = spec?.local !== undefined && annotations[PROVISIONED_BY] === LOCAL_PATH_PROVISIONER;
  return isLocal && annotations[NODE_ANNOTATION] === node;
}

function isOnlyOn({ spec }: PersistentVolume, hostname: string): boolean {
  const matchExpressions = [{ key: HOSTNAME_LABEL, operator: "In", values: [hostname] }];
  return deepEqual(spec?.nodeAffinity, { required: { nodeSelectorTerms: [{ matchExpressions }] } });
}

function fixedPartOf({ metadata, spec, status }: PersistentVolume): unknown {
  const { resourceVersion: _version, managedFields: _managers, finalizers: _finalizers, ...fixed } = metadata;
  const { capacity: _capacity, ...rest } = spec ?? {};
  return [fixed, rest, status];
}
