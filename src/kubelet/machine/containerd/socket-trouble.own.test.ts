import { equal } from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { socketTrouble } from "./socket-trouble.ts";

test("socketTrouble distinguishes a missing socket from one at which nothing answers", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-socket-"));
  context.after(() => rm(directory, { recursive: true }));
  const socket = join(directory, "x.sock");
  const another = "give another";
  equal(await socketTrouble(socket, { another }), "there is no such socket; start it, or give another");
  const server = createServer().listen(socket);
  await once(server, "listening");
  context.after(() => server.close());
  equal(await socketTrouble(socket, { another }), "nothing answers there; start it, or give another");
});
