/**
 * Paths that mean one thing to whoever checks rights and another to whoever serves. Ours are decoded and divided once, and both are shown
 * what came of it; so each of these is about something that is not there, or about something that the attacker may not.
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
  get("dots that lead to another namespace", "/api/v1/namespaces/own/../victim/secrets/treasure", 403),
  get("the same, encoded", "/api/v1/namespaces/own/%2e%2e/victim/secrets/treasure", 403),
  get("the same, with an encoded slash", "/api/v1/namespaces/own%2f..%2fvictim/secrets/treasure", 403),
  get("the same, encoded twice", "/api/v1/namespaces/own%252f%252e%252e%252fvictim/secrets/treasure", 403),
  get("dots behind a name that is allowed", `${SECRETS}/open/../treasure`, 403),
  get("encoded dots and slashes behind a name that is allowed", `${SECRETS}/open%2f%2e%2e%2ftreasure`, 403),
  get("dots out of the group", "/apis/apps/v1/../../../api/v1/namespaces/own/secrets/treasure", 403),
  get("a name with dots before it", `${SECRETS}/%2e%2e%2fvictim%2fsecrets%2ftreasure`, 403),
  get("a zero behind a name that is allowed", `${SECRETS}/open%00treasure`, 403),
  get("a zero behind the name", `${SECRETS}/treasure%00`, 403),
  get("a space behind the name", `${SECRETS}/treasure%20`, 403),
  get("a parameter in the path, as servlets know it", `${SECRETS}/treasure;a=b`, 403),
  get("a parameter in the path behind a name that is allowed", `${SECRETS}/open;/../treasure`, 403),
  get("a slash behind the name", `${SECRETS}/treasure/`, 403),
  get("slashes before the path", `/${SECRETS}/treasure`, 403),
  get("two slashes in the path", "/api/v1//namespaces/own/secrets/treasure", 403),
  get("a namespace without a name", "/api/v1/namespaces//secrets/treasure", 403),
  get("no namespace", "/api/v1/secrets/treasure", 403),
  get("a backslash", `${SECRETS}\\treasure`, 403),
  get("encoded backslashes", "/api/v1/namespaces/own%5c..%5cvictim/secrets/treasure", 403),
  get("letters that look like dots and slashes", "/api/v1/namespaces/own%ef%bc%8f%ef%bc%8e%ef%bc%8e%ef%bc%8fvictim/secrets/treasure", 403),
  get("dots in a longer form than UTF-8 allows", "/api/v1/namespaces/own/%c0%ae%c0%ae/victim/secrets/treasure", 400),
  get("an escape that is none", `${SECRETS}/treasure%zz`, 400),
  get("capitals in the resource", "/api/v1/namespaces/own/Secrets/treasure", 403),
  get("capitals in the name", `${SECRETS}/Treasure`, 403),
  get("capitals in the path", "/API/v1/namespaces/own/secrets/treasure", 403),
  get("a dotted capital that becomes two letters in lower case", `${SECRETS}/tre%c4%b0sure`, 403),
  get("a very long name", `${SECRETS}/${LONG}`, 403),
  get("a very deep path", `${SECRETS}/open${"/..".repeat(5_000)}/treasure`, 403),
  get("a subresource that Secrets do not have", `${SECRETS}/open/treasure`, 403),
  get("a namespace that is called as a subresource", "/api/v1/namespaces/status/secrets", 403),
  get("the old path of watching", "/api/v1/watch/namespaces/own/secrets/open", 403),
  get("the old path of watching, everywhere", "/api/v1/watch/secrets", 403),
  get("a path of watching that watches nothing", "/api/v1/watch", 403),
  get("the core group as a group without a name", "/apis//v1/namespaces/own/secrets/treasure", 403),
  get("the core group as if it were one of the others", "/apis/v1/namespaces/own/secrets/treasure", 403),
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
  test(`${it}: ${sends[0]} ${sends[1].slice(0, 100)} is refused`, () => mustBeRefused(server, EVE, { sends, gets }));
}

test("the attacker may do what it was allowed, so that what is refused is refused for its path", async () => {
  deepEqual((await attempt(server, EVE, ["GET", `${SECRETS}/open`])).code, 200);
  deepEqual((await attempt(server, EVE, ["GET", "/api/v1/namespaces/own/%73ecrets/%6fpen"])).code, 200);
});

test("of who may not write, not a byte of the body is taken in", async () => {
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

/** CVE-2022-3162 was of this kind: a path that the check of rights read as one group's, and the store as another's. */
test("whatever is put together of these pieces, the treasure does not come", async () => {
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

describe("CVE-2019-11247: what is of the whole cluster is not reached by the path of a namespace in which one may do everything", () => {
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

describe("CVE-2015-5305: no object has a name that means something in a path, even where names may have almost any character", () => {
  for (const name of [".", "..", "../x", "a/b", "a%2fb", "a%b", ""]) {
    test(JSON.stringify(name), async () => {
      const { code } = await server.call("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules: [] });
      equal(code, 422);
    });
  }
  for (const name of ["..", "a/b", "A", "a_b", "a\u0000", "\u2025", "a\\b", "x".repeat(254)]) {
    test(`${JSON.stringify(name.slice(0, 20))} for a ConfigMap, put there by generateName, too`, async () => {
      const [named, generated] = [{ name }, { generateName: `${name}/` }];
      for (const metadata of [named, generated])
        equal((await server.call("POST", "/api/v1/namespaces/own/configmaps", { metadata })).code, 422);
    });
  }
});
