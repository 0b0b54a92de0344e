import { equal } from "node:assert/strict";
import { test } from "node:test";
import { hasAlready, hashOf } from "./entity-tag.ts";
import type { ExchangeRequest } from "../framework/exchange.ts";
import { stub } from "../../base/testing/stub.ts";

const hash = hashOf(new TextEncoder().encode("a document"));

const rows: readonly { readonly header: string | undefined; readonly has: boolean }[] = [
  { header: undefined, has: false },
  { header: `"${hash}"`, has: true },
  { header: `W/"${hash}"`, has: true },
  { header: `"another", "${hash}"`, has: true },
  { header: "*", has: true },
  { header: hash, has: false },
  { header: '"another"', has: false },
];

for (const { header, has } of rows) {
  test(`If-None-Match: ${header ?? "nothing"} ${has ? "matches" : "does not match"} the entity tag`, () => {
    equal(hasAlready(stub<ExchangeRequest>({ header: () => header }), hash), has);
  });
}
