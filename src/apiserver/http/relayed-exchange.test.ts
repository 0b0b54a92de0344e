import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import type { FramedRelay, FramedRequest } from "../../host/relay/framed-requests.ts";
import type { Relay, RelayedRequest } from "../../host/relay/relay-client.ts";
import { ConnectionReset, type Exchange, type ExchangeRequest } from "../framework/exchange.ts";
import { relayedExchange } from "./relayed-exchange.ts";

const CERTIFICATE = { pem: "PEM", authorities: ["client-ca"] };

function requestOf(
  more: Partial<ExchangeRequest> & { readonly headers?: Readonly<Record<string, readonly string[]>> } = {},
): ExchangeRequest {
  const { headers = {}, ...given } = more;
  return {
    ...{ method: "GET", path: "/api/v1/pods", query: "", peer: { address: "192.0.2.7", isLoopback: false, certificate: CERTIFICATE } },
    header: (name) => headers[name]?.join(", "),
    headerValues: (name) => headers[name] ?? [],
    headerNames: () => Object.keys(headers),
    body: () => new TextEncoder().encode("{}"),
    signal: new AbortController().signal,
    cancel: () => undefined,
    ...given,
  };
}

function relayThatRecords(sent: RelayedRequest[]): Relay {
  return {
    send: async (request) => {
      sent.push(request);
      return { code: 201, headers: { "content-type": "text/plain" }, body: new TextEncoder().encode("the main process over HTTP") };
    },
    openTunnel: async (request) => {
      sent.push(request);
      return { code: 400, headers: {}, body: new Uint8Array() };
    },
    [Symbol.dispose]: () => undefined,
  };
}

function writesThatRecord(sent: FramedRequest[]): FramedRelay {
  return {
    send: async (request) => {
      sent.push(request);
      return { code: 201, headers: {}, body: new TextEncoder().encode("the main process by message") };
    },
  };
}

const local =
  (code: number): Exchange =>
  async () => ({ code, headers: {}, body: [] });

function exchangeWith({
  access,
  local: own = local(200),
  sent = [],
  written = [],
  ...given
}: {
  readonly access: "read" | "write" | undefined;
  readonly local?: Exchange;
  readonly sent?: RelayedRequest[];
  readonly written?: FramedRequest[];
  readonly relay?: Relay;
}): Exchange {
  const { relay = relayThatRecords(sent) } = given;
  return relayedExchange({ local: own, storedAccess: () => access, writes: writesThatRecord(written), relay, log: silentLogger });
}

function textOf(body: readonly Uint8Array[]): string {
  return Buffer.concat(body).toString();
}

for (const { it, access, localCode, method = "GET", by } of [
  { it: "a read that succeeds", access: "read", localCode: 200, by: "the worker" },
  { it: "a read that is rejected for overload", access: "read", localCode: 429, by: "the worker" },
  { it: "a read of what does not exist", access: "read", localCode: 404, by: "the main process over HTTP" },
  { it: "a read that is forbidden", access: "read", localCode: 403, by: "the main process over HTTP" },
  { it: "a read that fails", access: "read", localCode: 500, by: "the main process over HTTP" },
  { it: "a document", access: undefined, localCode: 200, by: "the main process over HTTP" },
  { it: "a review", access: undefined, localCode: 200, method: "POST", by: "the main process over HTTP" },
  { it: "a write", access: "write", localCode: 200, method: "POST", by: "the main process by message" },
] as const) {
  test(`relayed exchange: ${it} is answered by ${by}`, async () => {
    const answer = await exchangeWith({ access, local: local(localCode) })(requestOf({ method }));
    deepEqual("body" in answer ? [answer.code, textOf(answer.body)] : undefined, by === "the worker" ? [localCode, ""] : [201, by]);
  });
}

const HEADERS = {
  ":authority": ["x"],
  "accept-encoding": ["gzip"],
  connection: ["keep-alive"],
  "content-type": ["application/json"],
  "impersonate-group": ["a", "b"],
  "x-k8ts-relayed-peer": ["forged"],
};
const RELAYED_HEADERS = { "content-type": "application/json", "impersonate-group": ["a", "b"] };
const PEER = { address: "192.0.2.7", isLoopback: false, certificate: CERTIFICATE };

test("relayed exchange: a request is relayed with its client, its headers and its body, without what belongs to the connection", async () => {
  const sent: RelayedRequest[] = [];
  await exchangeWith({ access: undefined, sent })(requestOf({ method: "POST", query: "dryRun=All", headers: HEADERS }));
  const [{ signal: _, ...request }] = sent as [RelayedRequest];
  const body = new TextEncoder().encode("{}");
  deepEqual(request, { method: "POST", target: "/api/v1/pods?dryRun=All", body, headers: RELAYED_HEADERS, peer: PEER });
});

test("relayed exchange: a write has the same, and the length of its body, by which the main process limits it", async () => {
  const written: FramedRequest[] = [];
  await exchangeWith({ access: "write", written })(requestOf({ method: "POST", query: "dryRun=All", headers: HEADERS }));
  const [{ signal: _, ...request }] = written as [FramedRequest];
  deepEqual(request, {
    ...{ method: "POST", path: "/api/v1/pods", query: "dryRun=All", body: new TextEncoder().encode("{}"), peer: PEER },
    headers: { ...RELAYED_HEADERS, "content-length": "2" },
  });
});

test("relayed exchange: an upgrade is relayed with the headers of its protocol, also that of a watch", async () => {
  const sent: RelayedRequest[] = [];
  const switching = { protocol: "websocket", headers: { "sec-websocket-key": "k" } };
  const answer = await exchangeWith({ access: "read", sent })(requestOf(), undefined, switching);
  deepEqual(sent[0]?.headers, { "sec-websocket-key": "k", connection: "Upgrade", upgrade: "websocket" });
  equal("code" in answer ? answer.code : 0, 400);
});

test("relayed exchange: without an answer of the main process the connection is reset", async () => {
  const relay: Relay = { ...relayThatRecords([]), send: () => Promise.reject(new Error("socket hang up")) };
  await rejects(exchangeWith({ access: undefined, relay })(requestOf()), ConnectionReset);
});
