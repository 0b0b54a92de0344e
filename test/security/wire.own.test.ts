/**
 * Attacks at the connection level: certificates, front proxy headers, and request smuggling. Against a whole server behind real TLS. The
 * server's own rule is simple: anything but plain HTTP gets 400 and a closed connection.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { connect } from "node:tls";
import { PURPOSE } from "../../src/api/machinery/x509/extensions.ts";
import { makeTemporaryDirectory } from "../../src/host/files/private-files.ts";
import type { CertificateWithKey } from "../../src/pki/certificates.ts";
import { DEFAULT_IDENTITY_CONFIG } from "../../src/config/identity-config.ts";
import { startTestApiServer, type TestApiServer } from "../../src/testing/servers/api-server.ts";
import { testAuthority, testIntermediate } from "../../src/testing/fixtures/certificates.ts";
import { PLANTED } from "../../src/testing/fixtures/planted-secrets.ts";

const HOUR_MS = 3_600_000;
const SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

const clients = testAuthority("clients");
const proxies = testAuthority("proxies");
/** Another CA with the same name. */
const impostor = testAuthority("clients");

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let server: TestApiServer;

before(async () => {
  directory = await makeTemporaryDirectory("k8ts-wire-");
  const [clientCaFile, proxyCaFile] = [join(directory.path, "clients.crt"), join(directory.path, "proxies.crt")];
  await writeFile(clientCaFile, clients.certificate);
  await writeFile(proxyCaFile, proxies.certificate);
  const requestHeader = { ...DEFAULT_IDENTITY_CONFIG.requestHeader, clientCaFile: proxyCaFile };
  server = await startTestApiServer({ identity: { clientCaFile, requestHeader } });
});
after(async () => {
  await server.close();
  await directory[Symbol.asyncDispose]();
});

interface Asking {
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly shows?: CertificateWithKey;
}

const identityOf = ({ shows }: Asking) => (shows === undefined ? {} : { cert: shows.certificate, key: shows.key });

/** Returns the authenticated user over HTTP/1.1: "401", "anonymous", or the name. */
async function whoIs(asking: Asking): Promise<string> {
  const headers = { "content-type": "application/json", ...asking.headers };
  const asked = request(`${server.url}${SELF}`, {
    method: "POST",
    rejectUnauthorized: false,
    agent: false,
    headers,
    ...identityOf(asking),
  });
  asked.end("{}");
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return nameIn(answer.statusCode ?? 0, await text(answer));
}

function nameIn(code: number, body: string): string {
  if (code === 401) return "401";
  if (code === 403) return /User \\"system:anonymous\\"/.test(body) ? "anonymous" : "403";
  return (JSON.parse(body) as { status: { userInfo: { username: string } } }).status.userInfo.username;
}

/** The same over HTTP/2. */
async function whoIs2(asking: Asking): Promise<string> {
  const session = connectHttp2(server.url, { rejectUnauthorized: false, ...identityOf(asking) });
  try {
    const stream = session.request({ ":method": "POST", ":path": SELF, "content-type": "application/json", ...asking.headers });
    stream.end("{}");
    const [received] = (await once(stream, "response")) as [Record<string, string | number>];
    return nameIn(Number(received[":status"]), await text(stream));
  } finally {
    session.destroy();
  }
}

const now = Date.now();
const masters = { commonName: "root", organizations: ["system:masters"] };
const leaf = clients.sign("leaf", { isAuthority: false });
const signedByLeaf = testIntermediate("between", clients, {
  isAuthority: false,
  keyUsages: ["digitalSignature"],
  extendedKeyUsages: [PURPOSE.client],
});

