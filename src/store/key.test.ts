import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { assert as property, property as forAll, string } from "fast-check";
import { KEY_BYTES_MAX } from "./store.ts";
import { bookkeepingPrefix, checkKey, orderAfterPrefix, orderOf, resourcePrefixOf } from "./key.ts";

const text = string({ unit: "binary" });

test("keys sort by their UTF-8 bytes", () => {
  property(forAll(text, text, (a, b) => equal(Math.sign(compare(orderOf(a), orderOf(b))), Math.sign(compareBytes(a, b)))));
});

test("the upper bound of a prefix is above all keys with it, and not above the next", () => {
  property(
    forAll(text, text, text, (prefix, rest, other) => {
      const after = orderAfterPrefix(prefix);
      equal(after === undefined || orderOf(prefix + rest) < after, true);
      if (after !== undefined && !other.startsWith(prefix) && compareBytes(other, prefix) > 0) equal(orderOf(other) >= after, true);
    }),
  );
});

test("different keys have different orders", () => {
  property(forAll(text, text, (a, b) => equal(orderOf(a) === orderOf(b), a === b)));
});

for (const { key, prefix } of [
  { key: "/pods/default/web", prefix: "/pods/" },
  { key: "/minions/node-1", prefix: "/minions/" },
  { key: "/deployments/", prefix: "/deployments/" },
  { key: "/configmaps/default/kube-root-ca.crt", prefix: "/configmaps/" },
  { key: "/services/specs/default/web", prefix: "/services/specs/" },
  { key: "/services/endpoints/default/web", prefix: "/services/endpoints/" },
  { key: "/example.com/widgets/default/web", prefix: "/example.com/widgets/" },
  { key: "/apiregistration.k8s.io/apiservices/v1.apps", prefix: "/apiregistration.k8s.io/apiservices/" },
  { key: "/k8ts/compaction/state", prefix: "/k8ts/compaction/" },
  { key: "/pods", prefix: undefined },
  { key: "/services/", prefix: undefined },
  { key: "/services/specs", prefix: undefined },
  { key: "/services//x", prefix: undefined },
  { key: "/example.com/", prefix: undefined },
  { key: "//pods/x", prefix: undefined },
  { key: "pods/x", prefix: undefined },
  { key: "", prefix: undefined },
]) {
  test(`the resource prefix of ${JSON.stringify(key)} is ${JSON.stringify(prefix)}`, () => equal(resourcePrefixOf(key), prefix));
}

test("bookkeeping records have resource prefixes of their own", () =>
  deepEqual([bookkeepingPrefix("expiry"), resourcePrefixOf(bookkeepingPrefix("expiry"))], ["/k8ts/expiry/", "/k8ts/expiry/"]));

test("a key may be as long as its limit in bytes, whatever its characters, and no longer", () => {
  for (const character of ["a", "é", "日", "😀"]) {
    const bytes = new TextEncoder().encode(character).length;
    const longest = "/pods/".padEnd(6 + ((KEY_BYTES_MAX - 6) % bytes), "x") + character.repeat(Math.floor((KEY_BYTES_MAX - 6) / bytes));
    checkKey(longest);
    throws(() => checkKey(`${longest}x`), { reason: "Invalid", message: /longer than 1024 bytes/ });
  }
});

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
