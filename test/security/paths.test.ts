/**
 * Paths that authorization and routing could interpret differently. Our paths are decoded and split once, and both use the result; so each
 * of these attempts is about an object that does not exist, or that is forbidden to the attacker.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import type { StartedServer } from "../../src/apiserver/testing/server.ts";
import { allow, attempt, EVE, grant, make, mustBeRefused, RBAC, startEscapeServer, TREASURE, type Attempt } from "./cluster.ts";

const SECRETS = "/api/v1/namespaces/own/secrets";
const LONG = "a".repeat(20_000);

let server: StartedServer;

before(async () => {
  server = await startEscapeServer();
  await make(server, "/api/v1/nodes", { metadata: { name: "n1" } });
  await grant(server, EVE, "own", [allow("get,update,patch,delete", "secrets", "open"), allow("create,get,list", "configmaps")]);
});
after(() => server[Symbol.asyncDispose]());

const get = (it: string, path: string, gets: Attempt["gets"]): Attempt => ({ it, sends: ["GET", path], gets });

const ATTEMPTS: readonly Attempt[] = [
  get("the name of another Secret", `${SECRETS}/treasure`, 403),
  get("dot segments that resolve to another namespace", "/api/v1/namespaces/own/../victim/secrets/treasure", 403),
  get("the same, encoded", "/api/v1/namespaces/own/%2e%2e/victim/secrets/treasure", 403),
  get("the same, with an encoded slash", "/api/v1/namespaces/own%2f..%2fvictim/secrets/treasure", 403),
  get("the same, encoded twice", "/api/v1/namespaces/own%252f%252e%252e%252fvictim/secrets/treasure", 403),
  get("dot segments after a permitted name", `${SECRETS}/open/../treasure`, 403),
  get("encoded dots and slashes after a permitted name", `${SECRETS}/open%2f%2e%2e%2ftreasure`, 403),
  get("dot segments that leave the group", "/apis/apps/v1/../../../api/v1/namespaces/own/secrets/treasure", 403),
  get("a name after dot segments", `${SECRETS}/%2e%2e%2fvictim%2fsecrets%2ftreasure`, 403),
  get("a NUL after a permitted name", `${SECRETS}/open%00treasure`, 403),
  get("a NUL after the name", `${SECRETS}/treasure%00`, 403),
  get("a space after the name", `${SECRETS}/treasure%20`, 403),
  get("a path parameter, as in servlets", `${SECRETS}/treasure;a=b`, 403),
  get("a path parameter after a permitted name", `${SECRETS}/open;/../treasure`, 403),
  get("a slash after the name", `${SECRETS}/treasure/`, 403),
  get("slashes before the path", `/${SECRETS}/treasure`, 403),
  get("two slashes in the path", "/api/v1//namespaces/own/secrets/treasure", 403),
  get("an empty namespace", "/api/v1/namespaces//secrets/treasure", 403),
  get("no namespace", "/api/v1/secrets/treasure", 403),
  get("a backslash", `${SECRETS}\\treasure`, 403),
  get("encoded backslashes", "/api/v1/namespaces/own%5c..%5cvictim/secrets/treasure", 403),
  get(
    "characters that look like dots and slashes",
    "/api/v1/namespaces/own%ef%bc%8f%ef%bc%8e%ef%bc%8e%ef%bc%8fvictim/secrets/treasure",
    403,
  ),
  get("dots in overlong UTF-8", "/api/v1/namespaces/own/%c0%ae%c0%ae/victim/secrets/treasure", 400),
  get("an invalid percent escape", `${SECRETS}/treasure%zz`, 400),
  get("capitals in the resource", "/api/v1/namespaces/own/Secrets/treasure", 403),
  get("capitals in the name", `${SECRETS}/Treasure`, 403),
  get("capitals in the path", "/API/v1/namespaces/own/secrets/treasure", 403),
  get("a dotted capital that becomes two letters in lower case", `${SECRETS}/tre%c4%b0sure`, 403),
  get("a very long name", `${SECRETS}/${LONG}`, 403),
  get("a very deep path", `${SECRETS}/open${"/..".repeat(5_000)}/treasure`, 403),
  get("a subresource that Secrets do not have", `${SECRETS}/open/treasure`, 403),
  get("a namespace named like a subresource", "/api/v1/namespaces/status/secrets", 403),
  get("the deprecated watch path", "/api/v1/watch/namespaces/own/secrets/open", 403),
  get("the deprecated watch path, cluster-wide", "/api/v1/watch/secrets", 403),
  get("a watch path without a resource", "/api/v1/watch", 403),
  get("the core group as a group with an empty name", "/apis//v1/namespaces/own/secrets/treasure", 403),
  get("the core group under /apis", "/apis/v1/namespaces/own/secrets/treasure", 403),
  get("another version", "/api/v2/namespaces/own/secrets/treasure", 403),
  get("a name in the query", `${SECRETS}?name=open`, 403),
  get("a namespace in the query", `${SECRETS}/treasure?namespace=own&resourceName=open`, 403),
  get("a fragment", `${SECRETS}/open#/../treasure`, 403),
  {
    it: "another path in a header",
    sends: ["GET", `${SECRETS}/treasure`, undefined, { "x-original-url": `${SECRETS}/open`, "x-rewrite-url": `${SECRETS}/open` }],
    gets: 403,
  },
  { it: "another method in a header", sends: ["DELETE", `${SECRETS}/treasure`, undefined, { "x-http-method-override": "GET" }], gets: 403 },
  {
    it: "another object in the body than in the path",
    sends: ["PUT", `${SECRETS}/open`, { metadata: { name: "treasure" } }],
    gets: "400 does not match",
  },
  {
    it: "another namespace in the body than in the path",
    sends: ["POST", "/api/v1/namespaces/own/configmaps", { metadata: { name: "x", namespace: "victim" } }],
    gets: "400 does not match",
  },
  { it: "another name in a patch than in the path", sends: ["PATCH", `${SECRETS}/open`, { metadata: { name: "treasure" } }], gets: 400 },
  {
    it: "another namespace in a patch than in the path",
    sends: ["PATCH", `${SECRETS}/open`, { metadata: { namespace: "victim" } }],
    gets: 400,
  },
];

for (const { it, sends, gets } of ATTEMPTS) {
  test(`${it}: ${sends[0]} ${sends[1].slice(0, 100)} is rejected`, () => mustBeRefused(server, EVE, { sends, gets }));
}

test("the attacker may do what was granted, so the path is the reason of the rejections", async () => {
  deepEqual((await attempt(server, EVE, ["GET", `${SECRETS}/open`])).code, 200);
  deepEqual((await attempt(server, EVE, ["GET", "/api/v1/namespaces/own/%73ecrets/%6fpen"])).code, 200);
});

test("no byte of the body of an unauthorized write is read", async () => {
  let reads = 0;
  const headers: Readonly<Record<string, string>> = { "test-user": JSON.stringify(EVE) };
  const ask = (path: string) =>
    server.server.exchange({
      method: "POST",
      path,
      query: "",
      header: (name) => headers[name],
      headerValues: () => [],
      headerNames: () => Object.keys(headers),
      body: () => Promise.resolve((reads++, new TextEncoder().encode("{}"))),
      signal: new AbortController().signal,
      cancel: () => undefined,
      peer: { address: "192.0.2.1", isLoopback: false },
    });
  const codes = [await ask(SECRETS), await ask("/api/v1/namespaces/own/configmaps")].map((answer) =>
    "code" in answer ? answer.code : 101,
  );
  deepEqual([codes, reads], [[403, 422], 1]);
});

/** CVE-2022-3162 was of this kind: authorization read the path as one group's, and the store as another's. */
test("no combination of these path segments returns the treasure", async () => {
  const piece = fc.constantFrom(
    ...["..", ".", "", "api", "apis", "v1", "watch", "namespaces", "own", "victim", "secrets", "treasure", "open", "status", "proxy"],
    ...["%2e%2e", "%2f", "%2F..", "..%2f", "%5c", "%00", ";", "%252e%252e", "open%2f..%2ftreasure", "own%2f..%2fvictim", "Secrets"],
  );
  const start = fc.constantFrom("/api/v1/namespaces/own/secrets", "/api/v1/namespaces/own", "/api/v1", "/apis/apps/v1", "");
  const query = fc.constantFrom(
    "",
    "?watch=1",
    "?fieldSelector=metadata.name%3Dopen",
    "?fieldSelector=metadata.name%3Dtreasure",
    "?resourceVersion=0",
  );
  await fc.assert(
    fc.asyncProperty(start, fc.array(piece, { maxLength: 8 }), query, async (from, pieces, asked) => {
      const path = `${[from, ...pieces].join("/")}${asked}`;
      const { text } = await attempt(server, EVE, ["GET", path === "" ? "/" : path]);
      ok(!text.includes(btoa(TREASURE)), path);
    }),
    { numRuns: 500 },
  );
});

