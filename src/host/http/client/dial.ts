/**
 * Opens one connection to a server: TCP, through a proxy if configured, and TLS with a verified certificate. On any failure the error names
 * the peer and the cause, and nothing stays open.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, rootCertificates, type ConnectionOptions, type TLSSocket } from "node:tls";
import { anySignal } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { formatAddress, unbracketed, type Address } from "./address.ts";
import { ConnectTimeout, describeFailure, HttpClientError, type ClientTls } from "./contract.ts";
import { connectThroughProxy } from "./proxy.ts";

/** TCP keepalive: a dead machine is noticed by probes, the first after this long; Node sends ten more, a second apart. */
const TCP_KEEPALIVE_MS = 30_000;

export interface DialOptions extends Address {
  /** Absent: no TLS. */
  readonly tls?: ClientTls | undefined;
  /** Offered protocols, preferred first (ALPN). */
  readonly protocols: readonly string[];
  /** "http://user:password@proxy:3128", "https://…", "socks5://…". */
  readonly proxy?: string | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Cancels; nothing stays open. */
  readonly signal: AbortSignal;
}

/** Rejects with an HttpClientError: no request was sent yet. */
export async function dial(options: DialOptions): Promise<Socket | TLSSocket> {
  const { host, port, clock, timeoutMs, signal } = options;
  const opened: Socket[] = [];
  const timer = new AbortController();
  const tooLate = clock.sleep(timeoutMs, anySignal(timer.signal, signal)).then(() => {
    throw new ConnectTimeout(`timed out after ${timeoutMs / 1_000} s`);
  });
  try {
    return await Promise.race([open(options, opened), tooLate]);
  } catch (error) {
    for (const socket of opened) socket.destroy();
    throw new HttpClientError("unconnected", `Cannot connect to ${formatAddress({ host, port })}: ${describeFailure(error)}`, error);
  } finally {
    timer.abort();
    tooLate.catch(() => undefined);
  }
}

/** `opened`: sockets to close on failure; errors after the listeners are removed are ignored. */
async function open(options: DialOptions, opened: Socket[]): Promise<Socket> {
  const keep = <T extends Socket>(socket: T): T => {
    socket.on("error", () => undefined);
    opened.push(socket);
    return socket;
  };
  const raw = options.proxy === undefined ? keep(await tcp(options, opened)) : await throughProxy(options, keep, opened);
  if (options.tls === undefined) return raw;
  return secure(raw, options, options.tls, keep);
}

async function tcp({ host, port }: Address, opened: Socket[]): Promise<Socket> {
  const socket = connectTcp({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEPALIVE_MS });
  opened.push(socket);
  await happened(socket, "connect");
  return socket;
}

async function throughProxy(options: DialOptions, keep: <T extends Socket>(socket: T) => T, opened: Socket[]): Promise<Socket> {
  const proxy = new URL(options.proxy ?? "");
  const at = { host: unbracketed(proxy.hostname), port: Number(proxy.port) || PROXY_PORTS[proxy.protocol] || 80 };
  try {
    let socket = keep(await tcp(at, opened));
    if (proxy.protocol === "https:") socket = await secure(socket, { ...at, protocols: ["http/1.1"] }, proxyTls(options.tls), keep);
    await connectThroughProxy(socket, proxy, options);
    return socket;
  } catch (error) {
    // Without its password.
    throw new Error(`proxy ${proxy.protocol}//${proxy.host}: ${describeFailure(error)}`, { cause: error });
  }
}

const PROXY_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443, "socks5:": 1080, "socks5h:": 1080 };

/** A proxy may have a publicly trusted certificate, or one of the cluster's CA. The client certificate is not presented to it. */
function proxyTls({ authorities, isInsecure }: ClientTls = {}): ClientTls {
  return { isInsecure, ...(authorities === undefined ? {} : { authorities: [...rootCertificates, authorities].join("\n") }) };
}

async function secure(
  socket: Socket,
  { host, protocols }: Pick<DialOptions, "host" | "protocols">,
  tls: ClientTls,
  keep: <T extends Socket>(socket: T) => T,
): Promise<TLSSocket> {
  const name = tls.serverName ?? host;
  const options: ConnectionOptions = {
    socket,
    host,
    ALPNProtocols: [...protocols],
    rejectUnauthorized: tls.isInsecure !== true,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
    // SNI has only names: an address is none.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(tls.authorities === undefined ? {} : { ca: tls.authorities }),
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate, key: tls.key }),
  };
  const secured = keep(connectTls(options));
  await happened(secured, "secureConnect");
  return secured;
}

function happened(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the peer closed the connection")));
  });
}
