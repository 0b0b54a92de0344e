import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ExchangeRequest } from "../../apiserver/framework/exchange.ts";
import { factsOf } from "./request-facts.ts";

function facts(method: string, url: string, headers: Record<string, string> = {}) {
  const [path = "", query = ""] = url.split("?");
  const peer = { address: "127.0.0.1", isLoopback: true };
  return factsOf({ method, path, query, header: (name: string) => headers[name], peer } as ExchangeRequest);
}

const ROWS: readonly [string, string, string][] = [
  ["GET", "/api/v1/namespaces/a/pods/b", "get /pods a/b "],
  ["GET", "/api/v1/pods?watch=true", "watch /pods / "],
  ["GET", "/api/v1/pods?watch=0", "list /pods / "],
  ["GET", "/api/v1/watch/pods", "watch /pods / "],
  ["PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale", "patch apps/deployments a/b scale"],
  ["DELETE", "/api/v1/namespaces/a/pods", "deletecollection /pods a/ "],
  ["POST", "/api/v1/namespaces", "create /namespaces / "],
];

for (const [method, url, expected] of ROWS) {
  test(`${method} ${url} is ${expected}`, () => {
    const { verb, group, resource, namespace, name, subresource } = facts(method, url).resource ?? fail();
    equal(`${verb} ${group}/${resource} ${namespace}/${name} ${subresource}`, expected);
  });
}

function fail(): never {
  throw new Error("The request is for a resource");
}

test("a request for a document, or with a broken path, is for no resource", () => {
  deepEqual([facts("GET", "/version").resource, facts("GET", "/api/v1/pods/%zz").resource], [undefined, undefined]);
});

test("the user is the impersonated one, or the subject of the token", () => {
  const token = `x.${Buffer.from(JSON.stringify({ sub: "system:serviceaccount:a:b" })).toString("base64url")}.y`;
  equal(facts("GET", "/version", { authorization: `Bearer ${token}` }).user, "system:serviceaccount:a:b");
  equal(facts("GET", "/version", { authorization: `Bearer ${token}`, "impersonate-user": "jane" }).user, "jane");
  equal(facts("GET", "/version", { authorization: "Bearer garbage" }).user, "");
});
