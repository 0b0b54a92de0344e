/**
 * A node may update only the resize-related status fields of a claim; and, unlike upstream's, it may give back a claim that the scheduler
 * placed on it and that its provisioner cannot serve (localpath/).
 */
import { SELECTED_NODE } from "../../../api/local-path.ts";
import { persistentVolumeClaims } from "../../../api/core/v1/persistent-volume-claim.ts";
import type { PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import { isUpdateOf } from "../../shared/admission-request.ts";
import { refuse } from "./errors.ts";

export function checkClaim(request: AdmissionRequest, node: string): void {
  const { operation, subresource } = request;
  if (isUpdateOf(request, persistentVolumeClaims) && isGivenBack(request.object, request.oldObject, node)) return;
  if (subresource !== "status") refuse(request, "may only update PVC status");
  if (!isUpdateOf(request, persistentVolumeClaims, "status")) return refuse(request, `unexpected operation ${quoteGo(operation)}`);
  const changed = changedFields(request.object, request.oldObject);
  if (changed.length === 0) return;
  const why = `is not allowed to update fields other than status.quantity and status.conditions: ${changed.join(", ")}`;
  refuse(request, `node ${quoteGo(node)} ${why}`);
}

function isGivenBack(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, node: string): boolean {
  const { [SELECTED_NODE]: selected, ...annotations } = previous.metadata.annotations ?? {};
  return selected === node && changedFields(next, { ...previous, metadata: { ...previous.metadata, annotations } }).length === 0;
}

/** Upstream prints a diff of both objects; the names of the differing fields are enough. */
function changedFields(next: PersistentVolumeClaim, previous: PersistentVolumeClaim): readonly string[] {
  return [
    ...differing("metadata.", metadataOf(next), metadataOf(previous)),
    ...differing("spec.", next.spec ?? {}, previous.spec ?? {}),
    ...differing("status.", statusOf(next), statusOf(previous)),
  ];
}

/** Drops metadata that is irrelevant to the comparison: an update may omit resourceVersion. */
function metadataOf({ metadata }: PersistentVolumeClaim): object {
  const { resourceVersion: _resourceVersion, managedFields: _managedFields, ...rest } = metadata;
  return rest;
}

/** Drops the fields that a node may change. */
function statusOf({ status = {} }: PersistentVolumeClaim): object {
  const { capacity: _capacity, conditions: _conditions, allocatedResources: _resources, ...rest } = status;
  const { allocatedResourceStatuses: _statuses, ...fixed } = rest;
  return fixed;
}

function differing(prefix: string, next: object, previous: object): readonly string[] {
  const [a, b] = [new Map(Object.entries(next)), new Map(Object.entries(previous))];
  const names = [...new Set([...a.keys(), ...b.keys()])];
  return names.filter((name) => !deepEqual(presence(a.get(name)), presence(b.get(name)))).map((name) => prefix + name);
}

/** An empty map or list equals an absent one. */
function presence(value: unknown): unknown {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0 ? undefined : value;
}
