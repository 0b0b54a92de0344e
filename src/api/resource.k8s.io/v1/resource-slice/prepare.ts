/**
 * The write strategy of a slice's devices: taints get a timestamp, and fields of feature gates that are off upstream are dropped (lists as
 * values of attributes, and node allocatable resources of a device).
 */
import { changedItems, withChanges } from "../../../changes.ts";
import type { Device, DeviceAttribute, DeviceTaint, ResourceSlice } from "../../../generated/resource.k8s.io/v1.ts";
import { without } from "../../../members.ts";
import { formatTime } from "../../../machinery/time.ts";

const LIST_VALUES = ["ints", "bools", "strings", "versions"] as const satisfies readonly (keyof DeviceAttribute)[];

export function prepareSlice(slice: ResourceSlice, { nowMs }: { readonly nowMs: number }): ResourceSlice {
  const prepare = (device: Device): Device => {
    const supported = without(withScalarAttributes(device), "nodeAllocatableResourceMappings");
    return withChanges(supported, { taints: changedItems(supported.taints, (taint) => dated(taint, nowMs)) });
  };
  return withChanges(slice, { spec: withChanges(slice.spec, { devices: changedItems(slice.spec.devices, prepare) }) });
}

function dated(taint: DeviceTaint, nowMs: number): DeviceTaint {
  return taint.timeAdded === undefined ? { ...taint, timeAdded: formatTime(nowMs) } : taint;
}

function withScalarAttributes(device: Device): Device {
  const entries = Object.entries(device.attributes ?? {});
  if (!entries.some(([, attribute]) => LIST_VALUES.some((name) => attribute[name] !== undefined))) return device;
  return { ...device, attributes: Object.fromEntries(entries.map(([name, attribute]) => [name, withoutLists(attribute)])) };
}

function withoutLists(attribute: DeviceAttribute): DeviceAttribute {
  return LIST_VALUES.reduce((scalar: DeviceAttribute, name) => without(scalar, name), attribute);
}
