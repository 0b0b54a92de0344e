import { deepEqual, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import type { ExchangeRequest } from "../../apiserver/framework/exchange.ts";
import { RUNNING_MAX, WhyRequests } from "./why-requests.ts";

function requestOf(query: string, authorization?: string): ExchangeRequest {
  const headers: Readonly<Record<string, string>> = authorization === undefined ? {} : { authorization };
  return {
    ...{ method: "GET", path: "/dashboard/why", query, peer: { address: "127.0.0.1", isLoopback: true } },
    header: (name) => headers[name],
    headerValues: () => [],
    headerNames: () => Object.keys(headers),
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    cancel: () => undefined,
  };
}

describe("questions of the tab Why", () => {
  const rows: readonly { it: string; query: string; authorization?: string; rejected?: RegExp; asked?: object }[] = [
    {
      it: "an object of the past",
      query: "resource=deployments.apps&namespace=shop&name=web&at=42&try=true",
      asked: { resource: "deployments.apps", namespace: "shop", name: "web", at: "42", tries: true, token: "t" },
    },
    { it: "no name", query: "resource=pods", rejected: /must name an object/ },
    { it: "a resource that looks like a flag", query: "resource=--kubeconfig&name=a", rejected: /must name an object/ },
    { it: "an instant that is no revision", query: "resource=pods&name=a&at=--try", rejected: /must be a revision/ },
    { it: "no token", query: "resource=pods&name=a", authorization: "Basic YTpi", rejected: /bearer token/ },
  ];
  for (const { it, query, authorization = "Bearer t", rejected, asked } of rows)
    test(it, async () => {
      const requests = new WhyRequests((question) => Promise.resolve(JSON.stringify(question)));

      const answer = requests.answer(requestOf(query, authorization));

      if (rejected === undefined) deepEqual(JSON.parse(await answer), asked);
      else await rejects(answer, rejected);
    });
});

test("at most two explanations are computed at a time, and a failed one makes room", async () => {
  const failures: ((error: Error) => void)[] = [];
  const requests = new WhyRequests(() => new Promise((_resolve, reject) => failures.push(reject)));
  const ask = () => requests.answer(requestOf("resource=pods&name=a", "Bearer t"));
  const running = Array.from({ length: RUNNING_MAX }, ask);

  await rejects(ask(), /explains 2 objects at a time/);
  failures[0]?.(new Error("failed"));
  await rejects(running[0] as Promise<string>, /failed/);
  const next = ask();
  failures.at(-1)?.(new Error("the last one failed"));
  await rejects(next, /the last one failed/);
});
