/**
 * EndpointSlices that a controller manages for a Service: lookup, key mapping, batched writes. The manager is in a label, and only slices
 * with the controller's own name are its.
 */
import { endpointSlices } from "../../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { EndpointSlice } from "../../../api/generated/discovery.k8s.io/v1.ts";
import { DNS_SUBDOMAIN_LENGTH_MAX } from "../../../api/machinery/names.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import type { Draft, ObjectKey } from "../../../client/client.ts";
import { defineIndex } from "../../../client/informer/index.ts";
import type { Reader } from "../../../client/informer/informer.ts";
import type { KeysOf, Pass, WorkKey } from "../../runtime/controller.ts";
import { keyOf, keyText } from "../../runtime/keys.ts";
import { isNamespaceTerminating } from "../../runtime/errors.ts";
import { together } from "../../runtime/concurrent-writes.ts";
import { SERVICE_NAME, SLICE_MANAGED_BY } from "./labels.ts";

export interface ManagedSlices {
  /** The keys of the Services of a slice, current and previous. */
  readonly keys: KeysOf<EndpointSlice>;
  /** Ordered by name, without terminating ones: writing to them would be futile. */
  of(service: ObjectKey, read: Reader): readonly EndpointSlice[];
}

/** `manager` is the value of the label. */
export function slicesManagedBy(manager: string): ManagedSlices {
  const index = defineIndex(endpointSlices, (slice) => {
    const key = serviceKey(slice, manager);
    return key === undefined ? [] : [keyText(key)];
  });
  return {
    *keys({ object, previous }) {
      const now = serviceKey(object, manager);
      const before = previous === undefined ? undefined : serviceKey(previous, manager);
      if (now !== undefined) yield now;
      if (before !== undefined && before.name !== now?.name) yield before;
    },
    of: ({ namespace, name }, read) =>
      read.indexed(index, keyText({ namespace, name })).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
  };
}

function serviceKey({ metadata: { namespace, labels } }: EndpointSlice, manager: string): WorkKey | undefined {
  const name = labels?.[SERVICE_NAME] ?? "";
  return labels?.[SLICE_MANAGED_BY] !== manager || name === "" ? undefined : { namespace, name };
}

/** Prefix of slice names. A name of maximum length has no room for the dash. */
export function slicePrefix(name: string): string {
  return name.length < DNS_SUBDOMAIN_LENGTH_MAX ? `${name}-` : name;
}

export interface SlicePlan {
  readonly create: readonly Draft<EndpointSlice>[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

/** Called on failures with a short description: "create EndpointSlice", "update web-x7x2p EndpointSlice". */
export type SliceFailure = (action: string, error: unknown) => void;

/** Creations come before deletions, so that an address is never in no slice. Rejects with the first failure, after all. */
export async function writeSlices({ create, update, remove }: SlicePlan, { write }: Pass, failed?: SliceFailure): Promise<void> {
  const attempted = (action: string, run: () => Promise<unknown>): Promise<void> => attempt(action, failed, run);
  await together(create.map((slice) => attempted("create EndpointSlice", () => write.create(endpointSlices, slice))));
  await together(
    update.map((slice) => attempted(`update ${slice.metadata.name} EndpointSlice`, () => write.update(endpointSlices, slice))),
  );
  await together(remove.map((slice) => attempted(`delete ${slice.metadata.name} EndpointSlice`, () => removeSlice(slice, write))));
}

/** With the version of the decision as precondition. */
async function removeSlice(slice: EndpointSlice, write: Pass["write"]): Promise<void> {
  const { uid = "", resourceVersion = "" } = slice.metadata;
  try {
    await write.delete(endpointSlices, keyOf(slice), { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

/**
 * In a terminating namespace nothing can be created, nor needs to be. A conflict is not reported: the next reconciliation decides again.
 */
async function attempt(action: string, failed: SliceFailure | undefined, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (isNamespaceTerminating(error)) return;
    if (!isReason(error, "Conflict")) failed?.(action, error);
    throw error;
  }
}