describe("a certificate authenticates if the client CA signed it, for clients, and it is currently valid", () => {
  const ROWS: readonly (readonly [it: string, shows: CertificateWithKey | undefined, is: string])[] = [
    ["none", undefined, "anonymous"],
    ["a valid one", clients.sign("ann"), "ann"],
    ["of a CA that only has the same name", impostor.sign("ann", { subject: masters }), "401"],
    ["with the subject of a valid one, signed by another CA", impostor.sign("ann"), "401"],
    ["of the front proxy CA", proxies.sign("ann", { subject: masters }), "401"],
    ["of the front proxy CA, with the allowed name, without headers", proxies.sign("front-proxy-client"), "401"],
    ["that has expired", clients.sign("ann", { validity: { fromMs: now - 2 * HOUR_MS, toMs: now - HOUR_MS } }), "401"],
    ["that is not yet valid", clients.sign("ann", { validity: { fromMs: now + HOUR_MS, toMs: now + 2 * HOUR_MS } }), "401"],
    ["for servers only", clients.sign("ann", { extendedKeyUsages: [PURPOSE.server] }), "401"],
    ["without a user name", clients.sign(""), "401"],
    ["that is self-signed", chain(signedByLeaf.sign("ann", { subject: masters }), signedByLeaf), "401"],
    ["of a CA that is sent along", chain(impostor.sign("ann", { subject: masters }), impostor), "401"],
  ];
  for (const [it, shows, is] of ROWS) {
    test(it, async () => {
      const asking = shows === undefined ? {} : { shows };
      deepEqual([await whoIs(asking), await whoIs2(asking)], [is, is]);
    });
  }
  test("a certificate without its key is rejected by TLS", async () => {
    const shows = { certificate: clients.sign("ann").certificate, key: leaf.key };
    await whoIs({ shows }).then(
      () => ok(false, "The connection was accepted"),
      (error: Error) => match(error.message, /key values mismatch|alert/),
    );
  });
  test("a valid token does not make up for an invalid certificate, nor a certificate for an invalid token", async () => {
    const token = (value: string) => ({ authorization: `Bearer ${value}` });
    equal(await whoIs({ shows: clients.sign("ann"), headers: token("unknown") }), "ann");
    equal(await whoIs({ headers: token("unknown") }), "401");
    equal(await whoIs({ headers: token(PLANTED.staticToken) }), "planted");
  });
});

function chain(pair: CertificateWithKey, above: CertificateWithKey): CertificateWithKey {
  return { certificate: `${pair.certificate}${above.certificate}`, key: pair.key };
}

describe("front proxy headers are accepted from the front proxy only", () => {
  const proxy = proxies.sign("front-proxy-client");
  const says = { "x-remote-user": "bob", "x-remote-group": "team" };
  const ROWS: readonly (readonly [it: string, asking: Asking, is: string])[] = [
    ["the front proxy", { shows: proxy, headers: says }, "bob"],
    ["a client without a certificate", { headers: { ...says, "x-remote-group": "system:masters" } }, "anonymous"],
    ["a client whose certificate has the proxy's name", { shows: clients.sign("front-proxy-client"), headers: says }, "front-proxy-client"],
    ["a certificate of the front proxy CA with another name", { shows: proxies.sign("other"), headers: says }, "401"],
    [
      "a certificate of the front proxy CA with the name in another field",
      { shows: proxies.sign("other", { subject: { commonName: "other", organizations: ["front-proxy-client"] } }), headers: says },
      "401",
    ],
    ["a CA that only has the front proxy CA's name", { shows: testAuthority("proxies").sign("front-proxy-client"), headers: says }, "401"],
    [
      "an expired certificate of the proxy",
      { shows: proxies.sign("front-proxy-client", { validity: { fromMs: now - 2 * HOUR_MS, toMs: now - HOUR_MS } }), headers: says },
      "401",
    ],
    ["a client with a token", { headers: { ...says, authorization: `Bearer ${PLANTED.staticToken}` } }, "planted"],
    ["the proxy, with underscores in the headers", { shows: proxy, headers: { x_remote_user: "bob", "x-remote_user": "bob" } }, "401"],
    ["the proxy, with an empty user", { shows: proxy, headers: { "x-remote-user": "", "x-remote-group": "system:masters" } }, "401"],
    ["the proxy, with a group but no user", { shows: proxy, headers: { "x-remote-group": "system:masters" } }, "401"],
    ["the proxy, with two user headers, of which the first counts", { shows: proxy, headers: { "x-remote-user": ["bob", "root"] } }, "bob"],
    ["the proxy, with two users in one header, which are one", { shows: proxy, headers: { "x-remote-user": "bob, root" } }, "bob, root"],
  ];
  for (const [it, asking, is] of ROWS) test(it, async () => deepEqual([await whoIs(asking), await whoIs2(asking)], [is, is]));
  test("front proxy headers are case-insensitive", async () =>
    equal(await whoIs({ shows: proxy, headers: { "X-REMOTE-USER": "bob" } }), "bob"));
});

