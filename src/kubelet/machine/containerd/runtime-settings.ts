/**
 * Settings of a runtime that k8ts did not start: its CNI configuration directory, whether its network is ready, and its sandbox image. From
 * CRI Status, whose verbose info is specific to each runtime: missing settings are undefined.
 */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode, type MessageDescriptor } from "../../../base/protobuf/messages.ts";
import { openGrpcChannel } from "../../../host/grpc/channel.ts";
import { socketOf } from "./runtime-version.ts";

export interface RuntimeSettings {
  readonly cniConfigDirectory: string | undefined;
  readonly sandboxImage: string | undefined;
  /** Undefined: it is ready. */
  readonly networkTrouble: string | undefined;
}

const STATUS_REQUEST = { name: "StatusRequest", fields: { verbose: { number: 1, type: "bool" } } } as const satisfies MessageDescriptor;
const CONDITION = {
  name: "RuntimeCondition",
  fields: {
    type: { number: 1, type: "string" },
    status: { number: 2, type: "bool" },
    message: { number: 4, type: "string" },
  },
} as const satisfies MessageDescriptor;
const STATUS_RESPONSE = {
  name: "StatusResponse",
  fields: {
    status: { number: 1, type: { name: "RuntimeStatus", fields: { conditions: { number: 1, type: CONDITION, repeated: true } } } },
    info: {
      number: 2,
      repeated: true,
      type: { name: "InfoEntry", fields: { key: { number: 1, type: "string" }, value: { number: 2, type: "string" } } },
    },
  },
} as const satisfies MessageDescriptor;

const TIMEOUT_MS = 5_000;

export async function askSettings(endpoint: string, clock: Clock): Promise<RuntimeSettings> {
  const channel = await openGrpcChannel({ host: socketOf(endpoint), port: 0, clock });
  try {
    const answer = await channel.call("/runtime.v1.RuntimeService/Status", encode(STATUS_REQUEST, { verbose: true }), {
      timeoutMs: TIMEOUT_MS,
    });
    const { status, info } = decode(STATUS_RESPONSE, answer);
    const network = status?.conditions.find(({ type }) => type === "NetworkReady");
    const config = info.find(({ key }) => key === "config")?.value ?? "";
    return { ...settingsIn(config), networkTrouble: network?.status === false ? network.message : undefined };
  } finally {
    channel.close();
  }
}

/** Of containerd 1.6 and 2.x; undefined for others. */
export function settingsIn(config: string): Omit<RuntimeSettings, "networkTrouble"> {
  try {
    const { cni, sandboxImage } = JSON.parse(config) as { readonly cni?: { readonly confDir?: unknown }; readonly sandboxImage?: unknown };
    return { cniConfigDirectory: textOrNone(cni?.confDir), sandboxImage: textOrNone(sandboxImage) };
  } catch {
    return { cniConfigDirectory: undefined, sandboxImage: undefined };
  }
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