describe("CVE-2019-11247: cluster-scoped objects are not reachable through the path of a namespace with all permissions", () => {
  const MALLORY = { name: "mallory", groups: [] };
  before(() => grant(server, MALLORY, "own", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]));
  const ROLE = { metadata: { name: "mine" }, rules: [] };
  for (const sends of [
    ["GET", "/api/v1/namespaces/own/nodes/n1"],
    ["GET", "/api/v1/namespaces/own/nodes"],
    ["GET", "/api/v1/namespaces/own/namespaces/victim"],
    ["PATCH", "/api/v1/namespaces/own/nodes/n1", { metadata: { labels: { a: "b" } } }],
    ["GET", `${RBAC}/namespaces/own/clusterroles/cluster-admin`],
    ["POST", `${RBAC}/namespaces/own/clusterroles`, ROLE],
    ["PUT", `${RBAC}/namespaces/own/clusterroles/cluster-admin`, ROLE],
    ["DELETE", `${RBAC}/namespaces/own/clusterroles/cluster-admin`],
    ["DELETE", "/apis/storage.k8s.io/v1/namespaces/own/storageclasses"],
    ["POST", "/apis/authorization.k8s.io/v1/namespaces/own/subjectaccessreviews", { spec: { user: "x", nonResourceAttributes: {} } }],
    ["POST", "/apis/certificates.k8s.io/v1/namespaces/own/certificatesigningrequests", { metadata: { name: "x" } }],
  ] as const) {
    test(`${sends[0]} ${sends[1]}`, () => mustBeRefused(server, MALLORY, { sends, gets: 404 }));
  }
  for (const sends of [
    ["GET", "/api/v1/secrets/treasure"],
    ["GET", "/api/v1/namespaces/victim"],
    ["POST", "/api/v1/configmaps", { metadata: { name: "x", namespace: "own" } }],
    ["POST", `${RBAC}/rolebindings`, { metadata: { name: "x", namespace: "own" } }],
  ] as const) {
    test(`${sends[0]} ${sends[1]}, where the namespace is missing`, () => mustBeRefused(server, MALLORY, { sends, gets: 403 }));
  }
});

describe("CVE-2015-5305: no object name has a meaning in a path, even where names allow almost any character", () => {
  for (const name of [".", "..", "../x", "a/b", "a%2fb", "a%b", ""]) {
    test(JSON.stringify(name), async () => {
      const { code } = await server.call("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules: [] });
      equal(code, 422);
    });
  }
  for (const name of ["..", "a/b", "A", "a_b", "a\u0000", "\u2025", "a\\b", "x".repeat(254)]) {
    test(`${JSON.stringify(name.slice(0, 20))} is rejected as the name of a ConfigMap, also by generateName`, async () => {
      const [named, generated] = [{ name }, { generateName: `${name}/` }];
      for (const metadata of [named, generated])
        equal((await server.call("POST", "/api/v1/namespaces/own/configmaps", { metadata })).code, 422);
    });
  }
});
