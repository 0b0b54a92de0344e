/**
 * Headers after thousands of others, written directly to TLS sockets: either none is dropped or the whole request is rejected; and
 * malformed HTTP requests.
 */
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Attack } from "./attack.ts";
import type { Target } from "./target.ts";

const SECOND_MS = 1_000;

const COUNTS = [0, 500, 998, 999, 1_000, 1_001, 1_999, 2_000, 2_001, 5_000, 10_000, 20_000, 60_000];

const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const BODY = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });

/** Requests that upstream's server rejects with 400. */
const MALFORMED = [
  "GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "GET /version HTTP/1.1\r\n\r\n",
  "GET /version\r\n\r\n",
  "GET /version HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\nHost: b\r\n\r\n",
  "GET /version HTTP/1.1\r\nHost : a\r\n\r\n",
  "POST /version HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /version HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12",
];

export const manyHeaders: Attack = {
  name: "many-headers",
  tries:
    "hides Impersonate-User or Authorization after thousands of headers, and sends malformed requests; expected: no header is dropped, 400 or 431",
  timeoutMs: 120 * SECOND_MS,
  async run(target) {
    const breaches: string[] = [];
    for (const count of COUNTS) {
      const impersonated = await send(target, "administrator", request(count, "Impersonate-User: mallory"));
      if (!isRefused(impersonated) && !impersonated.includes('"username":"mallory"'))
        breaches.push(`Impersonate-User after ${count} headers: ${line(impersonated)}`);
      const authorized = await send(target, "anonymous", request(count, `Authorization: Bearer ${target.tokenOf("alice")}`));
      if (!isRefused(authorized) && !authorized.includes('"username":"alice"'))
        breaches.push(`Authorization after ${count} headers: ${line(authorized)}`);
    }
    for (const text of MALFORMED) {
      const answer = await send(target, "anonymous", text);
      if (!answer.startsWith("HTTP/1.1 400 ")) breaches.push(`${JSON.stringify(text)}: ${line(answer)}`);
    }
    const plain = await untilEnd(connectTcp(target.port, target.host), "GET /version HTTP/1.1\r\nHost: a\r\n\r\n");
    if (!plain.startsWith("HTTP/1.0 400 Bad Request\r\n")) breaches.push(`plain HTTP: ${line(plain)}`);
    return { attempts: 2 * COUNTS.length + MALFORMED.length + 1, breaches };
  },
};

function request(count: number, last: string): string {
  const lines = [
    `POST ${WHO} HTTP/1.1`,
    "Host: a",
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${BODY.length}`,
    ...Array<string>(count).fill("a:b"),
    last,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${BODY}`;
}

/** 431, or a connection reset before the response could be read. */
function isRefused(answer: string): boolean {
  return answer === "" || answer.startsWith("HTTP/1.1 431 ");
}

async function send({ host, port, authority, administrator }: Target, as: "administrator" | "anonymous", text: string): Promise<string> {
  const certificate = as === "administrator" ? { cert: administrator.certificate, key: administrator.key } : {};
  const socket = connectTls({ host, port, ca: authority, ALPNProtocols: ["http/1.1"], ...certificate });
  await once(socket, "secureConnect");
  return untilEnd(socket, text);
}

async function untilEnd(socket: Socket, text: string): Promise<string> {
  socket.on("error", () => {});
  socket.write(text);
  let answer = "";
  try {
    for await (const piece of socket) answer += String(piece);
  } catch {
    // Reset: data received before counts.
  }
  return answer;
}

function line(answer: string): string {
  return answer.split("\r\n", 1)[0] ?? "";
}
