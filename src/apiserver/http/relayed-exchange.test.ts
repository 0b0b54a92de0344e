import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
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
      return { code: 201, headers: { "content-type": "text/plain" }, body: new TextEncoder().encode("by main") };
    },
    openTunnel: async (request) => {
      sent.push(request);
      return { code: 400, headers: {}, body: new Uint8Array() };
    },
    [Symbol.dispose]: () => undefined,
  };
}

const local =
  (code: number): Exchange =>
  async () => ({ code, headers: {}, body: [] });

for (const { it, isLocal, localCode, method = "GET", relayed } of [
  { it: "a read that succeeds", isLocal: true, localCode: 200, relayed: 0 },
  { it: "a read that is rejected for overload", isLocal: true, localCode: 429, relayed: 0 },
  { it: "a read of what does not exist", isLocal: true, localCode: 404, relayed: 1 },
  { it: "a read that is forbidden", isLocal: true, localCode: 403, relayed: 1 },
  { it: "a read that fails", isLocal: true, localCode: 500, relayed: 1 },
  { it: "a document", isLocal: false, localCode: 200, relayed: 1 },
  { it: "a write", isLocal: false, localCode: 200, method: "POST", relayed: 1 },
]) {
  test(`relayed exchange: ${it} is answered by ${relayed === 0 ? "the worker" : "the main process"}`, async () => {
    const sent: RelayedRequest[] = [];
    const exchange = relayedExchange({ local: local(localCode), isLocal: () => isLocal, relay: relayThatRecords(sent), log: silentLogger });

    const answer = await exchange(requestOf({ method }));

    equal(sent.length, relayed);
    equal("code" in answer ? answer.code : 0, relayed === 0 ? localCode : 201);
  });
}

test("relayed exchange: a request is relayed with its client, its headers and its body, without what belongs to the connection", async () => {
  const sent: RelayedRequest[] = [];
  const exchange = relayedExchange({ local: local(200), isLocal: () => false, relay: relayThatRecords(sent), log: silentLogger });
  const headers = {
    ":authority": ["x"],
    "accept-encoding": ["gzip"],
    connection: ["keep-alive"],
    "content-type": ["application/json"],
    "impersonate-group": ["a", "b"],
    "x-k8ts-relayed-peer": ["forged"],
  };

  await exchange(requestOf({ method: "POST", query: "dryRun=All", headers }));

  const [{ signal: _, ...request }] = sent as [RelayedRequest];
  deepEqual(request, {
    ...{ method: "POST", target: "/api/v1/pods?dryRun=All", body: new TextEncoder().encode("{}") },
    headers: { "content-type": "application/json", "impersonate-group": ["a", "b"] },
    peer: { address: "192.0.2.7", isLoopback: false, certificate: CERTIFICATE },
  });
});

test("relayed exchange: an upgrade is relayed with the headers of its protocol, also that of a watch", async () => {
  const sent: RelayedRequest[] = [];
  const exchange = relayedExchange({ local: local(200), isLocal: () => true, relay: relayThatRecords(sent), log: silentLogger });
  const answer = await exchange(requestOf(), undefined, { protocol: "websocket", headers: { "sec-websocket-key": "k" } });
  deepEqual(sent[0]?.headers, { "sec-websocket-key": "k", connection: "Upgrade", upgrade: "websocket" });
  equal("code" in answer ? answer.code : 0, 400);
});

test("relayed exchange: without an answer of the main process the connection is reset", async () => {
  const relay: Relay = { ...relayThatRecords([]), send: () => Promise.reject(new Error("socket hang up")) };
  const exchange = relayedExchange({ local: local(200), isLocal: () => false, relay, log: silentLogger });
  await rejects(exchange(requestOf()), ConnectionReset);
});
