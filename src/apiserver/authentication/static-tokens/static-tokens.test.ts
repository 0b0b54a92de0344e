import { equal } from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../testing/shown.ts";
import { staticTokens } from "./static-tokens.ts";

const BOB = { name: "bob", groups: [] };

test("a token of the file shows its user, and only the whole of it does", async () => {
  const authenticator = staticTokens(contextOf({ staticTokens: new Map([["secret", BOB]]) }));
  const userOf = async (token: string) => (await authenticator?.authenticateToken(token, []))?.user;

  equal(await userOf("secret"), BOB);
  for (const other of ["", "secre", "secret ", "SECRET", "constructor", "__proto__"]) equal(await userOf(other), undefined, other);
});

test("without tokens nobody is asked", () => {
  equal(staticTokens(contextOf({})), undefined);
  equal(staticTokens(contextOf({ staticTokens: new Map() })), undefined);
});
