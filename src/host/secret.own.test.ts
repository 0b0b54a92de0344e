import { equal, match, notEqual } from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { keptToken, makeToken } from "./secret.ts";

test("tokens differ, and need no quoting", () => {
  match(makeToken(), /^[\w-]{43}$/);
  notEqual(makeToken(), makeToken());
});

test("a token that is kept is the same at the next start, and readable by its owner only", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-secret-"));
  context.after(() => rm(directory, { recursive: true }));
  const path = join(directory, "pki", "token");

  const first = await keptToken(path);

  equal(await keptToken(path), first);
  equal((await stat(path)).mode & 0o777, 0o600);
});

test("a file that holds no token is given one", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-secret-"));
  context.after(() => rm(directory, { recursive: true }));
  const path = join(directory, "token");
  await writeFile(path, "");

  match(await keptToken(path), /^[\w-]{43}$/);
});