/** Returns everything that the server sends for these bytes, until it closes the connection or is silent. */
async function exchangeRaw(bytes: string, shows?: CertificateWithKey): Promise<string> {
  const { port } = new URL(server.url);
  const identity = shows === undefined ? {} : { cert: shows.certificate, key: shows.key };
  const socket = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false, ALPNProtocols: ["http/1.1"], ...identity });
  socket.on("error", () => {});
  await once(socket, "secureConnect");
  let received = "";
  socket.on("data", (piece: Buffer) => (received += String(piece)));
  // A server that closes before it has read our end resets the connection: what arrived until then counts.
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  // Half-closed, so that the server ends the connection after its response.
  socket.end(bytes, "latin1");
  await closed;
  return received;
}

function codesIn(answers: string): readonly string[] {
  return Array.from(answers.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, code]) => code ?? "");
}

describe("an ambiguous request (request smuggling) is rejected, and the connection is closed", () => {
  const HOST = "Host: x\r\n";
  /** The smuggled request. */
  const HIDDEN = `GET /healthz HTTP/1.1\r\n${HOST}\r\n`;
  const post = (headers: string, body: string) => `POST ${SELF} HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
  const ROWS: readonly (readonly [it: string, bytes: string])[] = [
    ["Content-Length and chunked", post(`Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${HIDDEN}`)],
    ["chunked and Content-Length", post(`Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`, `0\r\n\r\n${HIDDEN}`)],
    ["two Content-Length headers", post(`Content-Length: 0\r\nContent-Length: ${HIDDEN.length}\r\n`, HIDDEN)],
    ["two lengths in one Content-Length header", post(`Content-Length: 0, ${HIDDEN.length}\r\n`, HIDDEN)],
    ["a Content-Length with a sign", post(`Content-Length: +0\r\n`, HIDDEN)],
    ["a hexadecimal Content-Length", post(`Content-Length: 0x0\r\n`, HIDDEN)],
    ["an unknown transfer coding", post(`Transfer-Encoding: xchunked\r\n`, `0\r\n\r\n${HIDDEN}`)],
    ["chunked that is not the last coding", post(`Transfer-Encoding: chunked, identity\r\n`, `0\r\n\r\n${HIDDEN}`)],
    ["chunked after a vertical tab", post(`Transfer-Encoding: \x0bchunked\r\nContent-Length: 4\r\n`, `0\r\n\r\n${HIDDEN}`)],
    ["a header with a space before its colon", post(`Transfer-Encoding : chunked\r\nContent-Length: 4\r\n`, `0\r\n\r\n${HIDDEN}`)],
    ["a folded header", post(`X: a\r\n Transfer-Encoding: chunked\r\n`, "")],
    ["a header that begins with a space", post(` Transfer-Encoding: chunked\r\n`, "")],
    ["a header without a colon", post(`X-Remote-User\r\n`, "")],
    ["a NUL in a header", post(`X: a\0b\r\n`, "")],
    ["a line that ends with CR alone", post(`X: a\rX-Remote-User: root\r\n`, "")],
    ["a chunk size that is not a number", post(`Transfer-Encoding: chunked\r\n`, `zz\r\n\r\n${HIDDEN}`)],
    ["a chunk size that overflows", post(`Transfer-Encoding: chunked\r\n`, `ffffffffffffffffff\r\n${HIDDEN}`)],
    ["a path with a space in it", `GET /healthz HTTP/1.1 /metrics HTTP/1.1\r\n${HOST}\r\n`],
    ["an invalid method", `GET\t/healthz HTTP/1.1\r\n${HOST}\r\n`],
    ["an invalid version", `GET /healthz HTTP/9.9\r\n${HOST}\r\n`],
  ];
  for (const [it, bytes] of ROWS) {
    test(it, async () => {
      const codes = codesIn(await exchangeRaw(bytes));
      // The first part may have been answered; the smuggled part never is.
      ok(codes.length <= 1 && codes[0] !== "200" && codes[0] !== "201", codes.join(" "));
    });
  }
  test("the body of a request rejected before it is read is not taken for the next request", async () => {
    for (const method of ["GET", "DELETE", "POST", "OPTIONS"]) {
      const bytes = `${method} /metrics HTTP/1.1\r\n${HOST}Content-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`;
      deepEqual(codesIn(await exchangeRaw(bytes)), ["403"], method);
    }
  });
  test("trailers after a body are not taken for headers", async () => {
    const proxy = proxies.sign("front-proxy-client");
    const trailer = "2\r\n{}\r\n0\r\nX-Remote-User: root\r\nAuthorization: Bearer x\r\n\r\n";
    const answer = await exchangeRaw(
      post(`Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-Remote-User\r\n`, trailer),
      proxy,
    );
    deepEqual(codesIn(answer), ["401"]);
  });
  test("an absolute request target has the effect of its path only", async () => {
    for (const target of [
      "http://x/metrics",
      "https://127.0.0.1/metrics",
      "http://x/healthz/../metrics",
      "*",
      "metrics",
      "http:/metrics",
    ]) {
      const [code = ""] = codesIn(await exchangeRaw(`GET ${target} HTTP/1.1\r\n${HOST}\r\n`));
      ok(["400", "403", "404"].includes(code), `${target}: ${code}`);
    }
  });
});

describe("a connection with a rejected upgrade is closed (CVE-2018-1002105)", () => {
  const UPGRADE =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  const EXEC = "/api/v1/namespaces/default/pods/x/exec?command=sh";
  for (const [it, path, headers] of [
    ["exec in a Pod", EXEC, UPGRADE],
    ["exec in a Pod, by SPDY", EXEC, "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"],
    ["a proxy to a Pod", "/api/v1/namespaces/default/pods/x/proxy/", UPGRADE],
    ["an aggregated API", "/apis/metrics.k8s.io/v1beta1/pods", UPGRADE],
    ["a watch", "/api/v1/secrets?watch=1", UPGRADE],
    [
      "cleartext HTTP/2 (h2c)",
      "/healthz/ping",
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
    ],
  ] as const) {
    test(it, async () => {
      const second = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
      const answers = await exchangeRaw(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${second}`);
      deepEqual(codesIn(answers), ["403"]);
      match(answers, /connection: close/i);
    });
  }
  test("CONNECT opens no tunnel", async () => {
    const codes = codesIn(await exchangeRaw("CONNECT 127.0.0.1:2379 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n"));
    ok(!codes.includes("200"), codes.join(" "));
  });
});

