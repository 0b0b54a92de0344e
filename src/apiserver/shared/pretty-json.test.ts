import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { isPretty } from "./pretty-json.ts";
import { startServer } from "../testing/server.ts";

for (const [query, userAgent, expected] of [
  ["", "kubectl/v1.36.0 (linux/amd64)", false],
  ["", "curl/8.5.0", true],
  ["", "Wget/1.21", true],
  ["", "Mozilla/5.0 (X11; Linux x86_64)", true],
  ["", undefined, false],
  ["pretty=true", "kubectl", true],
  ["limit=1&pretty=1", "kubectl", true],
  ["pretty=yes", "curl/8.5.0", false],
  ["pretty=false", "curl/8.5.0", false],
  ["pretty=", "curl/8.5.0", true],
] as const) {
  test(`JSON for ${userAgent ?? "a client without a user agent"} with "?${query}" is ${expected ? "indented" : "on one line"}`, () => {
    equal(isPretty({ query, header: (name) => (name === "user-agent" ? userAgent : undefined) }), expected);
  });
}

const CURL = { "user-agent": "curl/8.5.0" };

test("curl gets objects, errors and discovery indented, kind first and without a trailing line break", async () => {
  await using server = await startServer();
  for (const path of ["/api/v1/namespaces/default", "/api/v1/namespaces/none", "/api/v1/namespaces", "/apis/apps/v1"]) {
    const [plain, pretty] = [await server.call("GET", path), await server.call("GET", path, undefined, CURL)];
    deepEqual(pretty.body, plain.body, path);
    match(pretty.text, /^\{\n {2}"kind": "\w+",\n {2}"apiVersion": "v1",\n[^]*\n\}$/, path);
    match(plain.text, /^\{"kind":"[^\n]*\}\n$/, path);
  }
});

test("a list of more than 500 objects is not indented", async () => {
  await using server = await startServer();
  const path = "/api/v1/namespaces/default/configmaps";
  for (let index = 0; index <= 500; index++) await server.call("POST", path, { metadata: { name: `c${index}` } });

  match((await server.call("GET", `${path}?limit=500`, undefined, CURL)).text, /^\{\n {2}"kind": /);
  match((await server.call("GET", path, undefined, CURL)).text, /^\{"kind":"[^\n]*\}\n$/);
});

test("a list of more than 1 MiB is not indented", async () => {
  await using server = await startServer();
  const path = "/api/v1/namespaces/default/configmaps";
  const data = { a: "x".repeat(400_000) };
  for (const name of ["a", "b", "c"]) await server.call("POST", path, { metadata: { name }, data });

  match((await server.call("GET", `${path}?limit=2`, undefined, CURL)).text, /^\{\n {2}"kind": /);
  match((await server.call("GET", path, undefined, CURL)).text, /^\{"kind":"[^\n]*\}\n$/);
});

test("406 lists all representations for a type that no path serves, and the types for one that this response does not support", async () => {
  await using server = await startServer();
  const types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  const streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  const none = "406: Not Acceptable\n\nAvailable representations: ";
  const only = "only the following media types are accepted: ";
  for (const [path, accept, message, details] of [
    ["/api/v1/namespaces/default", "text/html", none + types, {}],
    ["/api/v1/namespaces", "text/html;q=1, application/xml", `${none}${types}, ${streams}`, {}],
    ["/api/v1/namespaces?watch=true", "text/html", `${none}${types}, ${streams}`, {}],
    ["/apis/apps/v1", "text/html", none + types, {}],
    ["/api/v1/namespaces/default", "application/json;as=Table;v=v9;g=meta.k8s.io", only + types, undefined],
    ["/api/v1/namespaces?watch=true", "application/json;as=Table;v=v9;g=meta.k8s.io", only + types, undefined],
  ] as const) {
    const { code, body } = await server.call("GET", path, undefined, { accept });
    deepEqual([code, body.reason, body.message, body.details], [406, "NotAcceptable", message, details], `${path} ${accept}`);
  }
  const inYaml = await server.call("GET", "/api/v1/namespaces?watch=true", undefined, { accept: "application/yaml" });
  equal(inYaml.text.includes(only + streams), true, "a watch does not support YAML, but its error does");
});
