import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { DEFAULT_API_SERVER_OPTIONS } from "../apiserver-config.ts";
import { version } from "../generated/version.ts";
import { up } from "./up.ts";

test("up says what runs, where, and what is not there yet, and stops when it is told to", async () => {
  const stop = new AbortController();
  const lines: string[] = [];
  const out = (line: string) => {
    lines.push(line);
    if (line === "Ctrl-C stops it") stop.abort();
  };

  await up.run(
    { store: { driver: "memory" }, apiServer: DEFAULT_API_SERVER_OPTIONS, controllers: ["deployment"], nodes: 2 },
    { out, note: out, environment: {}, clock: realClock, log: silentLogger, signal: stop.signal },
  );

  const shown = lines.map((line) => line.replace(/:\d+$/, ":PORT").replace(/=.*\/kubeconfig$/, "=FILE"));
  deepEqual(shown, [
    `k8ts ${version} is up:`,
    "  store: in memory, gone when this process ends",
    "  API server: https://127.0.0.1:PORT",
    "  controllers: 1 running",
    "  scheduler: default-scheduler",
    "  nodes: 2 simulated",
    "Not there yet: containers, service proxy, DNS, ingress, dashboard",
    "export KUBECONFIG=FILE",
    "Ctrl-C stops it",
    "Stopping",
  ]);
});

test("the default is an embedded store in the user's data directory", () => {
  const parsed = up.parse([], { HOME: "/home/a" });
  const dataDirectory = "/home/a/.local/share/k8ts/default";
  deepEqual(parsed.ok && parsed.options.store, { driver: "embedded", dataDirectory });
  deepEqual(parsed.ok && parsed.options.apiServer.serving.kubeconfig, `${dataDirectory}/kubeconfig`);
});

test("all that is wrong is told at once", () => {
  const parsed = up.parse(["--store", "paper", "--frob", "--etcd-servers", "x", "--controllers=*,-frob"], { HOME: "/home/a" });
  equal(parsed.ok, false);
  deepEqual(parsed.ok || parsed.problems.map((problem) => problem.replace(/known controllers: .*/, "known controllers")), [
    '--store must be embedded, memory or etcd, is "paper"',
    'Unknown flag "--frob"',
    '--etcd-servers must be an address such as https://10.0.0.1:2379, is "x"',
    '--controllers: "-frob" is not in the list of known controllers',
  ]);
});