test("a token in the WebSocket subprotocols authenticates, and is not returned", async () => {
  const token = Buffer.from(PLANTED.staticToken).toString("base64url");
  const upgrade = (shown: string) =>
    `GET /api/v1/secrets?watch=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.${shown}, v4.channel.k8s.io\r\n\r\n`;
  const answer = await exchangeRaw(upgrade(token));
  match(answer, /^HTTP\/1\.1 403[^]*User \\"planted\\"/);
  ok(!answer.includes(token) && !answer.includes(PLANTED.staticToken), answer);
  deepEqual(codesIn(await exchangeRaw(upgrade("dW5rbm93bg"))), ["401"]);
});

test("CVE-2019-11253: a YAML document that expands when parsed is rejected, and so is such a patch (CVE-2019-1002100)", async () => {
  const layers = Array.from(
    { length: 12 },
    (_, layer) =>
      `${"bcdefghijklmn"[layer]}: &${"bcdefghijklmn"[layer]} [${Array(9)
        .fill(layer === 0 ? "x" : `*${"bcdefghijklmn"[layer - 1]}`)
        .join(",")}]`,
  );
  const admin = clients.sign("root", { subject: masters });
  const ask = async (method: string, path: string, contentType: string, body: string) => {
    const asked = request(`${server.url}${path}`, {
      method,
      rejectUnauthorized: false,
      agent: false,
      headers: { "content-type": contentType },
      ...identityOf({ shows: admin }),
    });
    asked.end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  const maps = "/api/v1/namespaces/default/configmaps";
  equal(await ask("POST", maps, "application/yaml", layers.join("\n")), 400);
  equal(await ask("POST", maps, "application/json", JSON.stringify({ metadata: { name: "big" }, data: { a: "x".repeat(100_000) } })), 201);
  const copies = JSON.stringify(Array.from({ length: 9_000 }, (_, index) => ({ op: "copy", from: "/data", path: `/data/${index}` })));
  ok([400, 413, 422].includes((await ask("PATCH", `${maps}/big`, "application/json-patch+json", copies)) ?? 0));
});
