/**
 * A minimal fake etcd for cases that no available etcd can produce: versions that must be rejected, members of another cluster, and the
 * progress notifications of newer versions. It reports its status and answers watches as the test directs; it stores nothing.
 */
import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { decode, encode, type Decoded, type Encodable } from "../../base/protobuf/messages.ts";
import { STATUS, WATCH } from "../../store/etcd/etcd-messages.ts";

export type FakeWatchRequest = Decoded<(typeof WATCH)["request"]>;

export interface FakeWatch {
  send(response: Encodable<(typeof WATCH)["response"]>): void;
  /** Resets this stream after what was sent. */
  break(): void;
  /** Ends the stream with a gRPC status. */
  refuse(code: number, message: string): void;
}

export interface FakeEtcdOptions {
  readonly version: string;
  /** Default: 1. */
  readonly clusterId?: bigint;
  /** Default: any free port. */
  readonly port?: number;
  /** Called for every message of every watch. */
  readonly onWatch?: (request: FakeWatchRequest, watch: FakeWatch) => void;
}

export interface FakeEtcd extends AsyncDisposable {
  readonly url: string;
  /** Changes the reported status; existing connections are reset. */
  become(options: FakeEtcdOptions): void;
  /** Number of status requests. */
  readonly statusCalls: number;
  /** Number of requests other than status and watch, which it never answers. */
  readonly otherCalls: number;
}

export async function startFakeEtcd(initial: FakeEtcdOptions): Promise<FakeEtcd> {
  let options = initial;
  let statusCalls = 0;
  let otherCalls = 0;
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => undefined);
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    if (headers[":path"] === STATUS.path) {
      statusCalls += 1;
      const header = { clusterId: options.clusterId ?? 1n, memberId: 1n, revision: 1 };
      respond(stream);
      stream.end(frame(encode(STATUS.response, { header, version: options.version, leader: 1n })));
    } else if (headers[":path"] === WATCH.path) {
      serveWatch(stream, (request, watch) => options.onWatch?.(request, watch));
    } else {
      otherCalls += 1;
    }
  });
  server.listen(initial.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const breakConnections = () => {
    for (const session of sessions) session.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get statusCalls() {
      return statusCalls;
    },
    get otherCalls() {
      return otherCalls;
    },
    become(next) {
      options = next;
      breakConnections();
    },
    async [Symbol.asyncDispose]() {
      breakConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function serveWatch(stream: ServerHttp2Stream, onWatch: NonNullable<FakeEtcdOptions["onWatch"]>): void {
  const trailers = respond(stream);
  const watch: FakeWatch = {
    send: (response) => void stream.write(frame(encode(WATCH.response, response))),
    break: () => void stream.write("", () => stream.close()),
    refuse: (code, message) => {
      Object.assign(trailers, { "grpc-status": String(code), "grpc-message": message });
      stream.end();
    },
  };
  let rest = Buffer.alloc(0);
  stream.on("data", (piece: Buffer) => {
    rest = Buffer.concat([rest, piece]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      onWatch(decode(WATCH.request, rest.subarray(5, end)), watch);
      rest = rest.subarray(end);
    }
  });
}

/** Begins a response, whose trailers may be changed until it ends. */
function respond(stream: ServerHttp2Stream): Record<string, string> {
  const trailers = { "grpc-status": "0" };
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers(trailers));
  return trailers;
}

/** A gRPC message: uncompressed flag, length, payload. */
function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
