/** Messages of the service csi.v1.Identity; see common.ts. */
import type { MessageDescriptor } from "../../base/protobuf/messages.ts";
import { nothing } from "../../base/protobuf/shared-messages.ts";
import type { CsiPluginCapability } from "../contract.ts";
import { boolValue, type CsiMethod } from "./common.ts";

const SERVICE = "/csi.v1.Identity";

const kind = { name: "Kind", fields: { type: { number: 1, type: "int32" } } } as const satisfies MessageDescriptor;

export const getPluginInfo = {
  path: `${SERVICE}/GetPluginInfo`,
  request: nothing,
  response: {
    name: "GetPluginInfoResponse",
    fields: { name: { number: 1, type: "string" }, vendorVersion: { number: 2, type: "string" } },
  },
} as const satisfies CsiMethod;

export const getPluginCapabilities = {
  path: `${SERVICE}/GetPluginCapabilities`,
  request: nothing,
  response: {
    name: "GetPluginCapabilitiesResponse",
    fields: {
      capabilities: {
        number: 1,
        type: { name: "PluginCapability", fields: { service: { number: 1, type: kind }, volumeExpansion: { number: 2, type: kind } } },
        repeated: true,
      },
    },
  },
} as const satisfies CsiMethod;

export const probe = {
  path: `${SERVICE}/Probe`,
  request: nothing,
  response: { name: "ProbeResponse", fields: { ready: { number: 1, type: boolValue } } },
} as const satisfies CsiMethod;

/** The index is the enum's number. */
export const SERVICE_CAPABILITIES: readonly (CsiPluginCapability | "UNKNOWN")[] = [
  "UNKNOWN",
  "CONTROLLER_SERVICE",
  "VOLUME_ACCESSIBILITY_CONSTRAINTS",
  "GROUP_CONTROLLER_SERVICE",
];
export const EXPANSION_CAPABILITIES: readonly (CsiPluginCapability | "UNKNOWN")[] = ["UNKNOWN", "ONLINE", "OFFLINE"];
