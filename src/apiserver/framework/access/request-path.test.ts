import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isReason } from "../../../api/machinery/status-error.ts";
import { testSeed } from "../../../testing/rounds.ts";
import { parsePath, verbOf, type ResourcePath } from "./request-path.ts";

/** group/version plural namespace/name subresource, or the path of a document. */
function shown(encoded: string): string {
  const path = parsePath(encoded);
  if (path.is === "document") return `document ${path.path}`;
  const { group, version, plural, namespace, name, subresource, rest, isWatchPath } = path;
  const more = rest.length === 0 ? "" : ` +${rest.join("|")}`;
  return `${group}/${version} ${plural} ${namespace}/${name} ${subresource}${more}${isWatchPath ? " watch" : ""}`;
}

const rows: readonly [path: string, means: string][] = [
  ["/", "document /"],
  ["/version", "document /version"],
  ["/version/", "document /version"],
  ["/api", "document /api"],
  ["/api/v1", "document /api/v1"],
  ["/apis/apps", "document /apis/apps"],
  ["/apis/apps/v1/", "document /apis/apps/v1"],
  ["/api/v1/pods", "/v1 pods / "],
  ["/api/v1/pods/", "/v1 pods / "],
  ["/api/v1/namespaces", "/v1 namespaces / "],
  ["/api/v1/namespaces/x", "/v1 namespaces /x "],
  ["/api/v1/namespaces/x/status", "/v1 namespaces /x status"],
  ["/api/v1/namespaces/x/finalize", "/v1 namespaces /x finalize"],
  ["/api/v1/namespaces/x/pods", "/v1 pods x/ "],
  ["/api/v1/namespaces/x/pods/y", "/v1 pods x/y "],
  ["/api/v1/namespaces/x/pods/y/status", "/v1 pods x/y status"],
  ["/api/v1/namespaces/x/pods/y/proxy/a/b", "/v1 pods x/y proxy +a|b"],
  ["/apis/apps/v1/namespaces/x/status/y", "apps/v1 status x/y "],
  ["/api/v1/watch/pods", "/v1 pods /  watch"],
  ["/api/v1/watch/namespaces/x/pods/y", "/v1 pods x/y  watch"],
  ["/api/v1/namespaces/x/pods/a%2Fb", "/v1 pods x/a b"],
  ["/api/v1/namespaces/x/pods/%C3%A9", "/v1 pods x/é "],
  ["/api/v1/namespaces/x/pods/a%00", "/v1 pods x/a\0 "],
  ["/api/v1/namespaces/x/pods/..", "/v1 pods x/.. "],
  ["/api/v1/namespaces/x/pods/%2e%2e", "/v1 pods x/.. "],
  ["/api/v1/namespaces/x/__proto__/constructor", "/v1 __proto__ x/constructor "],
];

for (const [path, means] of rows) {
  test(`the path ${JSON.stringify(path)} is parsed as ${JSON.stringify(means)}`, () => {
    assert.equal(shown(path), means);
  });
}

test("a path with an invalid percent escape is rejected as a bad request", () => {
  for (const path of ["/api/v1/pods/%", "/api/v1/pods/%zz", "/%c3", "/api/v1/pods/%ed%a0%80", "/a%ff"]) {
    assert.throws(
      () => parsePath(path),
      (error) => isReason(error, "BadRequest"),
      path,
    );
  }
});

test("any path is either parsed or rejected as a bad request, and a decoded name never has a slash", () => {
  const piece = fc.constantFrom("/", "%2f", "%", "..", "api", "apis", "v1", "namespaces", "watch", "pods", "%00", "%ed%a0%80", "é", "");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      try {
        const path = parsePath(`/${pieces.join("/")}`);
        if (path.is === "resource") assert(![path.namespace, path.name, path.plural].some((segment) => segment.includes("/")));
      } catch (error) {
        assert(isReason(error, "BadRequest"));
      }
    }),
    { seed: testSeed(), numRuns: 500 },
  );
});

test("the verb follows from the method and from what the path names", () => {
  const collection = parsePath("/api/v1/pods") as ResourcePath;
  const one = parsePath("/api/v1/namespaces/x/pods/y") as ResourcePath;
  const verbs = (path: ResourcePath) =>
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get"].map((method) => verbOf(method, path, false));
  assert.deepEqual(verbs(collection), ["list", undefined, "create", "update", "patch", "deletecollection", undefined, undefined]);
  assert.deepEqual(verbs(one), ["get", undefined, "create", "update", "patch", "delete", undefined, undefined]);
  assert.equal(verbOf("GET", collection, true), "watch");
  const watched = ["/api/v1/watch/pods", "/api/v1/watch/namespaces/x/pods/y"].map((path) => parsePath(path) as ResourcePath);
  for (const path of watched) assert.deepEqual(verbs(path), ["watch", ...Array<undefined>(7).fill(undefined)]);
});
