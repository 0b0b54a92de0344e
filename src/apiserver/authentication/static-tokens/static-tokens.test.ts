import { equal } from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../testing/shown.ts";
import { staticTokens } from "./static-tokens.ts";

const BOB = { name: "bob", groups: [] };

test("a static token authenticates its user only if it matches as a whole", async () => {
  const authenticator = staticTokens(contextOf({ staticTokens: new Map([["secret", BOB]]) }));
  const userOf = async (token: string) => (await authenticator?.authenticateToken(token, []))?.user;

  equal(await userOf("secret"), BOB);
  for (const other of ["", "secre", "secret ", "SECRET", "constructor", "__proto__"]) equal(await userOf(other), undefined, other);
});

test("a request without tokens is not authenticated by static tokens", () => {
  equal(staticTokens(contextOf({})), undefined);
  equal(staticTokens(contextOf({ staticTokens: new Map() })), undefined);
});
