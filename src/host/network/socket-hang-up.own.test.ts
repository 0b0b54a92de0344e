import { equal } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import { join } from "node:path";
import { test } from "node:test";
import { untilHungUp } from "./socket-hang-up.ts";
import { makeTemporaryDirectory } from "../files/private-files.ts";

const NEVER = new AbortController().signal;

async function startServer(directory: string) {
  const server = createServer();
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => {
    session.on("error", () => {}); // The client closes without a GOAWAY.
    sessions.push(session);
  });
  const path = join(directory, "socket");
  server.listen(path);
  await once(server, "listening");
  return { path, server, sessions };
}

test("a hang-up is reported when it happens, and not before", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-hang-up-");
  const { path, server, sessions } = await startServer(directory.path);
  let isOver = false;
  const over = untilHungUp(path, NEVER).then(() => (isOver = true));
  await once(server, "session");
  equal(isOver, false);

  for (const session of sessions) session.destroy();
  await over;
  server.close();
});

test("an unreachable peer counts as hung up", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-hang-up-");
  await untilHungUp(join(directory.path, "none"), NEVER);
});

test("a cancelled wait resolves and closes the connection", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-hang-up-");
  const { path, server, sessions } = await startServer(directory.path);
  const enough = new AbortController();
  const over = untilHungUp(path, enough.signal);
  await once(server, "session");
  const closed = new Promise((resolve) => sessions[0]?.once("close", resolve));

  enough.abort();
  await Promise.all([over, closed]);
  await untilHungUp(path, enough.signal);
  equal(sessions.length, 1);
  server.close();
});
