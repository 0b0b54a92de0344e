/** Proxies for tests: CONNECT over HTTP or HTTPS, and SOCKS 5, optionally with a password. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { testServing } from "../../../testing/fixtures/certificates.ts";

export interface ProxyServer extends AsyncDisposable {
  readonly port: number;
  /** PEM, of an https proxy. */
  readonly authority: string;
  /** "host:port" of every request. */
  readonly targets: readonly string[];
}

export interface ProxyOptions {
  readonly scheme: "http" | "https" | "socks5";
  /** "user:password" that it requires. */
  readonly login?: string;
}

export async function startProxyServer({ scheme, login }: ProxyOptions): Promise<ProxyServer> {
  const serving = testServing();
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const handle = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    const pass = scheme === "socks5" ? socks(socket, login) : httpConnect(socket, login);
    pass.then(
      (target) => {
        if (target !== undefined) targets.push(target);
      },
      () => socket.destroy(),
    );
  };
  const server: Server =
    scheme === "https" ? createTlsServer({ cert: serving.certificate, key: serving.key }, handle) : createServer(handle);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    authority: serving.authority,
    targets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function httpConnect(socket: Socket, login: string | undefined): Promise<string | undefined> {
  const [piece] = (await once(socket, "data")) as [Buffer];
  const head = piece.toString("latin1");
  const [, target = ""] = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head) ?? [];
  if (login !== undefined && !head.includes(`Proxy-Authorization: Basic ${Buffer.from(login).toString("base64")}\r\n`)) {
    socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    return undefined;
  }
  await join(socket, target, () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"));
  return target;
}

async function socks(socket: Socket, login: string | undefined): Promise<string | undefined> {
  const [greeting] = (await once(socket, "data")) as [Buffer];
  const method = login === undefined ? 0 : 2;
  if (!greeting.subarray(2).includes(method)) {
    socket.end(Uint8Array.of(5, 0xff));
    return undefined;
  }
  socket.write(Uint8Array.of(5, method));
  if (login !== undefined) {
    const [said] = (await once(socket, "data")) as [Buffer];
    const [user = "", password = ""] = login.split(":");
    const isRight = said.equals(Buffer.from([1, user.length, ...Buffer.from(user), password.length, ...Buffer.from(password)]));
    socket.write(Uint8Array.of(1, isRight ? 0 : 1));
    if (!isRight) return undefined;
  }
  const [asked] = (await once(socket, "data")) as [Buffer];
  const host = asked[3] === 1 ? asked.subarray(4, 8).join(".") : asked.subarray(5, -2).toString("latin1");
  const target = `${host}:${asked.readUInt16BE(asked.length - 2)}`;
  await join(socket, target, () => socket.write(Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)));
  return target;
}

/** Every name resolves to this machine. */
async function join(socket: Socket, target: string, ready: () => void): Promise<void> {
  const upstream = connect(Number(target.split(":").at(-1)), "127.0.0.1");
  upstream.on("error", () => socket.destroy());
  await once(upstream, "connect");
  ready();
  upstream.pipe(socket);
  socket.pipe(upstream);
  socket.once("close", () => upstream.destroy());
}
