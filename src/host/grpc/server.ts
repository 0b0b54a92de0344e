/**
 * A gRPC server on a Unix socket: unary methods and streams of answers, of bytes, by path. Cancelled or expired calls abort the handler's signal. Messages are
 * bytes, as in channel.ts.
 */
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import type { Clock } from "../../base/clock.ts";
import { GrpcError } from "./channel.ts";

/** Rejecting with a GrpcError answers with its code and details; with any other error, with UNKNOWN. */
export type GrpcHandler = (request: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;

/** Sends any number of answers, until it resolves or the caller is gone. */
export type GrpcStreamHandler = (request: Uint8Array, send: (answer: Uint8Array) => void, signal: AbortSignal) => Promise<void>;

export interface GrpcServerOptions {
  /** Absolute path. Must not exist. */
  readonly socket: string;
  /** By path `/<package>.<Service>/<Method>`; every other path is UNIMPLEMENTED. */
  readonly methods: Readonly<Record<string, GrpcHandler>>;
  /** The same for methods that answer with a stream. */
  readonly streams?: Readonly<Record<string, GrpcStreamHandler>>;
  readonly clock: Clock;
}

/** Disposing ends all connections and removes the socket. */
export async function startGrpcServer({ socket, methods, streams = {}, clock }: GrpcServerOptions): Promise<AsyncDisposable> {
  const { default: grpc } = await clock.external(import("@grpc/grpc-js"));
  const server = new grpc.Server();
  for (const [path, handler] of Object.entries(methods)) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const definition = { path, requestStream: false, responseStream: false, ...BYTES } as const;
    server.addService({ [name]: definition }, { [name]: unary(handler, (code) => grpc.status[code]) });
  }
  for (const [path, handler] of Object.entries(streams)) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const definition = { path, requestStream: false, responseStream: true, ...BYTES } as const;
    server.addService({ [name]: definition }, { [name]: streaming(handler) });
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

function streaming(handler: GrpcStreamHandler) {
  return (call: ServerWritableStream<Buffer, Buffer>): void => {
    const cancelled = new AbortController();
    call.on("cancelled", () => cancelled.abort());
    const send = (answer: Uint8Array): void => void call.write(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength));
    handler(call.request, send, cancelled.signal).then(
      () => call.end(),
      (error: unknown) => call.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  };
}
