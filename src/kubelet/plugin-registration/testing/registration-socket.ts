/** The registration socket of a plugin: answers GetInfo, and records what the kubelet reports. What a node-driver-registrar does. */
import type { Clock } from "../../../base/clock.ts";
import { decode, encode } from "../../../base/protobuf/messages.ts";
import { startGrpcServer } from "../../../host/grpc/server.ts";
import { getInfo, notifyRegistrationStatus } from "../messages.ts";

export interface RegistrationSocketOptions {
  /** Absolute path in the kubelet's plugins_registry. */
  readonly socket: string;
  readonly info: { readonly type: string; readonly name: string; readonly endpoint: string; readonly supportedVersions: readonly string[] };
  readonly clock: Clock;
}

export interface RegistrationSocket extends AsyncDisposable {
  /** "registered", or the error, in the order of the kubelet's reports. */
  readonly reports: readonly string[];
}

/** Disposing removes the socket. */
export async function startRegistrationSocket({ socket, info, clock }: RegistrationSocketOptions): Promise<RegistrationSocket> {
  const reports: string[] = [];
  const server = await startGrpcServer({
    socket,
    clock,
    methods: {
      [getInfo.path]: async () => encode(getInfo.response, info),
      [notifyRegistrationStatus.path]: async (request) => {
        const { pluginRegistered, error } = decode(notifyRegistrationStatus.request, request);
        reports.push(pluginRegistered ? "registered" : error);
        return encode(notifyRegistrationStatus.response, {});
      },
    },
  });
  return { reports, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
