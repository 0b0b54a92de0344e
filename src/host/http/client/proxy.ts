/**
 * Connects through a proxy: HTTP CONNECT and SOCKS 5 (RFC 1928, with a password after RFC 1929). The proxy resolves the server's name, as
 * with upstream's clients: often only the proxy can.
 */
import { isIPv4, isIPv6, type Socket } from "node:net";
import { formatAddress, type Address } from "./address.ts";

/** Resolves when the socket is connected to the server. */
export async function connectThroughProxy(socket: Socket, proxy: URL, to: Address): Promise<void> {
  if (proxy.protocol === "http:" || proxy.protocol === "https:") return connectByHttp(socket, proxy, to);
  return connectBySocks(socket, proxy, to);
}

/** Maximum length of a response head. */
const HEAD_BYTES_MAX = 64 * 1024;
const END_OF_HEAD = "\r\n\r\n";

async function connectByHttp(socket: Socket, proxy: URL, to: Address): Promise<void> {
  const target = formatAddress(to);
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (proxy.username !== "") lines.push(`Proxy-Authorization: Basic ${basic(proxy)}`);
  socket.write(`${lines.join("\r\n")}${END_OF_HEAD}`, "latin1");
  const head = await readUntil(socket, (bytes) => {
    const end = bytes.indexOf(END_OF_HEAD);
    if (end < 0 && bytes.length > HEAD_BYTES_MAX) throw new Error("the response is not HTTP");
    return end < 0 ? undefined : end + END_OF_HEAD.length;
  });
  const [status = ""] = head.toString("latin1").split("\r\n", 1);
  if (!/^HTTP\/1\.\d 200\b/.test(status)) throw new Error(`it responded ${JSON.stringify(status)}`);
}

function basic(proxy: URL): string {
  return Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`).toString("base64");
}

const SOCKS_VERSION = 5;
const NO_PASSWORD = 0;
const WITH_PASSWORD = 2;
const PASSWORD_VERSION = 1;
const CONNECT = 1;
const ADDRESS_TYPE = { ipv4: 1, name: 3, ipv6: 4 } as const;
const PORT_BYTES = 2;
/** RFC 1928, section 6. */
const SOCKS_REFUSALS: Readonly<Record<number, string>> = {
  1: "general SOCKS server failure",
  2: "connection not allowed by ruleset",
  3: "network unreachable",
  4: "host unreachable",
  5: "connection refused",
  6: "TTL expired",
  7: "command not supported",
  8: "address type not supported",
};

async function connectBySocks(socket: Socket, proxy: URL, to: Address): Promise<void> {
  const methods = proxy.username === "" ? [NO_PASSWORD] : [NO_PASSWORD, WITH_PASSWORD];
  socket.write(Uint8Array.of(SOCKS_VERSION, methods.length, ...methods));
  const [version, method] = await readExactly(socket, 2);
  if (version !== SOCKS_VERSION) throw new Error("it does not support SOCKS 5");
  if (method === WITH_PASSWORD && proxy.username !== "") await sayPassword(socket, proxy);
  else if (method !== NO_PASSWORD) throw new Error("it requires an unsupported authentication method");
  socket.write(Uint8Array.of(SOCKS_VERSION, CONNECT, 0, ...socksAddress(to.host), to.port >> 8, to.port & 0xff));
  const [, reply = 1, , type] = await readExactly(socket, 4);
  if (reply !== 0) throw new Error(SOCKS_REFUSALS[reply] ?? `it responded with code ${reply}`);
  // The proxy's outgoing address; unused.
  const length = type === ADDRESS_TYPE.ipv4 ? 4 : type === ADDRESS_TYPE.ipv6 ? 16 : ((await readExactly(socket, 1))[0] ?? 0);
  await readExactly(socket, length + PORT_BYTES);
}

async function sayPassword(socket: Socket, proxy: URL): Promise<void> {
  const [username, password] = [proxy.username, proxy.password].map((part) => Buffer.from(decodeURIComponent(part)).subarray(0, 255));
  if (username === undefined || password === undefined) return;
  socket.write(Uint8Array.of(PASSWORD_VERSION, username.length, ...username, password.length, ...password));
  const [, refused] = await readExactly(socket, 2);
  if (refused !== 0) throw new Error("it rejected the user name and password");
}

function socksAddress(host: string): readonly number[] {
  if (isIPv4(host)) return [ADDRESS_TYPE.ipv4, ...host.split(".").map(Number)];
  if (isIPv6(host)) return [ADDRESS_TYPE.ipv6, ...ipv6Bytes(host)];
  const name = Buffer.from(host);
  if (name.length > 255) throw new Error("the server name is too long for SOCKS");
  return [ADDRESS_TYPE.name, name.length, ...name];
}

function ipv6Bytes(host: string): readonly number[] {
  // The URL parser writes an IPv4 tail as two hexadecimal groups, so that only "::" needs to be expanded.
  const [before = "", after] = new URL(`http://[${host}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string | undefined) => (text === undefined || text === "" ? [] : text.split(":"));
  const [first, last] = [groups(before), groups(after)];
  const all = after === undefined ? first : [...first, ...Array<string>(8 - first.length - last.length).fill("0"), ...last];
  return all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}

function readExactly(socket: Socket, length: number): Promise<Buffer> {
  return readUntil(socket, (bytes) => (bytes.length < length ? undefined : length));
}

/**
 * `lengthOf` returns how many of the received bytes are needed, or undefined while that is unknown. The rest is pushed back into the
 * socket.
 */
function readUntil(socket: Socket, lengthOf: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const finish = (settle: () => void) => {
      socket.off("readable", read);
      socket.off("error", failed);
      socket.off("end", ended);
      socket.off("close", ended);
      settle();
    };
    const failed = (error: Error) => finish(() => reject(error));
    const ended = () => failed(new Error("it closed the connection"));
    const read = () => {
      try {
        for (let piece = socket.read() as Buffer | null; piece !== null; piece = socket.read() as Buffer | null) {
          bytes = Buffer.concat([bytes, piece]);
        }
        const length = lengthOf(bytes);
        if (length === undefined) return;
        if (bytes.length > length) socket.unshift(bytes.subarray(length));
        finish(() => resolve(bytes.subarray(0, length)));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    socket.on("readable", read);
    socket.on("error", failed);
    socket.on("end", ended);
    socket.on("close", ended);
    read();
  });
}
