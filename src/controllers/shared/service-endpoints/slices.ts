/**
 * EndpointSlices that a controller keeps for a Service: finding them, being woken by them, writing many at once.
 * Whose they are stands in a label, and only those with its own name in it are a controller's.
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
  /** The keys of the Services that a slice is of, or was. */
  readonly keys: KeysOf<EndpointSlice>;
  /** In the order of names, without those that are going: to write to them would be in vain. */
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

/** What the names of slices begin with. A name of the greatest length has no room for the dash. */
export function slicePrefix(name: string): string {
  return name.length < DNS_SUBDOMAIN_LENGTH_MAX ? `${name}-` : name;
}

export interface SlicePlan {
  readonly create: readonly Draft<EndpointSlice>[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

/** Told of what goes wrong, in a few words: "create EndpointSlice", "update web-x7x2p EndpointSlice". */
export type SliceFailure = (action: string, error: unknown) => void;

/** What is new comes before what is old goes, so that at no time an address is in no slice. Rejects with the first failure, after all. */
export async function writeSlices({ create, update, remove }: SlicePlan, { write }: Pass, failed?: SliceFailure): Promise<void> {
  const attempted = (action: string, run: () => Promise<unknown>): Promise<void> => attempt(action, failed, run);
  await together(create.map((slice) => attempted("create EndpointSlice", () => write.create(endpointSlices, slice))));
  await together(
    update.map((slice) => attempted(`update ${slice.metadata.name} EndpointSlice`, () => write.update(endpointSlices, slice))),
  );
  await together(remove.map((slice) => attempted(`delete ${slice.metadata.name} EndpointSlice`, () => removeSlice(slice, write))));
}

/** Only as it was when that was decided. */
async function removeSlice(slice: EndpointSlice, write: Pass["write"]): Promise<void> {
  const { uid = "", resourceVersion = "" } = slice.metadata;
  try {
    await write.delete(endpointSlices, keyOf(slice), { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

/** In a namespace that is going nothing can be made, and nothing need be. A conflict is news to nobody: the next pass decides again. */
async function attempt(action: string, failed: SliceFailure | undefined, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (isNamespaceTerminating(error)) return;
    if (!isReason(error, "Conflict")) failed?.(action, error);
    throw error;
  }
}
