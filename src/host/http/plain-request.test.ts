import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { readPlainRequest } from "./plain-request.ts";

const PLAIN: readonly [text: string, method: string, target: string, headers: Readonly<Record<string, string>>, body: string][] = [
  ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET", "/", { host: "a" }, ""],
  [
    "GET /api/v1/pods?limit=5&labelSelector=a%3Db HTTP/1.1\r\nhost:a\r\n\r\n",
    "GET",
    "/api/v1/pods?limit=5&labelSelector=a%3Db",
    { host: "a" },
    "",
  ],
  [
    "DELETE /a HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\nX-Other: \r\n\r\n",
    "DELETE",
    "/a",
    { host: "a", connection: "Keep-Alive", "x-other": "" },
    "",
  ],
  ["POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n\r\n\n", "POST", "/a", { host: "a", "content-length": "3" }, "\r\n\n"],
  ["PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "PUT", "/a", { host: "a", "content-length": "0" }, ""],
];

for (const [text, method, target, headers, body] of PLAIN) {
  test(`readPlainRequest reads ${JSON.stringify(text)}`, () => {
    const request = readPlainRequest(Buffer.from(text, "latin1"));
    const read = Object.fromEntries((request?.names ?? []).map((name, index) => [name, request?.values[index]]));
    deepEqual([request?.method, request?.target, read], [method, target, headers]);
    equal(Buffer.from(request?.body ?? []).toString(), body);
  });
}

const OTHERS: Readonly<Record<string, string>> = {
  "nothing at all": "",
  "an incomplete head": "GET / HTTP/1.1\r\nHost: a\r\n",
  "an incomplete body": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na",
  "bytes after the body": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nab",
  "a body without a length": "POST / HTTP/1.1\r\nHost: a\r\n\r\na",
  "two requests": "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
  "HTTP/1.0": "GET / HTTP/1.0\r\nHost: a\r\n\r\n",
  "a request line without a version": "GET /\r\nHost: a\r\n\r\n",
  "a method that has no body in its response": "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
  "a method in lower case": "get / HTTP/1.1\r\nHost: a\r\n\r\n",
  "the absolute form": "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
  "a fragment": "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n",
  "two spaces in the request line": "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
  "no Host": "GET / HTTP/1.1\r\nAccept: a\r\n\r\n",
  "two Hosts": "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
  "a repeated header": "GET / HTTP/1.1\r\nHost: a\r\nImpersonate-Group: a\r\nimpersonate-group: b\r\n\r\n",
  "two lengths": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
  "a list of lengths": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na",
  "a signed length": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na",
  "a hexadecimal length": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na",
  "an empty length": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n",
  "a transfer coding": "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "a transfer coding beside a length": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "a space before the colon": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\na",
  "a folded line": "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n",
  "a line without a colon": "GET / HTTP/1.1\r\nHost: a\r\nA\r\nB: c\r\n\r\n",
  "an empty name": "GET / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n",
  "a line feed alone": "GET / HTTP/1.1\r\nHost: a\nA: b\r\n\r\n",
  "a carriage return alone": "GET / HTTP/1.1\r\nHost: a\rA: b\r\n\r\n",
  "line feeds only": "GET / HTTP/1.1\nHost: a\n\n",
  "a control character": "GET / HTTP/1.1\r\nHost: a\r\nA: \0\r\n\r\n",
  "a character beyond ASCII": "GET / HTTP/1.1\r\nHost: a\r\nA: \xe4\r\n\r\n",
  "space around a value": "GET / HTTP/1.1\r\nHost: a\r\nA:  b \r\n\r\n",
  "an expectation": "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
  "an upgrade": "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  "a last request": "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  "a long head": `GET / HTTP/1.1\r\nHost: a\r\nA: ${"b".repeat(9_000)}\r\n\r\n`,
  "many headers": `GET / HTTP/1.1\r\nHost: a\r\n${Array.from({ length: 40 }, (_, index) => `A${index}: b\r\n`).join("")}\r\n`,
};

for (const [what, text] of Object.entries(OTHERS)) {
  test(`readPlainRequest leaves ${what} to Node's parser`, () => {
    equal(readPlainRequest(Buffer.from(text, "latin1")), undefined);
  });
}
