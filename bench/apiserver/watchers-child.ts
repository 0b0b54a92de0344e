/**
 * Watchers and one writer. Each watcher searches its stream for the number of the event, which the writer put into an annotation together
 * with the send time; parsing 100,000 objects per second would measure this process and not the server.
 */
import type { ClientHttp2Session } from "node:http2";
import type { TcpSocketConnectOpts } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { serve } from "../serve.ts";
import { connectLikeGo } from "./http2-client.ts";
import { podManifest } from "./objects.ts";
import type { Protocol, StartedServer } from "./server-child.ts";

/** Watches that share one HTTP/2 connection: client-go has one connection per client, and a client has a few watches. */
const STREAMS_PER_SESSION = 50;

let writer: ClientHttp2Session | undefined;
let lateMs: number[] = [];
let outOfOrder = 0;
let received = 0;
let watching = 0;
let next = 0;

const MARK = Buffer.from("bench-event:");

const tasks = {
  async open({ protocol, watchers, ...server }: OpenOptions): Promise<void> {
    watching = watchers;
    writer = connectLikeGo(server);
    await send(writer, "POST", "/api/v1/namespaces/default/pods", podManifest("watched", "node-1"), "application/json");
    const path = "/api/v1/namespaces/default/pods?watch=1&resourceVersion=0";
    if (protocol === "http1") await Promise.all(Array.from({ length: watchers }, () => watchOverHttp1(server, path)));
    else await watchOverHttp2(server, path, watchers);
  },

  async run({ eventsPerSecond, durationMs }: { readonly eventsPerSecond: number; readonly durationMs: number }): Promise<Result> {
    lateMs = [];
    outOfOrder = 0;
    received = 0;
    const writesMs: number[] = [];
    const count = Math.round((eventsPerSecond * durationMs) / 1_000);
    const startedMs = performance.now();
    for (let index = 0; index < count; index++) {
      const dueMs = startedMs + (index * 1_000) / eventsPerSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const annotations = { "example.com/at": `bench-event:${next++}:${performance.now().toFixed(3)};` };
      const sentMs = performance.now();
      await send(
        writer as ClientHttp2Session,
        "PATCH",
        "/api/v1/namespaces/default/pods/watched",
        { metadata: { annotations } },
        "application/merge-patch+json",
      );
      writesMs.push(performance.now() - sentMs);
    }
    // Late events still count, up to a limit.
    for (let waited = 0; received < count * watching && waited < 5_000; waited += 50)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const deliveredPercent = ((received - outOfOrder) * 100) / (count * watching);
    return { deliveredPercent, p99Ms: p99(lateMs), writeP99Ms: p99(writesMs), tookMs: performance.now() - startedMs };
  },
};

interface OpenOptions extends StartedServer {
  readonly protocol: Protocol;
  readonly watchers: number;
}

interface Result {
  readonly deliveredPercent: number;
  /** Delays of events, from the start of the write. */
  readonly p99Ms: number;
  readonly writeP99Ms: number;
  readonly tookMs: number;
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

const LINE_FEED = 0x0a;

/** Finds the markers in the stream of one watcher; a marker may be split between chunks. Keeps no view of a chunk. */
function reader(): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let last = -1;
  return (chunk) => {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let at = bytes.indexOf(MARK, from); at !== -1; at = bytes.indexOf(MARK, from)) {
      const end = bytes.indexOf(";", at);
      if (end === -1) break;
      const [number = 0, sentMs = 0] = bytes
        .toString("latin1", at + MARK.length, end)
        .split(":")
        .map(Number);
      received += 1;
      if (number <= last) outOfOrder += 1;
      last = number;
      lateMs.push(performance.now() - sentMs);
      from = end;
    }
    // Events end with a line, which no marker crosses.
    if (bytes.at(-1) === LINE_FEED) rest = Buffer.alloc(0);
    else {
      const at = bytes.indexOf(MARK, from);
      rest = Buffer.from(at === -1 ? bytes.subarray(Math.max(from, bytes.length - MARK.length)) : bytes.subarray(at));
    }
  };
}

/** One buffer for what all sockets receive: a stream per socket would cost this process more than it costs the server. */
const RECEIVED = Buffer.alloc(64 * 1024);

async function watchOverHttp1({ port, credentials }: StartedServer, path: string): Promise<void> {
  let receive: (chunk: Buffer) => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    receive = () => {
      receive = reader();
      resolve();
    };
  });
  const callback = (length: number) => {
    receive(RECEIVED.subarray(0, length));
    return true;
  };
  const place = { host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"], ...credentials };
  // Node documents `onread` for TLS, too, which its types do not declare.
  const options: ConnectionOptions & Pick<TcpSocketConnectOpts, "onread"> = { ...place, onread: { buffer: RECEIVED, callback } };
  const socket = connectTls(options);
  await new Promise<void>((resolve, reject) => void socket.once("secureConnect", resolve).once("error", reject));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\naccept: application/json\r\n\r\n`);
  await started;
}

async function watchOverHttp2(server: StartedServer, path: string, watchers: number): Promise<void> {
  for (let opened = 0; opened < watchers; opened += STREAMS_PER_SESSION) {
    const session = connectLikeGo(server);
    const streams = Array.from({ length: Math.min(STREAMS_PER_SESSION, watchers - opened) }, async () => {
      const stream = session.request({ ":path": path, accept: "application/json" });
      stream.on("data", reader());
      await new Promise<void>((resolve, reject) => void stream.once("data", () => resolve()).once("error", reject));
    });
    await Promise.all(streams);
  }
}

function send(session: ClientHttp2Session, method: string, path: string, body: object, contentType: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": method, ":path": path, "content-type": contentType });
    stream.on("response", ({ ":status": code = 0 }) => (code < 300 ? undefined : reject(new Error(`The server returned ${code}`))));
    stream.on("data", () => undefined);
    stream.on("end", resolve);
    stream.on("error", reject);
    stream.end(JSON.stringify(body));
  });
}

export type WatchersTasks = typeof tasks;
serve(tasks);
