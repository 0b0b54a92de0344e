/**
 * A gRPC server on a Unix socket: unary methods of bytes by path. Cancelled or expired calls abort the handler's signal. Messages are
 * bytes, as in channel.ts.
 */
import type { sendUnaryData, ServerUnaryCall } from "@grpc/grpc-js";
import type { Clock } from "../../base/clock.ts";
import { GrpcError } from "./channel.ts";

/** Rejecting with a GrpcError answers with its code and details; with any other error, with UNKNOWN. */
export type GrpcHandler = (request: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;

export interface GrpcServerOptions {
  /** Absolute path. Must not exist. */
  readonly socket: string;
  /** By path `/<package>.<Service>/<Method>`; every other path is UNIMPLEMENTED. */
  readonly methods: Readonly<Record<string, GrpcHandler>>;
  readonly clock: Clock;
}

/** Disposing ends all connections and removes the socket. */
export async function startGrpcServer({ socket, methods, clock }: GrpcServerOptions): Promise<AsyncDisposable> {
  const { default: grpc } = await clock.external(import("@grpc/grpc-js"));
  const server = new grpc.Server();
  for (const [path, handler] of Object.entries(methods)) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const definition = { path, requestStream: false, responseStream: false, ...BYTES } as const;
    server.addService({ [name]: definition }, { [name]: unary(handler, (code) => grpc.status[code]) });
  }
  await clock.external(
    new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error)));
    }),
  );
  return { [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

const same = (buffer: Buffer) => buffer;
const BYTES = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };

function unary(handler: GrpcHandler, codeOf: (code: GrpcError["code"]) => number) {
  return (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    const cancelled = new AbortController();
    call.on("cancelled", () => cancelled.abort());
    handler(call.request, cancelled.signal).then(
      (response) => answer(null, Buffer.from(response.buffer, response.byteOffset, response.byteLength)),
      (error: unknown) => {
        const { code, details } = error instanceof GrpcError ? error : { code: "UNKNOWN" as const, details: String(error) };
        answer({ code: codeOf(code), details });
      },
    );
  };
}
