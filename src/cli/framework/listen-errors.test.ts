import { equal } from "node:assert/strict";
import { test } from "node:test";
import { ListenError } from "../../host/http/server.ts";
import { explainListenError, listenText } from "./listen-errors.ts";

const PLACE = { address: "::1", port: 80, addressFlag: "--bind-address", portFlag: "--secure-port" };
const ALONE = "choose another port with --secure-port (0 picks a free port)";
const anotherPort = "--listen ADDRESS:PORT (port 0 picks a free port)";
const holder = { pid: 7, command: "nginx -g" };
const cluster = { name: "second", commandArguments: " --name second" };

for (const [title, code, place, holding, sentence] of [
  ["no known process has", "EADDRINUSE", PLACE, {}, `another program already listens there; stop it, or ${ALONE}`],
  ["a process has", "EADDRINUSE", PLACE, { holder }, `process 7 (nginx -g) already listens there; stop it, or ${ALONE}`],
  [
    "a cluster has",
    "EADDRINUSE",
    { ...PLACE, anotherPort },
    { holder, cluster },
    `cluster "second" already listens there (process 7); stop it with "k8ts down --name second", or choose another port with ${anotherPort}`,
  ],
  ["root alone may have", "EACCES", PLACE, {}, "permission denied; choose a port of 1024 or higher with --secure-port"],
  ["another machine has", "EADDRNOTAVAIL", PLACE, {}, "this machine does not have that address; choose another with --bind-address"],
  ["no process has", "ENOTFOUND", PLACE, {}, "the host name does not resolve; choose another with --bind-address"],
] as const) {
  test(`a listen error of an address that ${title} names the flag that changes it`, () => {
    equal(listenText(code, place, holding), `Cannot listen on [::1]:80: ${sentence}`);
  });
}

test("a wrapped listen error is found, and explained with the root cause only", async () => {
  const root = new Error("listen EACCES");
  const error = new Error("outer", { cause: new ListenError("x", "EACCES", root) });
  const explained = (await explainListenError(error, PLACE)) as Error;
  equal(explained.message, "Cannot listen on [::1]:80: permission denied; choose a port of 1024 or higher with --secure-port");
  equal(explained.cause, root);
});

test("other errors, and listen errors without advice, pass unchanged", async () => {
  for (const error of [new Error("x"), new ListenError("x", "EIO", undefined)]) equal(await explainListenError(error, PLACE), error);
});
