import { test } from "node:test";
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { runProgram, startProgram } from "./child-process.ts";

const node = (script: string) => ({ command: process.execPath, arguments: ["-e", script] });

test("a program that exits with 0 returns its lines of stdout and stderr", async () => {
  const lines = await runProgram(node(`console.log("one"); console.error("two")`));
  deepEqual([...lines].sort(), ["one", "two"]);
});

test("a program that fails rejects with its exit code and output", async () => {
  await rejects(runProgram(node(`console.error("out of tea"); process.exit(3)`)), (error: Error) => {
    match(error.message, /exited with code 3: out of tea/);
    return true;
  });
});

test("a missing program rejects with its name", async () => {
  await rejects(startProgram({ command: "/nonexistent/program", arguments: [] }), /Cannot start \/nonexistent\/program/);
});

test("the environment is extended, and lines are reported as they arrive", async () => {
  const lines: string[] = [];
  await runProgram({
    ...node(`console.log(process.env.TEA, !!process.env.PATH)`),
    environment: { TEA: "green" },
    onLine: (line) => lines.push(line),
  });
  deepEqual(lines, ["green true"]);
});

test("only the last lines of output are kept", async () => {
  const lines = await runProgram(node(`for (let i = 0; i < 1000; i++) console.log(i)`));
  deepEqual([lines.length, lines[0], lines.at(-1)], [200, "800", "999"]);
});

test("a signal reaches the program, and disposing kills one that ignores it", async () => {
  const polite = await startProgram(node(`setInterval(() => {}, 1000)`));
  polite.signal("SIGTERM");
  equal((await polite.exited).signal, "SIGTERM");
  polite.signal("SIGTERM"); // Exited already: nothing happens.

  let onReady: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => (onReady = resolve));
  const stubborn = await startProgram({
    ...node(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("ready")`),
    onLine: () => onReady(),
  });
  await isReady;
  stubborn.signal("SIGTERM");
  await stubborn[Symbol.asyncDispose]();
  equal((await stubborn.exited).signal, "SIGKILL");
});

test("a program does not outlive the process that started it", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const gone = new Promise<void>((resolve) => {
    server.once("connection", (socket) =>
      socket
        .resume()
        .on("error", () => undefined)
        .once("close", () => resolve()),
    );
  });
  const child = `require("node:net").connect(${port}, "127.0.0.1", () => console.log("connected"))`;
  const parent = `import(${JSON.stringify(new URL("./child-process.js", import.meta.url).href)}).then(({ startProgram }) =>
    startProgram({ command: process.execPath, arguments: ["-e", ${JSON.stringify(child)}], onLine: () => process.exit(0) }))`;

  await runProgram(node(parent));

  await gone;
  server.close();
});
