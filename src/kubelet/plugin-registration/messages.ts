/** Messages of the kubelet's plugin registration (package pluginregistration, v1). Numbers and meanings are facts of the wire format. */
import { nothing } from "../../base/protobuf/shared-messages.ts";

const SERVICE = "/pluginregistration.Registration";

export const getInfo = {
  path: `${SERVICE}/GetInfo`,
  request: nothing,
  response: {
    name: "PluginInfo",
    fields: {
      type: { number: 1, type: "string" },
      name: { number: 2, type: "string" },
      endpoint: { number: 3, type: "string" },
      supportedVersions: { number: 4, type: "string", repeated: true },
    },
  },
} as const;

export const notifyRegistrationStatus = {
  path: `${SERVICE}/NotifyRegistrationStatus`,
  request: {
    name: "RegistrationStatus",
    fields: { pluginRegistered: { number: 1, type: "bool" }, error: { number: 2, type: "string" } },
  },
  response: nothing,
} as const;
