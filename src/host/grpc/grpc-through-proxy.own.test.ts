import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
} from "@grpc/grpc-js";
import { ProxyScene, refusingEndpoint } from "../http/proxy/testing/proxy-scene.ts";

const same = (buffer: Buffer) => buffer;
const serialization = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };

async function startGrpcServer(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = new Server();
  const unary = (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
    const text = call.request.toString();
    const trailers = new Metadata();
    trailers.set("x-trailer", "at the end");
    if (text === "fail") return answer({ code: status.ALREADY_EXISTS, details: "it exists", metadata: trailers });
    answer(null, Buffer.from(`hello ${text} on ${call.metadata.get("x-forwarded-host").join()}`), trailers);
  };
  const stream = (call: ServerDuplexStream<Buffer, Buffer>) => {
    call.on("data", (message: Buffer) => void call.write(Buffer.from(`got ${message.toString()}`)));
    call.on("end", () => call.end());
  };
  server.addService(
    {
      unary: { path: "/test.Test/Unary", requestStream: false, responseStream: false, ...serialization },
      stream: { path: "/test.Test/Stream", requestStream: true, responseStream: true, ...serialization },
    },
    { unary, stream },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

for (const [title, isTls] of [
  ["with TLS", true],
  ["without TLS", false],
] as const) {
  test(`gRPC calls, errors, trailers and streams in both directions go through the proxy ${title}`, async () => {
    await using server = await startGrpcServer();
    const endpoints = [await refusingEndpoint(), { address: "127.0.0.1", port: server.port }];
    await using scene = await ProxyScene.start({ endpoints, policy: { protocol: "h2c" } });
    const port = isTls ? scene.httpsPort : scene.httpPort;
    const client = new Client(
      `127.0.0.1:${port}`,
      isTls ? credentials.createSsl(Buffer.from(scene.certificate.authority)) : credentials.createInsecure(),
      // Node 26 refuses an address as the name in a TLS handshake.
      isTls ? { "grpc.ssl_target_name_override": "localhost" } : {},
    );
    try {
      await callAll(client, port);
    } finally {
      client.close();
    }
  });
}

async function callAll(client: Client, port: number): Promise<void> {
  const call = (text: string) =>
    new Promise<unknown>((resolve) => {
      const made = client.makeUnaryRequest("/test.Test/Unary", same, same, Buffer.from(text), (error, answer?: Buffer) =>
        resolve(
          error === null ? answer?.toString() : { code: error.code, details: error.details, trailer: error.metadata.get("x-trailer") },
        ),
      );
      made.on("status", () => {});
    });
  equal(await call("web"), `hello web on 127.0.0.1:${port}`);
  deepEqual(await call("fail"), { code: status.ALREADY_EXISTS, details: "it exists", trailer: ["at the end"] });

  const stream = client.makeBidiStreamRequest("/test.Test/Stream", same, same);
  for (const text of ["one", "two"]) {
    stream.write(Buffer.from(text));
    const [answer] = (await once(stream, "data")) as [Buffer];
    equal(answer.toString(), `got ${text}`);
  }
  stream.end();
  stream.resume();
  const [ended] = (await once(stream, "status")) as [{ readonly code: number }];
  equal(ended.code, status.OK);
}
