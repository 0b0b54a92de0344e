/**
 * Watches whose clients never read, over HTTP/1.1 and over HTTP/2 with an unlimited window: their buffers must stay below the limit in
 * docs/apiserver.md, and the server must close them.
 */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Attack } from "./attack.ts";
import type { Target } from "./target.ts";

const SECOND_MS = 1_000;
const MEBIBYTE = 1024 * 1024;

const WATCHERS_PER_PROTOCOL = 500;
/** Each change is sent to every watcher: in total a hundred times the server's limit. */
const CHANGES = 60;
const OBJECT_BYTES = 400 * 1024;

/** Limit of the buffers of all clients (docs/apiserver.md), doubled for the overhead of Node and the C library. */
const GROWTH_BYTES_MAX = 256 * MEBIBYTE;

const PATH = "/api/v1/namespaces/default/configmaps";

export const stuckWatchers: Attack = {
  name: "stuck-watchers",
  tries: `opens ${2 * WATCHERS_PER_PROTOCOL} watches that never read; expected: they are closed, and the process grows by at most ${GROWTH_BYTES_MAX / MEBIBYTE} MiB`,
  timeoutMs: 300 * SECOND_MS,
  async run(target) {
    const sockets: TLSSocket[] = [];
    try {
      await change(target, 0);
      for (let count = 0; count < WATCHERS_PER_PROTOCOL; count++) sockets.push(await watchByHttp1(target));
      sockets.push(...(await watchByHttp2(target)));
      const before = await target.residentBytes();
      let highest = before;
      for (let count = 1; count <= CHANGES; count++) {
        await change(target, count);
        highest = Math.max(highest, await target.residentBytes());
      }
      const growth = highest - before;
      return {
        attempts: 2 * WATCHERS_PER_PROTOCOL,
        breaches: growth > GROWTH_BYTES_MAX ? [`the process grew by ${mebibytes(growth)}`] : [],
        measured: { before: mebibytes(before), highest: mebibytes(highest), after: mebibytes(await target.residentBytes()) },
      };
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
};

async function change(target: Target, count: number): Promise<void> {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "large" },
    data: { large: String(count % 10).repeat(OBJECT_BYTES) },
  };
  const { code, body } = await target.request({
    method: count === 0 ? "POST" : "PUT",
    path: count === 0 ? PATH : `${PATH}/large`,
    as: "administrator",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(object),
  });
  if (code >= 300) throw new Error(`The change returned ${code}: ${body.slice(0, 200)}`);
}

async function connectAs({ host, port, authority, administrator }: Target, protocol: string): Promise<TLSSocket> {
  const { certificate: cert, key } = administrator;
  const socket = connectTls({ host, port, ca: authority, cert, key, ALPNProtocols: [protocol] });
  socket.on("error", () => {});
  await once(socket, "secureConnect");
  return socket;
}

async function watchByHttp1(target: Target): Promise<TLSSocket> {
  const socket = await connectAs(target, "http/1.1");
  socket.pause();
  socket.write(`GET ${PATH}?watch=1 HTTP/1.1\r\nhost: ${target.host}\r\n\r\n`);
  return socket;
}

const STREAMS_PER_SESSION = 100;
const WINDOW_BYTES_MAX = 2 ** 31 - 1;

/** Streams with open windows, on connections that are no longer read. */
async function watchByHttp2(target: Target): Promise<readonly TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  for (let count = 0; count < WATCHERS_PER_PROTOCOL; count += STREAMS_PER_SESSION) {
    const socket = await connectAs(target, "h2");
    const session = connectHttp2(`https://${target.host}:${target.port}`, {
      createConnection: () => socket,
      settings: { initialWindowSize: WINDOW_BYTES_MAX },
    });
    session.on("error", () => {});
    session.setLocalWindowSize(WINDOW_BYTES_MAX);
    const begun = Array.from({ length: STREAMS_PER_SESSION }, () => {
      const stream = session.request({ ":path": `${PATH}?watch=1` });
      stream.on("error", () => {}).pause();
      return once(stream, "response");
    });
    await Promise.all(begun);
    stopReading(socket);
    sockets.push(socket);
  }
  return sockets;
}

/** Node's HTTP/2 reads for all its streams; only the underlying handle can be stopped. */
function stopReading(socket: TLSSocket): void {
  const handle: unknown = Reflect.get(socket, "_handle");
  (handle as { readStop(): void }).readStop();
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MEBIBYTE)} MiB`;
}
